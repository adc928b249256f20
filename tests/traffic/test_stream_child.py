"""The traffic child with kinds of streams in its mix: from the calibration to the last line."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from swarmtest.traffic.process import TrafficProcess
from swarmtest.traffic.settings import Kind, TrafficSettings
from swarmtest.traffic.stream_range import chunk, frame, read_message, switching

HEAD = b"HTTP/1.1 200 OK\r\nX-Instance-ID: a1\r\n"
EVENTS = b"Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def serving(visit: Any) -> None:
    """A request, a WebSocket that answers until its client closes, or two events and the end of the answer."""
    while head := visit.read_request():
        path, fields = head.split()[1], dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line)
        if path == b"/ws":
            visit.say(switching(fields[b"Sec-WebSocket-Key"].decode(), b"X-Instance-ID: a1\r\n"))
            while text := read_message(visit.socket):
                visit.say(frame(0x81 if text.startswith(b"{") else 0x88, text))
        elif path == b"/events":
            last = int(fields.get(b"Last-Event-ID", b"0"))
            visit.say(HEAD + EVENTS + b"".join(chunk(b"id: %d\ndata: x\n\n" % n) for n in (last + 1, last + 2)))
            visit.say(b"0\r\n\r\n")
            return
        else:
            visit.say(HEAD + b"X-Request-ID: " + fields[b"X-Request-ID"] + b"\r\nContent-Length: 4\r\n\r\nfour")
            if fields.get(b"Connection") == b"close":
                return


def lines_of(folder: Path, stem: str) -> list[dict[str, Any]]:
    return [json.loads(line) for path in folder.glob(f"{stem}-*.jsonl") for line in path.read_text().splitlines()]


def wait_until(holds: Callable[[], object]) -> None:
    until = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_sessions_hold_their_streams_beside_the_requests_and_are_counted_apart(serve: Any, tmp_path: Path) -> None:
    server, out = serve(serving), tmp_path / "requests"
    kinds = [
        Kind(name="short", path="/work", rate=30.0),
        Kind(name="chat", path="/ws", protocol="websocket", rate=20.0, sessions=2),
        Kind(name="feed", path="/events", protocol="sse", rate=0.0, sessions=1),
    ]
    settings = TrafficSettings(run="r1", out=str(out), url=f"http://{server.address}", kinds=kinds)
    child = TrafficProcess(settings, tmp_path / "traffic.json", tmp_path / "traffic.log")
    try:
        shot = child.wait_until_calibrated()
        child.go()
        wait_until(lambda: Counter(line["kind"] for line in lines_of(out, "streams"))["feed"] >= 3)
        wait_until(lambda: sum(b"/ws" in head for head in server.requests) == 2)
        child.stop()
        assert child.wait(20) == 0
    finally:
        child.kill()
    assert shot["counted"]["stream cut"] == shot["expected"]["stream cut"] > 0
    streams, requests = lines_of(out, "streams"), lines_of(out, "requests")
    stopped = child.last("stopped")
    assert stopped is not None
    assert stopped["sent"] == len(requests) == stopped["done"]
    assert {request["kind"] for request in requests} == {"short"}
    chats, feeds = ([one for one in streams if one["kind"] == kind] for kind in ("chat", "feed"))
    assert [(one["client_outcome"], one["code"], one["lost"]) for one in chats] == [("closed_by_client", 1000, 0)] * 2
    assert all(one["sent"] == one["answered"] for one in chats)
    assert sum(one["answered"] for one in chats) > 0
    assert {one["instance"] for one in streams} == {"a1"}
    assert sum(one["lost"] + one["repeated"] for one in feeds) == 0
    assert [one["attempt"] for one in feeds] == list(range(1, len(feeds) + 1))
    assert all(0 < one["reconnect_seconds"] < 5 for one in feeds if one["attempt"] > 1)
