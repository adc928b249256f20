"""Server-sent events: one stream of a session, an answer of HTTP/1.1 that's open for as long as it can be.

Its end in good order is the end of its chunks, as of any answer. A connection that ends before that was
cut, and one whose answer has no length can't be told from a cut: nothing says that it's whole.
"""

from __future__ import annotations

import socket
import time
from dataclasses import dataclass, field

from swarmtest.traffic.answers import NO_LENGTH, Answer, Expectation
from swarmtest.traffic.exchange import is_own_timeout, text_of
from swarmtest.traffic.sessions import GLANCE_SECONDS, Opening
from swarmtest.traffic.streams import Stop, StreamRecord

_CHUNK = 65536
LONGEST_LINE = 1 << 20
"""A line of an event that's longer than this isn't one."""


def hold(connected: socket.socket, opening: Opening, record: StreamRecord, stop: Stop) -> None:
    """Asks for a stream on a connected socket and holds it until it ends or the traffic does."""
    held = _Held(connected, opening, record)
    try:
        connected.settimeout(opening.limits.connect_timeout_seconds)
        connected.sendall(_request(opening))
        held.open()
        while not held.over and not stop.is_set():
            held.glance(GLANCE_SECONDS)
        if not held.over:
            record.client_outcome, record.closed = "closed_by_client", time.time()
    except OSError as error:
        held.fail(error)


def _request(opening: Opening) -> bytes:
    last = opening.numbers.last
    lines = [*opening.lines, ("Accept", "text/event-stream"), ("Cache-Control", "no-cache")]
    if last is not None:
        lines.append(("Last-Event-ID", str(last)))
    head = "".join(f"{name}: {value}\r\n" for name, value in lines)
    return f"GET {opening.path} HTTP/1.1\r\nHost: {opening.host}\r\n{head}\r\n".encode("latin-1")


class EventAnswer(Answer):
    """An answer whose body is cut into events, by the rules of the standard (WHATWG HTML, 9.2.6)."""

    __slots__ = ("_buffer", "_has_data", "_id", "events", "is_stream")

    def __init__(self, expectation: Expectation) -> None:
        super().__init__(expectation, is_head=False)
        self.events: list[str | None] = []
        self.is_stream = False
        self._buffer = b""
        self._id: str | None = None
        self._has_data = False

    def on_header(self, name: bytes, value: bytes) -> None:
        super().on_header(name, value)
        if name.lower() == b"content-type":
            self.is_stream = value.lower().partition(b";")[0].strip() == b"text/event-stream"

    def on_body(self, data: bytes) -> None:
        super().on_body(data)
        self._buffer = (self._buffer + data).replace(b"\r\n", b"\n")
        *lines, self._buffer = self._buffer.split(b"\n")
        if len(self._buffer) > LONGEST_LINE:
            self.broken = self.broken or f"a line of more than {LONGEST_LINE:,} bytes"
        for line in lines:
            self._line(line.decode("utf-8", "replace"))

    def _line(self, line: str) -> None:
        if not line:
            if self._has_data or self._id is not None:
                self.events.append(self._id)
            self._id, self._has_data = None, False
            return
        name, _, value = line.partition(":")
        if name == "id":
            self._id = value.removeprefix(" ")
        elif name == "data":
            self._has_data = True


@dataclass(slots=True)
class _Held:
    connected: socket.socket
    opening: Opening
    record: StreamRecord
    over: bool = False
    heard: float = 0.0
    answer: EventAnswer = field(init=False)

    def __post_init__(self) -> None:
        self.answer = EventAnswer(Expectation(self.opening.instance_header.lower().encode("latin-1"), b""))

    def open(self) -> None:
        """Reads until the head of the answer is there, which says whether it's a stream."""
        until = time.monotonic() + self.opening.limits.connect_timeout_seconds
        while not self.answer.headers_done and not self.over:
            self._read(max(until - time.monotonic(), 0.001))

    def glance(self, seconds: float) -> None:
        """Takes what comes within some seconds; too long a silence is the end."""
        try:
            self._read(seconds)
        except OSError as error:
            if not is_own_timeout(error):
                raise
        limit = self.opening.limits.timeout_seconds
        if not self.over and time.monotonic() - self.heard > limit:
            self.over = True
            self.record.client_outcome, self.record.error = "timed_out", f"nothing came for {limit:g} s"

    def fail(self, error: OSError) -> None:
        """What an error of the socket's means, by how far the stream had come."""
        record = self.record
        record.error = text_of(error)
        if is_own_timeout(error):
            record.client_outcome = "timed_out"
        else:
            record.client_outcome = "closed_unopened" if record.opened is None else "cut"

    def _read(self, seconds: float) -> None:
        self.connected.settimeout(seconds)
        data = self.connected.recv(_CHUNK)
        self.heard = time.monotonic()
        answer, record = self.answer, self.record
        if data:
            answer.feed(data)
        if answer.headers_done and record.opened is None and not self.over:
            self._opened()
        self._count()
        if answer.broken is not None:
            self._end("malformed", answer.broken)
        elif answer.complete:
            self._end("closed_by_server", None)
        elif not data:
            self._end("closed_unopened" if record.opened is None else "cut", self._why())

    def _opened(self) -> None:
        answer, record = self.answer, self.record
        record.status, record.instance, record.framing = answer.status, answer.instance, answer.framing
        if answer.status == 200 and answer.is_stream:
            record.opened = time.time()
        else:
            what = "no text/event-stream" if answer.status == 200 else f"status {answer.status}"
            self._end("turned_away", what)

    def _why(self) -> str:
        if self.record.opened is None:
            return "closed without an answer"
        return NO_LENGTH if self.answer.framing == "close" else "closed before the last chunk"

    def _count(self) -> None:
        for identity in self.answer.events:
            if identity is not None and identity.isascii() and identity.isdigit():
                self.opening.numbers.see(int(identity), self.record)
            else:
                self.record.unnumbered += 1
        self.answer.events.clear()

    def _end(self, outcome: str, error: str | None) -> None:
        if not self.over:
            self.over = True
            self.record.client_outcome = outcome  # type: ignore[assignment]
            self.record.error, self.record.closed = error, time.time()
