"""One request on one stream: what's to be sent of it, what came back, and how it ended."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from hpack import HeaderTuple, NeverIndexedHeaderTuple

from swarmtest.traffic.http2_wire import StreamAnswer
from swarmtest.traffic.records import ClientOutcome, Record
from swarmtest.traffic.targets import Target

Header = tuple[bytes, bytes]


@dataclass(frozen=True, slots=True)
class StreamRequest:
    """What goes out on a stream.

    Attributes:
        headers: all but the pseudo headers, in lower case.
        varies: whether the next one has another path, so that this one is kept out of the table of headers.
        host: what stands in ``:authority`` where a proxy chooses by it; by default the target's own.
    """

    method: bytes
    path: str
    headers: Sequence[Header]
    body: bytes = b""
    host: str | None = None
    varies: bool = False

    def head(self, target: Target) -> list[Header]:
        """Every header, the pseudo ones first."""
        return [
            (b":method", self.method),
            (b":scheme", b"http"),
            (b":authority", (target.label if self.host is None else self.host).encode("latin-1")),
            (NeverIndexedHeaderTuple if self.varies else HeaderTuple)(
                b":path", (target.prefix + self.path).encode("latin-1")
            ),
            *self.headers,
        ]


class Stream:
    """A request from its begin to its end; the one who sent it waits, the connection wakes it.

    Attributes:
        id: its number on the connection, 0 before it has one.
        rest: what's still to be sent of the body.
        mark, size: where in all that its connection sent it begins, and how long it is.
        over: whether it has its outcome.
    """

    __slots__ = (
        "_woken", "answer", "began", "done", "error", "first_byte", "goaway", "id", "mark", "outcome", "over",
        "record", "rest", "size",
    )  # fmt: skip

    def __init__(self, record: Record, answer: StreamAnswer, body: bytes) -> None:
        self.record, self.answer = record, answer
        self.rest = memoryview(body)
        self.id = self.mark = self.size = 0
        self.began = time.monotonic()
        self.first_byte: float | None = None
        self.done: float | None = None
        self.goaway: int | None = None
        self.outcome: ClientOutcome = "still_open"
        self.error: str | None = None
        self.over = False
        self._woken = threading.Lock()
        self._woken.acquire()

    def wait(self, seconds: float) -> None:
        """Returns when something has happened to it, or after that time."""
        self._woken.acquire(timeout=seconds)

    def wake(self) -> None:
        """Lets the one who waits look again."""
        if self._woken.locked():
            self._woken.release()

    def finish(self, outcome: ClientOutcome, error: str | None = None) -> None:
        """Gives it its outcome; the first one stands."""
        if not self.over:
            self.over, self.outcome, self.error, self.done = True, outcome, error, time.time()
            self.wake()

    def begin_answer(self, headers: list[Header]) -> None:
        """Takes the head of the answer."""
        if self.first_byte is None:
            self.first_byte = time.time()
            self.answer.on_headers(headers)

    def complete(self) -> None:
        """The peer has said that the answer is whole."""
        shortfall = self.answer.shortfall() if self.answer.begun else "the stream ended without an answer"
        self.finish("malformed" if shortfall is not None else "complete", shortfall)

    def cut(self, error: str) -> None:
        """It ended before its answer was whole."""
        self.finish("closed_in_body" if self.answer.begun else "closed_unanswered", error)

    def settle(self, written: int) -> None:
        """Copies what is known to the record.

        Arguments:
            written: how much of all that the connection was given to send the kernel took.
        """
        record, answer = self.record, self.answer
        record.stream, record.goaway = self.id or None, self.goaway
        record.first_byte, record.done = self.first_byte, self.done
        record.bytes_sent = max(0, min(self.size, written - self.mark))
        record.status, record.framing = answer.status, answer.framing
        record.bytes_received, record.retry_after = answer.body_bytes, answer.retry_after
        record.instance = answer.instance
        if answer.echo is not None:
            record.echoed = answer.echo == record.id.encode("latin-1")
        record.client_outcome, record.error = self.outcome, self.error
