"""The calibration shot: before any traffic, the client proves that it can count.

A tiny server cuts known requests in each way in which a request can be lost, and counts what
reaches it. If the client's count is off by one, or a request reaches the server twice, there's no
run: its numbers would be worth nothing.

Written on ``threading`` and ``socket``, which are gevent's in Locust's process.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from swarmtest.traffic.answers import Expectation
from swarmtest.traffic.firing_range import INSTANCE, FiringRange
from swarmtest.traffic.http1 import Client, Limits, Request
from swarmtest.traffic.records import Record
from swarmtest.traffic.targets import FrontDoor, Targets

_PATIENT = Limits(timeout_seconds=10.0, connect_timeout_seconds=5.0)
_HASTY = Limits(timeout_seconds=0.3, connect_timeout_seconds=5.0)


@dataclass(frozen=True, slots=True)
class Shot:
    """Requests that one client sends one after the other to one way of being treated.

    Attributes:
        way: what the server does with them; a key of ``firing_range.WAYS``, ``unread`` or ``refused``.
        outcomes: what the client must say of each.
        connections: how many connections the server must see.
    """

    way: str
    outcomes: tuple[str, ...]
    connections: int
    keeps: bool = False
    limits: Limits = _PATIENT


SHOTS = (
    Shot("refused", ("no_connection",) * 3, 0),
    Shot("unread", ("closed_unanswered",) * 3, 3),
    Shot("unanswered", ("closed_unanswered",) * 3, 3),
    Shot("cut_in_headers", ("closed_in_headers",) * 3, 3),
    Shot("cut_in_body", ("closed_in_body",) * 3, 3),
    Shot("reset_in_body", ("closed_in_body",) * 2, 2),
    Shot("cut_in_chunks", ("closed_in_body",) * 3, 3),
    Shot("cut_without_length", ("closed_in_body",) * 3, 3),
    Shot("stalled", ("timed_out",), 1, limits=_HASTY),
    Shot("stalled", ("timed_out",), 1, limits=_HASTY),
    Shot("malformed", ("malformed",) * 3, 3),
    Shot("whole", ("complete",) * 3, 3),
    Shot("whole", ("complete",) * 4, 1, keeps=True),
    Shot("whole_in_chunks", ("complete",) * 3, 1, keeps=True),
    # An idle close between two requests is a reconnect and no loss …
    Shot("closed_when_idle", ("complete",) * 4, 4, keeps=True),
    # … and a kept connection that ends under a request is a loss and no reconnect.
    Shot("second_unanswered", ("complete", "closed_unanswered") * 2, 2, keeps=True),
)


@dataclass(frozen=True, slots=True)
class Calibration:
    """What was to be counted and what was; ``wrong`` names each difference."""

    expected: dict[str, int]
    counted: dict[str, int]
    wrong: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether the client may be trusted with a run."""
        return not self.wrong and self.expected == self.counted


class Sender(Protocol):
    """What the shot needs of a client."""

    def send(self, request: Request, record: Record) -> None: ...

    def close(self) -> None: ...


def _client(targets: Targets, shot: Shot, expectation: Expectation, numbers: Iterator[int]) -> Sender:
    return Client(targets, shot.limits, expectation, keeps=shot.keeps, numbers=numbers)


def calibrate(
    instance_header: str,
    request_id_header: str,
    make_client: Callable[[Targets, Shot, Expectation, Iterator[int]], Sender] = _client,
) -> Calibration:
    """Fires all shots at once at a server of our own on loopback, which takes about a third of a second."""
    with FiringRange(instance_header, request_id_header) as server:
        expectation = Expectation(instance_header.lower().encode(), request_id_header.lower().encode())
        numbers = itertools.count(1)
        fired: list[list[Record]] = [[] for _ in SHOTS]

        def fire(place: int, shot: Shot) -> None:
            targets = FrontDoor(server.closed_door if shot.way == "refused" else server.door_of(place, shot.way))
            client = make_client(targets, shot, expectation, numbers)
            try:
                _fire(shot, place, client, server, fired[place])
            finally:
                client.close()

        threads = [threading.Thread(target=fire, args=numbered) for numbered in enumerate(SHOTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return _compare(fired, server)


def _fire(shot: Shot, place: int, client: Sender, server: FiringRange, into: list[Record]) -> None:
    closes = 0
    for n, _ in enumerate(shot.outcomes):
        request_id = f"calibration-{place}-{n}"
        path = f"/{place}/{shot.way}"
        record = Record(id=request_id, kind=shot.way, method="POST", path=path, planned=time.time())
        lines = f"{server.request_id_header}: {request_id}\r\nContent-Length: 0\r\n"
        into.append(record)
        client.send(Request("POST", path, lines), record)
        if shot.way == "closed_when_idle" and record.client_outcome == "complete":
            closes += 1
            server.wait_for_closes(place, closes)


def _compare(fired: list[list[Record]], server: FiringRange) -> Calibration:
    expected: Counter[str] = Counter()
    counted: Counter[str] = Counter()
    wrong = []
    for place, (shot, records) in enumerate(zip(SHOTS, fired, strict=True)):
        expected.update(shot.outcomes)
        expected["connections"] += shot.connections
        counted["connections"] += server.connections[place]
        if server.connections[place] != shot.connections:
            wrong.append(f"{shot.way}: {server.connections[place]} connections, expected {shot.connections}")
        for outcome, record in itertools.zip_longest(shot.outcomes, records):
            found = _found(record)
            hits = 0 if shot.way in ("refused", "unread") else 1
            counted[found] += 1
            expected["hits"] += hits
            counted["hits"] += server.hits[record.id] if record is not None else 0
            if found != outcome:
                wrong.append(f"{shot.way}: {found} ({record and record.error}), expected {outcome}")
            elif server.hits[record.id] != hits:
                wrong.append(f"{shot.way}: request reached the server {server.hits[record.id]} times, expected {hits}")
    return Calibration(dict(expected), dict(counted), wrong)


def _found(record: Record | None) -> str:
    if record is None:
        return "not_sent"
    proved = record.echoed is True and record.instance == INSTANCE and record.bytes_received > 0
    if record.client_outcome == "complete" and not proved:
        return "complete_unproved"
    return record.client_outcome
