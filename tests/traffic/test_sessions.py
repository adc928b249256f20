"""A session holds one stream after the other, comes back when it has lost one, and leaves a line for each try."""

from __future__ import annotations

import itertools
import socket
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from swarmtest.traffic.sessions import Opening, Session, Surroundings
from swarmtest.traffic.settings import Kind, TrafficSettings
from swarmtest.traffic.streams import StreamOutcome, StreamRecord
from swarmtest.traffic.targets import FrontDoor, Target
from tests.ports import free_port

Ends = Sequence[StreamOutcome]


class Stop:
    """Set when so many waits are over; remembers how long they were."""

    def __init__(self, waits: int) -> None:
        self.left = waits
        self.waited: list[float] = []

    def is_set(self) -> bool:
        return self.left <= 0

    def wait(self, timeout: float) -> bool:
        self.waited.append(timeout)
        self.left -= 1
        return self.left < 0


class Speaker:
    """Ends each stream as it's told, and remembers how it was opened."""

    def __init__(self, ends: Ends) -> None:
        self._ends = iter(ends)
        self.openings: list[Opening] = []

    def __call__(self, connected: socket.socket, opening: Opening, record: StreamRecord, stop: Any) -> None:
        self.openings.append(opening)
        outcome = next(self._ends)
        if outcome == "local_error":
            raise ValueError("a fault of ours")
        record.client_outcome = outcome
        if outcome not in ("turned_away", "closed_unopened"):
            record.opened = 100.0 * len(self.openings)
            record.closed = record.opened + 10.0
            opening.numbers.see(7 + len(self.openings), record)


@pytest.fixture
def door() -> Iterator[Target]:
    with socket.create_server(("127.0.0.1", free_port())) as listener:
        yield Target.from_text(f"127.0.0.1:{listener.getsockname()[1]}")


def held(
    ends: Ends, target: Target | None, *, path: str = "/ws", headers: dict[str, str] | None = None, waits: int = 0
) -> tuple[list[StreamRecord], Speaker, Stop]:
    kind = Kind(name="chat", path=path, protocol="websocket", rate=1.0, sessions=4, headers=headers or {})
    settings = TrafficSettings(run="r", out=".", url="http://127.0.0.1", kinds=[kind])
    records: list[StreamRecord] = []
    speaker, stop = Speaker(ends), Stop(waits or len(ends))
    targets = FrontDoor(target) if target is not None else NoTarget()
    around = Surroundings(settings, kind, targets, speaker, records.append, itertools.count(1))
    Session(2, around).run(0.0, stop)
    return records, speaker, stop


class NoTarget:
    def pick(self) -> Target | None:
        return None


def test_one_that_loses_its_stream_comes_back_and_the_time_without_is_measured(door: Target) -> None:
    ends: Ends = ["closed_by_server", "turned_away", "cut", "closed_by_client"]
    records, _, stop = held(ends, door)
    assert [record.attempt for record in records] == [1, 2, 3, 4]
    assert [record.client_outcome for record in records] == ends
    # From the end of the last open stream: the try that got none in between doesn't begin it anew.
    assert [record.reconnect_seconds for record in records] == [None, None, 190.0, 90.0]
    assert len({record.session for record in records}) == 1
    assert len({record.id for record in records}) == 4
    assert 0.05 <= stop.waited[1] <= 0.15, "after a stream that was open it comes back soon"
    assert 0.1 <= stop.waited[2] <= 0.3, "after a try in vain it waits twice as long"


def test_a_fault_of_ours_is_a_record_too(door: Target) -> None:
    (record,), _, _ = held(["local_error"], door)
    assert (record.client_outcome, record.error) == ("local_error", "ValueError: a fault of ours")
    assert record.closed is not None


def test_a_closed_door_and_no_door_at_all_leave_a_line_each() -> None:
    closed = Target.from_text(f"127.0.0.1:{free_port()}")
    (record,), _, _ = held([], closed, waits=1)
    assert (record.client_outcome, record.opened, record.target) == ("no_connection", None, closed.label)
    (record,), _, _ = held([], None, waits=1)
    assert (record.client_outcome, record.error) == ("no_connection", "no target listed")


def test_the_opening_names_the_stream_and_the_last_number_that_was_seen(door: Target) -> None:
    headers = {"Host": "chat.example", "Authorization": "secret"}
    records, speaker, _ = held(["cut", "cut"], door, path="/ws?last={last}", headers=headers)
    first, second = speaker.openings
    assert (first.path, second.path) == ("/ws?last=0", "/ws?last=8")
    assert first.host == "chat.example"
    assert first.lines == (("Authorization", "secret"), ("X-Stream-ID", records[0].id))


def test_nothing_is_held_once_the_traffic_is_over(door: Target) -> None:
    kind = Kind(name="chat", path="/ws", protocol="websocket", rate=1.0, sessions=1)
    settings = TrafficSettings(run="r", out=".", url="http://127.0.0.1", kinds=[kind])
    over = threading.Event()
    over.set()
    records: list[StreamRecord] = []
    around = Surroundings(settings, kind, FrontDoor(door), Speaker([]), records.append, itertools.count(1))
    Session(0, around).run(0.0, over)
    assert records == []
