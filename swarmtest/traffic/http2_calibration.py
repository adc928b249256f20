"""The calibration shot of HTTP/2: streams that are ended in known ways, and the count that must come out.

The requests of a shot are sent at once, so that they share a connection; which of them gets which stream is left to
chance, so their outcomes are compared as a heap, and in the order of the streams where it matters.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from hpack import NeverIndexedHeaderTuple

from swarmtest.traffic.answers import Expectation
from swarmtest.traffic.calibration import Calibration
from swarmtest.traffic.firing_range import INSTANCE
from swarmtest.traffic.http1 import Limits
from swarmtest.traffic.http2_range import ANNOUNCED, BATCH, Http2Range
from swarmtest.traffic.http2_session import Terms
from swarmtest.traffic.http2_sharing import Connections, Dialer
from swarmtest.traffic.http2_stream import StreamRequest
from swarmtest.traffic.records import Record
from swarmtest.traffic.settings import TrafficSettings
from swarmtest.traffic.targets import FrontDoor

_PATIENT = Limits(timeout_seconds=10.0, connect_timeout_seconds=5.0)
_HASTY = Limits(timeout_seconds=0.3, connect_timeout_seconds=5.0)
_COMPLETE = ("complete",)


@dataclass(frozen=True, slots=True)
class Http2Shot:
    """Requests that are sent at once, and then once more: what the client must say of them, by stream.

    Attributes:
        way: what the server does with a connection; a key of ``http2_range.WAYS``, or ``refused``.
        outcomes: of the streams of one connection, in their order.
        goaway: last stream that the records of those with an outcome on it must name.
        rounds: how often that many are sent, one round after the other.
        connections: how many connections the server must see.
    """

    way: str
    outcomes: tuple[str, ...]
    connections: int
    goaway: int | None = None
    rounds: int = 2
    limits: Limits = _PATIENT


SHOTS = (
    Http2Shot("whole", _COMPLETE * BATCH, 1, rounds=3),
    # Told twice, and nothing is lost: what comes after the first word goes to another connection.
    Http2Shot("goaway_twice", _COMPLETE * BATCH, 2, goaway=2 * BATCH - 1),
    Http2Shot("goaway_below", (*_COMPLETE * 2, *("refused_stream",) * (BATCH - 2)), 2, goaway=3),
    Http2Shot("goaway_then_close", ("complete", "closed_unanswered", *("refused_stream",) * (BATCH - 2)), 2, goaway=3),
    Http2Shot("refused_stream", ("refused_stream",) * BATCH, 1),
    Http2Shot("reset_in_body", ("closed_in_body", "closed_unanswered", *_COMPLETE * (BATCH - 2)), 1),
    # One socket, and as many requests lost as it carried.
    Http2Shot("closed", ("closed_in_body", *("closed_unanswered",) * (BATCH - 1)), 2),
    Http2Shot("short", ("malformed", *_COMPLETE * (BATCH - 1)), 1),
    Http2Shot("stalled", ("timed_out",) * BATCH, 1, rounds=1, limits=_HASTY),
    Http2Shot("malformed", ("malformed",), 2),
    Http2Shot("refused", ("no_connection",) * BATCH, 0),
)


def with_http2(shot: Calibration, settings: TrafficSettings) -> Calibration:
    """The calibration with that of HTTP/2, where a kind of traffic uses it."""
    if all(kind.protocol != "h2" for kind in settings.kinds):
        return shot
    more = calibrate_http2(settings.instance_header, settings.request_id_header)
    expected = Counter(shot.expected) + Counter(more.expected)
    counted = Counter(shot.counted) + Counter(more.counted)
    return Calibration(dict(expected), dict(counted), [*shot.wrong, *more.wrong])


def calibrate_http2(
    instance_header: str, request_id_header: str, make_shared: type[Connections] = Connections
) -> Calibration:
    """Fires all shots at once at a server of our own on loopback, which takes about a third of a second."""
    with Http2Range(instance_header, request_id_header) as server:
        expectation = Expectation(instance_header.lower().encode(), request_id_header.lower().encode())
        numbers = itertools.count(1)
        fired: list[list[list[Record]]] = [[] for _ in SHOTS]

        def fire(place: int, shot: Http2Shot) -> None:
            target = server.closed_door if shot.way == "refused" else server.door_of(place, shot.way)
            dialer = Dialer(FrontDoor(target), shot.limits, Terms(BATCH), shot.way, numbers, lambda _: None)
            shared = make_shared(dialer, expectation)
            try:
                fired[place] = [_round(shot, place, turn, (shared, server)) for turn in range(shot.rounds)]
            finally:
                shared.leave()

        _at_once([threading.Thread(target=fire, args=numbered) for numbered in enumerate(SHOTS)])
        return _compare(fired, server)


def _round(shot: Http2Shot, place: int, turn: int, sides: tuple[Connections, Http2Range]) -> list[Record]:
    shared, server = sides
    path = f"/{place}/{shot.way}"
    records = [
        Record(id=f"calibration-h2-{place}-{turn}-{n}", kind=shot.way, method="GET", path=path, planned=time.time())
        for n in range(len(shot.outcomes))
    ]

    def send(record: Record) -> None:
        named = NeverIndexedHeaderTuple(server.request_id_header.lower().encode(), record.id.encode())
        shared.send(StreamRequest(b"GET", path, [named]), record)

    _at_once([threading.Thread(target=send, args=(record,)) for record in records])
    return records


def _at_once(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _compare(fired: list[list[list[Record]]], server: Http2Range) -> Calibration:
    expected: Counter[str] = Counter()
    counted: Counter[str] = Counter()
    wrong = []
    for place, (shot, rounds) in enumerate(zip(SHOTS, fired, strict=True)):
        expected["connections"] += shot.connections
        counted["connections"] += server.connections[place]
        if server.connections[place] != shot.connections:
            wrong.append(f"h2 {shot.way}: {server.connections[place]} connections, expected {shot.connections}")
        for turn in range(shot.rounds):
            records = sorted(rounds[turn], key=lambda one: one.stream or 0) if turn < len(rounds) else []
            expected.update(shot.outcomes)
            counted.update(_found(record) for record in records)
            wrong += _differences(shot, records, server)
    return Calibration(dict(expected), dict(counted), wrong)


def _differences(shot: Http2Shot, records: list[Record], server: Http2Range) -> Iterator[str]:
    found = tuple(_found(record) for record in records)
    if found != shot.outcomes:
        errors = dict.fromkeys(str(record.error) for record in records)
        yield f"h2 {shot.way}: {', '.join(found)} ({'; '.join(errors)}), expected {', '.join(shot.outcomes)}"
    for record in records:
        hits = 0 if shot.way in ("refused", "malformed") else 1
        if server.hits[record.id] != hits:
            yield f"h2 {shot.way}: a request reached the server {server.hits[record.id]} times, expected {hits}"
        if record.goaway not in ((shot.goaway, ANNOUNCED) if shot.way == "goaway_twice" else (shot.goaway,)):
            yield f"h2 {shot.way}: GOAWAY of {record.goaway} recorded, expected {shot.goaway}"


def _found(record: Record) -> str:
    proved = record.echoed is True and record.instance == INSTANCE and record.bytes_received > 0
    if record.client_outcome == "complete" and not proved:
        return "complete_unproved"
    return record.client_outcome
