"""How a body becomes events, and what the calibration shot doesn't try of a stream of them."""

from __future__ import annotations

import pytest

from swarmtest.traffic.answers import Expectation
from swarmtest.traffic.sse import EventAnswer

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n"


def answer(*parts: bytes) -> EventAnswer:
    fed = EventAnswer(Expectation(b"x-instance-id", b""))
    fed.feed(HEAD)
    for part in parts:
        fed.feed(b"%x\r\n%s\r\n" % (len(part), part))
    return fed


@pytest.mark.parametrize(
    ("parts", "events"),
    [
        ((b"id: 1\ndata: x\n\nid: 2\ndata: y\n\n",), ["1", "2"]),
        ((b"id:1\r\ndata:x\r\n\r\n",), ["1"]),
        ((b"id: 1\nda", b"ta: x\n", b"\n"), ["1"]),
        ((b"id: 1\r", b"\ndata: x\r\n\r", b"\n"), ["1"]),
        ((b": heartbeat\n\n", b"retry: 100\n\n"), []),  # neither is an event
        ((b"data: x\n\n",), [None]),
        ((b"data: a\ndata: b\nid: 9\nevent: tick\n\n",), ["9"]),
        ((b"id: 1\ndata: x\n",), []),  # it isn't whole
    ],
)
def test_a_body_is_cut_into_events_wherever_its_chunks_end(parts: tuple[bytes, ...], events: list[str | None]) -> None:
    assert answer(*parts).events == events


def test_a_stream_is_known_by_its_type() -> None:
    assert answer().is_stream
    other = EventAnswer(Expectation(b"x-instance-id", b""))
    other.feed(HEAD.replace(b"event-stream", b"html"))
    assert not other.is_stream


def test_a_line_without_an_end_is_no_event() -> None:
    assert "a line of more than" in (answer(b"data: " + b"x" * (1 << 20)).broken or "")
