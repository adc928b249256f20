"""One request and its answer on a connection: write it once, read what comes, say how it ended."""

from __future__ import annotations

import errno
import socket
import time

from swarmtest.traffic.answers import Answer
from swarmtest.traffic.records import ClientOutcome, Record
from swarmtest.traffic.waiting import Waits, plain, waits_for

_CLOSED = {
    errno.ECONNRESET, errno.ECONNABORTED, errno.EPIPE, errno.ESHUTDOWN, errno.ETIMEDOUT,
    errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EHOSTDOWN, errno.ENETDOWN,
}  # fmt: skip
_CHUNK = 65536


def is_own_timeout(error: OSError) -> bool:
    """Whether our own deadline passed; the kernel's giving up on a peer has an errno (ETIMEDOUT)."""
    return isinstance(error, TimeoutError) and error.errno is None


def text_of(error: BaseException) -> str:
    """An error as it goes into a record."""
    return f"{type(error).__name__}: {error}"


class Exchange:
    """One request and its answer on one connection.

    Attributes:
        waits: what waits for the connection; set by who keeps one for several exchanges.
    """

    __slots__ = ("_answer", "_deadline", "_eof", "_failure", "_plain", "_record", "_socket", "waits")

    def __init__(self, connected: socket.socket, answer: Answer, record: Record, deadline: float) -> None:
        self._socket = connected
        self._plain = plain(connected)
        if self._plain is connected:
            connected.settimeout(0.0)
        self.waits: Waits | None = None
        self._answer = answer
        self._record = record
        self._deadline = deadline
        self._failure: OSError | None = None
        self._eof = False

    def run(self, data: bytes) -> None:
        """Writes the request and reads until the answer is whole or nothing more can come.

        A peer may answer and reset before it has read all: what's in the buffer is read anyway.
        """
        try:
            self._write(data)
        except OSError as error:
            self._failure = error
            if error.errno not in _CLOSED:
                return
        try:
            while not self._is_over():
                self._read()
        except OSError as error:
            self._failure = self._failure or error
        if not self._answer.complete and (self._eof or self._was_cut()):
            self._answer.end_of_stream()

    def left_clean(self, length: int) -> bool:
        """Whether the connection can carry another request of ``length`` written bytes or not."""
        answer = self._answer
        whole = answer.complete and answer.broken is None and self._failure is None and not self._eof
        return whole and answer.keep_alive and self._record.bytes_sent == length

    def settle(self) -> None:
        """Copies what is known to the record, and names the outcome."""
        answer, record = self._answer, self._record
        record.status, record.framing = answer.status, answer.framing
        record.bytes_received, record.retry_after = answer.body_bytes, answer.retry_after
        record.instance = answer.instance
        answer.let_go()
        if answer.echo is not None:
            record.echoed = answer.echo == record.id.encode("latin-1")
        if not answer.begun:
            record.first_byte = None
        record.client_outcome, record.error = self._verdict()

    def _verdict(self) -> tuple[ClientOutcome, str | None]:
        answer, failure = self._answer, self._failure
        text = text_of(failure) if failure is not None else None
        if answer.broken is not None:
            return "malformed", answer.broken
        if answer.complete:
            shortfall = answer.shortfall()
            return ("malformed", shortfall) if shortfall is not None else ("complete", text)
        if failure is not None and is_own_timeout(failure):
            return "timed_out", text
        if failure is not None and failure.errno not in _CLOSED:
            return "local_error", text
        if not answer.begun:
            return "closed_unanswered", text or "closed without an answer"
        if not answer.headers_done:
            return "closed_in_headers", text or "closed inside the headers"
        if answer.framing == "close" and failure is None:
            return "closed_in_body", answer.why_not_whole()
        return "closed_in_body", text or "closed inside the body"

    def _was_cut(self) -> bool:
        return self._failure is not None and self._failure.errno in _CLOSED

    def _is_over(self) -> bool:
        return self._eof or self._answer.complete or self._answer.broken is not None

    def _remaining(self) -> float:
        remaining = self._deadline - time.monotonic()
        if remaining <= 0:
            raise TimeoutError("timed out")
        return remaining

    def _read(self) -> None:
        """Waits for what comes next, and takes it."""
        self._waits().for_reading(self._deadline)
        try:
            data = self._plain.recv(_CHUNK)
        except BlockingIOError:
            return
        if not data:
            self._eof = True
            return
        if not self._answer.begun:
            self._record.first_byte = time.time()
        self._answer.feed(data)

    def _write(self, data: bytes) -> None:
        """Writes all of it, unless the answer is there before (a refusal of a large upload, say)."""
        written = self._send(data)
        while written < len(data) and not self._is_over():
            self._waits().for_either(self._deadline)
            self._look()
            if not self._is_over():
                written += self._send(memoryview(data)[written:])

    def _send(self, data: bytes | memoryview) -> int:
        """Hands over what the kernel takes at once, which may be nothing."""
        try:
            written = self._plain.send(data)
        except BlockingIOError:
            return 0
        self._record.bytes_sent += written
        return written

    def _look(self) -> None:
        """Reads what has come, if anything has, without waiting for it."""
        try:
            self._plain.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return
        self._read()

    def _waits(self) -> Waits:
        if self.waits is None:
            self.waits = waits_for(self._socket)
        return self.waits
