"""The stop on a limit: what's counted out of the clients' records while they're written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from swarmtest.events import Event
from swarmtest.limits.grammar import parse_limit
from swarmtest.running.limit_guard import LEAST_ENDED, LimitGuard, Tail, minded
from swarmtest.traffic.records import Record

START = 1000.0


class World:
    """A guard, the records that it reads, and the clock that it reads by."""

    def __init__(self, folder: Path, *limits: str) -> None:
        self.now = START
        self.folder = folder
        self.guard = LimitGuard([replace(parse_limit(text), abort=True) for text in limits], folder, lambda: self.now)
        self.sent = 0

    def write(self, at: float, seconds: float = 0.1, count: int = 1, file: int = 1, **fields: Any) -> None:
        """Requests that were due at a time, and ended so much later."""
        with (self.folder / f"requests-{file}.jsonl").open("ab") as lines:
            for _ in range(count):
                self.sent += 1
                base = {"kind": "short", "status": 200, "client_outcome": "complete", "sent": START + at}
                base |= {"planned": START + at, "done": START + at + seconds, **fields}
                record = Record(id=f"r-{self.sent}", method="GET", path="/", **base)
                lines.write(msgspec.json.encode(record) + b"\n")

    def lose(self, at: float, count: int = 1, **fields: Any) -> None:
        self.write(at, 0.01, count, **{"status": None, "client_outcome": "closed_unanswered", **fields})

    def look(self, at: float) -> str | None:
        self.now = START + at
        self.guard.look()
        return self.guard.text

    def event(self, at: float, kind: str, **data: Any) -> None:
        self.guard.phases.hear(Event(START + at, kind, data))


def test_a_count_trips_as_soon_as_it_is_passed_and_stays_tripped(tmp_path: Path) -> None:
    world = World(tmp_path, "lost <= 5")
    world.write(0, count=100)
    world.lose(1, count=5)
    assert world.look(2) is None
    world.lose(3)
    assert world.look(4) == "the limit lost <= 5 was broken: 6 of 106 requests"
    world.write(5, count=1000)
    assert world.look(6) == "the limit lost <= 5 was broken: 6 of 106 requests"


def test_what_is_turned_away_or_answered_badly_is_lost_too(tmp_path: Path) -> None:
    world = World(tmp_path, "lost <= 2")
    world.write(0, status=503, retry_after=True)
    world.write(0, status=404)
    assert world.look(1) is None
    world.write(1, status=500)
    assert world.look(2) == "the limit lost <= 2 was broken: 3 of 3 requests"


def test_what_was_still_open_or_our_own_fault_says_nothing(tmp_path: Path) -> None:
    world = World(tmp_path, "lost = 0")
    world.lose(0, client_outcome="still_open", done=None)
    world.lose(0, client_outcome="local_error")
    assert world.look(1) is None


def test_a_kind_is_counted_by_itself_and_refused_is_what_was_not_connected(tmp_path: Path) -> None:
    world = World(tmp_path, "refused of long = 0")
    world.lose(0, client_outcome="no_connection")
    world.lose(0, kind="long")
    assert world.look(1) is None
    world.lose(1, kind="long", client_outcome="no_connection")
    assert world.look(2) == "the limit refused of long = 0 was broken: 1 of 2 requests"


@pytest.mark.parametrize(
    ("slow", "tripped"),
    [
        (3, False),  # 1 % of 300 may be
        (8, False),  # so many may be luck
        (12, True),
    ],
)
def test_a_percentile_trips_once_luck_cannot_be_the_reason(tmp_path: Path, slow: int, tripped: bool) -> None:
    world = World(tmp_path, "p99 < 800ms")
    world.write(0, 0.1, count=300 - slow)
    world.write(0, 0.9, count=slow)
    assert (world.look(2) is not None) is tripped


def test_times_count_from_when_a_request_was_due(tmp_path: Path) -> None:
    world = World(tmp_path, "max < 800ms")
    world.write(0, 0.1, planned=START - 1.0)
    assert world.look(1) == "the limit max < 800ms was broken: 1 of 1 answers weren't within it"


def test_lost_requests_have_no_answer_time(tmp_path: Path) -> None:
    world = World(tmp_path, "max < 800ms")
    world.lose(0, done=START + 20)
    assert world.look(21) is None


def test_a_share_says_nothing_of_a_trickle(tmp_path: Path) -> None:
    world = World(tmp_path, "success >= 99%")
    world.lose(0, count=LEAST_ENDED - 1)
    assert world.look(1) is None
    world.write(1, count=1)
    assert world.look(2) == "the limit success >= 99% was broken: 19 of 20 requests were lost"


def test_a_second_is_judged_when_it_is_over(tmp_path: Path) -> None:
    world = World(tmp_path, "success per second >= 99%")
    world.write(0, count=40)
    world.lose(0.5)
    assert world.look(1.4) is None
    said = "the limit success per second >= 99% was broken: 1 of the 41 requests that ended within one second were lost"
    assert world.look(2.4) is None  # it may not be written down yet
    assert world.look(2.6) == said


def test_a_phase_is_counted_from_its_beginning_to_its_end(tmp_path: Path) -> None:
    world = World(tmp_path, "lost in baseline = 0")
    world.lose(0.5)
    world.event(1, "phase", name="baseline", edge="began")
    world.event(5, "phase", name="baseline", edge="ended")
    world.lose(6)
    assert world.look(7) is None
    world.lose(4)
    assert world.look(8) == "the limit lost in baseline = 0 was broken: 1 of 1 requests"


def test_a_rollout_begins_with_the_first_act_that_does_something(tmp_path: Path) -> None:
    world = World(tmp_path, "lost in rollout = 0")
    world.event(1, "act", name="make_room", edge="began", prepares=True)
    world.lose(2)
    assert world.look(3) is None
    world.event(4, "act", name="update", edge="began", prepares=False)
    world.lose(5)
    assert world.look(6) == "the limit lost in rollout = 0 was broken: 1 of 1 requests"


def test_per_rollout_each_act_begins_a_new_count(tmp_path: Path) -> None:
    world = World(tmp_path, "lost <= 1 per rollout", "lost in rollout <= 3")
    for at in (1, 3):
        world.event(at, "act", name="update", edge="began", prepares=False)
        world.lose(at + 0.5)
    assert world.look(5) is None
    world.lose(3.7)
    assert world.look(6) == "the limit lost <= 1 per rollout was broken: 2 of 2 requests"


def test_a_line_that_is_not_whole_yet_is_read_when_it_is(tmp_path: Path) -> None:
    tail = Tail(tmp_path)
    line = msgspec.json.encode(Record(id="a", kind="k", method="GET", path="/", planned=1.0)) + b"\n"
    with (tmp_path / "requests-7.jsonl").open("ab") as file:
        file.write(line + line[:20])
        file.flush()
        assert [record.id for record in tail.new()] == ["a"]
        assert list(tail.new()) == []
        file.write(line[20:])
        file.flush()
        assert [record.id for record in tail.new()] == ["a"]


def test_all_clients_are_read(tmp_path: Path) -> None:
    world = World(tmp_path, "lost <= 1")
    world.lose(0, file=1)
    world.lose(0, file=2)
    assert world.look(1) == "the limit lost <= 1 was broken: 2 of 2 requests"


def test_without_a_limit_nothing_is_read(tmp_path: Path) -> None:
    world = World(tmp_path)
    (tmp_path / "requests-1.jsonl").write_text("no record\n")
    assert world.look(1) is None


def test_a_destructive_run_is_not_stopped_by_what_it_may_owe_to_the_fault() -> None:
    limits = [replace(parse_limit(text), abort=True) for text in ("lost = 0", "p99 < 1s")]
    limits.append(parse_limit("max < 1s"))
    assert [limit.text for limit in minded(limits, "orderly")] == ["lost = 0", "p99 < 1s"]
    assert [limit.text for limit in minded(limits, "destructive")] == ["p99 < 1s"]


def test_a_line_that_cannot_be_read_is_left_for_the_judging(tmp_path: Path) -> None:
    world = World(tmp_path, "lost <= 1")
    (tmp_path / "requests-1.jsonl").write_text("no record\n")
    world.lose(0, count=2)
    assert world.look(1) == "the limit lost <= 1 was broken: 2 of 2 requests"


def test_what_comes_late_makes_no_second_of_its_own(tmp_path: Path) -> None:
    world = World(tmp_path, "success per second >= 90%")
    world.write(0, count=40)
    assert world.look(3) is None
    world.lose(0.5)
    assert world.look(4) is None
