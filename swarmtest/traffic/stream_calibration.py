"""The calibration shot for streams: known ends, gaps and repetitions, and the count that must come out.

Run before the traffic where a kind of stream is in the mix. If the client takes a cut for a close, or
is off by one number, there's no run.
"""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from dataclasses import dataclass

from swarmtest.traffic import sse, websocket
from swarmtest.traffic.calibration import Calibration
from swarmtest.traffic.firing_range import INSTANCE
from swarmtest.traffic.sessions import Session, Speaker, Surroundings
from swarmtest.traffic.settings import Kind, TrafficSettings
from swarmtest.traffic.stream_range import Step, StreamRange, frame
from swarmtest.traffic.streams import StreamRecord
from swarmtest.traffic.targets import FrontDoor

SPEAKERS: dict[str, Speaker] = {"websocket": websocket.hold, "sse": sse.hold}
"""How each protocol of ``settings.STREAMS`` is opened and held."""

_EVENTS = b"200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
_UNTIL_CLOSED = b"200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
_BUSY = b"503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"
_PAGE = b"200 OK\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\nfour"
COUNTED = ("client_outcome", "code", "sent", "answered", "received", "lost", "repeated", "resent")


@dataclass(frozen=True, slots=True)
class Shot:
    """What one session meets: a script for each of its streams, and what it must say of each.

    Attributes:
        expected: the fields of :data:`COUNTED`, in that order.
        asked: what its streams must say of the last event seen.
    """

    way: str
    protocol: str
    scripts: tuple[tuple[Step, ...], ...]
    expected: tuple[tuple[str | int | None, ...], ...]
    asked: tuple[str, ...] | None = None


SHOTS = (
    Shot(
        "closed_with_a_code",
        "websocket",
        ((("upgrade",), ("push", 1), ("take",), ("echo",), ("close", 1012)),),
        (("closed_by_server", 1012, 1, 1, 1, 0, 0, 0),),
    ),
    # What a close frame tells of wasn't taken, and goes out again; what a cut leaves open is lost.
    Shot(
        "closed_before_the_answer",
        "websocket",
        (
            (("upgrade",), ("take",), ("close", 1001)),
            (("upgrade",), ("take",), ("echo",), ("take",), ("echo",), ("close", 1001)),
        ),
        (("closed_by_server", 1001, 1, 0, 0, 0, 0, 0), ("closed_by_server", 1001, 2, 2, 0, 0, 0, 1)),
    ),
    Shot("cut", "websocket", ((("upgrade",), ("push", 1), ("take",)),), (("cut", None, 1, 0, 1, 1, 0, 0),)),
    Shot("reset", "websocket", ((("upgrade",), ("take",), ("reset",)),), (("cut", None, 1, 0, 0, 1, 0, 0),)),
    Shot(
        "lost_and_repeated",
        "websocket",
        (
            (("upgrade",), ("take",), ("echo",), ("echo",), ("push", 1), ("push", 4), ("push", 4), ("close", 1001)),
            (("upgrade",), ("take",), ("echo",), ("push", 6), ("close", 1001)),
        ),
        (("closed_by_server", 1001, 1, 1, 3, 2, 2, 0), ("closed_by_server", 1001, 1, 1, 1, 1, 0, 0)),
    ),
    Shot("turned_away", "websocket", ((("head", _BUSY),),), (("turned_away", None, 0, 0, 0, 0, 0, 0),)),
    Shot("unanswered", "websocket", ((),), (("closed_unopened", None, 0, 0, 0, 0, 0, 0),)),
    Shot(
        "malformed",
        "websocket",
        ((("upgrade",), ("take",), ("raw", frame(0x8F, b"?"))),),
        (("malformed", None, 1, 0, 0, 1, 0, 0),),
    ),
    Shot("refused", "websocket", (), (("no_connection", None, 0, 0, 0, 0, 0, 0),)),
    Shot(
        "ended_and_resumed",
        "sse",
        (
            (("head", _EVENTS), ("event", 7), ("event", 8), ("raw", b"0\r\n\r\n")),
            (("head", _EVENTS), ("event", 8), ("event", 11), ("raw", b"0\r\n\r\n")),
        ),
        (("closed_by_server", None, 0, 0, 2, 0, 0, 0), ("closed_by_server", None, 0, 0, 2, 2, 1, 0)),
        asked=("", "8"),
    ),
    Shot("cut", "sse", ((("head", _EVENTS), ("event", 1)),), (("cut", None, 0, 0, 1, 0, 0, 0),)),
    Shot("reset", "sse", ((("head", _EVENTS), ("event", 1), ("reset",)),), (("cut", None, 0, 0, 1, 0, 0, 0),)),
    Shot("without_length", "sse", ((("head", _UNTIL_CLOSED),),), (("cut", None, 0, 0, 0, 0, 0, 0),)),
    Shot("turned_away", "sse", ((("head", _BUSY),),), (("turned_away", None, 0, 0, 0, 0, 0, 0),)),
    Shot("no_stream", "sse", ((("head", _PAGE),),), (("turned_away", None, 0, 0, 0, 0, 0, 0),)),
    Shot("unanswered", "sse", ((),), (("closed_unopened", None, 0, 0, 0, 0, 0, 0),)),
)


