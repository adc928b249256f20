"""What the calibration shot doesn't try of a WebSocket: pings, silence, the end of the traffic, odd messages."""

from __future__ import annotations

import itertools
import struct
import threading
from collections.abc import Sequence
from typing import Any

from swarmtest.traffic.sessions import Session, Surroundings
from swarmtest.traffic.settings import Kind, TrafficSettings
from swarmtest.traffic.stream_range import Step, StreamRange, frame
from swarmtest.traffic.streams import StreamRecord
from swarmtest.traffic.targets import FrontDoor
from swarmtest.traffic.websocket import hold


def held(script: Sequence[Step], *, timeout: float = 5.0, rate: float = 0.001, over: bool = False) -> StreamRecord:
    kind = Kind(name="chat", path="/", protocol="websocket", rate=rate, sessions=1)
    settings = TrafficSettings(
        run="r", out=".", url="http://127.0.0.1", kinds=[kind], timeout_seconds=timeout, connect_timeout_seconds=5.0
    )
    records: list[Any] = []
    stop = threading.Event()
    if over:
        stop.set()
    with StreamRange("X-Instance-ID", {"way": [script]}) as server:
        around = Surroundings(
            settings, kind, FrontDoor(server.door_of("way")), hold, records.append, itertools.count(1)
        )
        Session(0, around).stream(1, None, stop)
    return records[0]  # type: ignore[no-any-return]


def close(code: int) -> bytes:
    return frame(0x88, struct.pack("!H", code))


def test_a_ping_is_answered_before_the_close() -> None:
    # The script takes our message, then our pong; without the pong it would wait, and end as a cut.
    script = (("upgrade",), ("take",), ("raw", frame(0x89, b"are you there")), ("take",), ("echo",), ("close", 1001))
    record = held(script)
    assert (record.client_outcome, record.code, record.unnumbered) == ("closed_by_server", 1001, 1)


def test_silence_is_the_end_after_its_time() -> None:
    record = held((("upgrade",), ("take",), ("take",)), timeout=0.4)
    assert (record.client_outcome, record.error) == ("timed_out", "nothing came for 0.4 s")
    assert record.lost == 1, "nobody can say what became of a message that had no answer"


def test_the_end_of_the_traffic_waits_for_answers_and_says_goodbye() -> None:
    record = held((("upgrade",), ("take",), ("raw", close(1000))), over=True)  # what it takes is our close frame
    assert record.client_outcome == "closed_by_client"
    assert (record.code, record.lost, record.sent) == (1000, 0, 0)


def test_a_close_without_a_code_is_a_close() -> None:
    record = held((("upgrade",), ("take",), ("raw", frame(0x88, b"")), ("take",)))
    assert (record.client_outcome, record.code) == ("closed_by_server", 1005)


def test_texts_of_other_kinds_are_taken_and_not_counted() -> None:
    words = (
        ("raw", frame(0x81, text)) for text in (b"hello", b"[1]", b'{"n": 99, "id": "not ours"}', b'{"push": "x"}')
    )
    record = held((("upgrade",), ("take",), *words, ("close", 1001)))
    assert (record.unnumbered, record.received, record.answered, record.repeated) == (4, 0, 0, 0)


def test_a_text_in_two_frames_is_one_message() -> None:
    parts = (("raw", frame(0x01, b'{"pu')), ("raw", frame(0x80, b'sh": 4}')))
    record = held((("upgrade",), ("take",), *parts, ("close", 1001)))
    assert (record.received, record.unnumbered) == (1, 0)


def test_an_upgrade_that_nobody_answers_is_over_in_time() -> None:
    kind = Kind(name="chat", path="/", protocol="websocket", rate=1.0, sessions=1)
    settings = TrafficSettings(run="r", out=".", url="http://127.0.0.1", kinds=[kind], connect_timeout_seconds=0.5)
    records: list[StreamRecord] = []
    with StreamRange("X-Instance-ID", {"way": [[("take",)]]}) as server:
        door = FrontDoor(server.door_of("way"))
        Session(0, Surroundings(settings, kind, door, hold, records.append, itertools.count(1))).stream(
            1, None, threading.Event()
        )
    assert (records[0].client_outcome, records[0].opened) == ("timed_out", None)