def with_streams(shot: Calibration, settings: TrafficSettings) -> Calibration:
    """The calibration, and that of the streams where any are in the mix."""
    if not any(kind.is_stream for kind in settings.kinds) or not shot.ok:
        return shot
    streams = calibrate_streams(settings.instance_header)
    return Calibration(
        {**shot.expected, **{f"stream {name}": count for name, count in streams.expected.items()}},
        {**shot.counted, **{f"stream {name}": count for name, count in streams.counted.items()}},
        [*shot.wrong, *streams.wrong],
    )


def calibrate_streams(instance_header: str) -> Calibration:
    """Fires all shots at once at a server of our own on loopback."""
    scripts = {_key(shot): shot.scripts for shot in SHOTS}
    with StreamRange(instance_header, scripts) as server:
        fired: list[list[StreamRecord]] = [[] for _ in SHOTS]

        def fire(place: int, shot: Shot) -> None:
            target = server.door_of(_key(shot)) if shot.scripts else server.closed_door
            session = Session(place, _surroundings(shot, instance_header, FrontDoor(target), fired[place]))
            dropped = None
            for attempt, _ in enumerate(shot.expected, start=1):
                dropped = session.stream(attempt, dropped, threading.Event()).closed

        threads = [threading.Thread(target=fire, args=numbered) for numbered in enumerate(SHOTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return _compare(fired, server)


def _key(shot: Shot) -> str:
    return f"{shot.protocol} {shot.way}"


def _surroundings(shot: Shot, instance_header: str, target: FrontDoor, into: list[StreamRecord]) -> Surroundings:
    kind = Kind(name=shot.way, path="/", protocol=shot.protocol, rate=0.001, sessions=1)
    settings = TrafficSettings(
        run="calibration", out=".", kinds=[kind], url="http://unused", instance_header=instance_header
    )
    return Surroundings(settings, kind, target, SPEAKERS[shot.protocol], into.append, itertools.count(1))


def _compare(fired: list[list[StreamRecord]], server: StreamRange) -> Calibration:
    expected: Counter[str] = Counter()
    counted: Counter[str] = Counter()
    wrong = []
    for shot, records in zip(SHOTS, fired, strict=True):
        for fields, record in zip(shot.expected, records, strict=True):
            found = tuple(getattr(record, name) for name in COUNTED)
            expected[str(fields[0])] += 1
            counted[record.client_outcome] += 1
            for name, should, is_ in zip(COUNTED[2:], fields[2:], found[2:], strict=True):
                expected[name] += int(should or 0)
                counted[name] += int(is_)
            if found != fields:
                wrong.append(f"{_key(shot)}: {_said(found)} ({record.error}), expected {_said(fields)}")
            elif record.opened is not None and record.instance != INSTANCE:
                wrong.append(f"{_key(shot)}: from {record.instance}, expected {INSTANCE}")
        streams, asked = server.streams[_key(shot)], tuple(server.asked[_key(shot)])
        if streams != len(shot.scripts):
            wrong.append(f"{_key(shot)}: {streams} connections, expected {len(shot.scripts)}")
        if shot.asked is not None and asked != shot.asked:
            wrong.append(f"{_key(shot)}: asked for what follows {asked}, expected {shot.asked}")
    return Calibration(dict(expected), dict(counted), wrong)


def _said(fields: tuple[str | int | None, ...]) -> str:
    return ", ".join(f"{name} {value}" for name, value in zip(COUNTED, fields, strict=True) if value)
