"""Large uploads: streamed from a seed, and held to what the service says that it stored.

A 200 proves nothing here. What counts is the word about the content: as many bytes as were sent, with the same
checksum. Sent slowly where the kind has times (``ms``), so that an upload can be under way when its instance stops.
"""

from __future__ import annotations

import socket
import time
from dataclasses import dataclass, field

from swarmtest.traffic.bodies import ContentAnswer, acknowledged_bytes
from swarmtest.traffic.content import Content, block_for
from swarmtest.traffic.exchange import Exchange
from swarmtest.traffic.http1 import Client, Request
from swarmtest.traffic.lanes import Template
from swarmtest.traffic.records import Record
from swarmtest.traffic.settings import Kind, TrafficSettings


@dataclass(frozen=True, slots=True)
class Upload(Request):
    """A request whose body is made while it's sent.

    Attributes:
        seconds: the time over which it's sent; 0 for as fast as it goes.
    """

    content: Content = field(default_factory=lambda: Content(b"", "", 0))
    seconds: float = 0.0


class UploadTemplate(Template):
    """The uploads of one kind."""

    def __init__(self, settings: TrafficSettings, kind: Kind) -> None:
        super().__init__(settings, kind)
        self._length = kind.bytes or 0
        self._block = block_for(settings.seed, kind.name, kind.piece_bytes)

    def request(self, request_id: str, duration_ms: int, *, keeps: bool) -> Request:
        """The upload with this ID."""
        plain = super().request(request_id, duration_ms, keeps=keeps)
        lines = plain.lines.replace("Content-Length: 0\r\n", "") + f"Content-Length: {self._length}\r\n"
        content = Content(self._block, request_id, self._length)
        path = plain.path.replace("{bytes}", str(self._length))
        return Upload(plain.method, path, lines, b"", plain.host, content, duration_ms / 1000)


class UploadClient(Client):
    """Sends uploads, each once."""

    def _exchange(self, connected: socket.socket, request: Request, record: Record, deadline: float) -> Exchange:
        assert isinstance(request, Upload)
        return Sending(connected, ContentAnswer(self._expectation), record, deadline).of(request)


class Sending(Exchange):
    """One upload on one connection."""

    __slots__ = ("_acknowledged", "_content", "_head_bytes", "_reply", "_seconds")

    def __init__(self, connected: socket.socket, answer: ContentAnswer, record: Record, deadline: float) -> None:
        super().__init__(connected, answer, record, deadline)
        self._reply = answer
        self._acknowledged = acknowledged_bytes(connected)
        self._content = Content(b"", "", 0)
        self._head_bytes = 0
        self._seconds = 0.0

    def of(self, upload: Upload) -> Sending:
        """The same, with what's to be sent."""
        self._content, self._seconds = upload.content, upload.seconds
        self._record.body_bytes = upload.content.length
        return self

    def run(self, data: bytes) -> None:
        """Sends all of it, and asks what was acknowledged while the connection can still be asked."""
        try:
            super().run(data)
        finally:
            if self._acknowledged is not None and (now := acknowledged_bytes(self._socket)) is not None:
                self._record.acknowledged = now - self._acknowledged

    def left_clean(self, length: int) -> bool:
        """Whether the connection can carry another request: all was sent, and the answer came whole."""
        return super().left_clean(length + self._content.length)

    def settle(self) -> None:
        """Adds what became of the content to what's known of the answer."""
        super().settle()
        record, content, word = self._record, self._content, self._reply.word()
        record.stored = word.stored
        if content.read == content.length:
            record.sha256 = content.sha256
        if record.client_outcome == "complete" and record.status is not None and 200 <= record.status < 300:
            record.matched = self._matched()

    def _matched(self) -> bool | None:
        """Whether what the service says that it stored is what was sent; None where it doesn't say enough."""
        word, content = self._reply.word(), self._content
        if word.stored is not None and word.stored != content.length:
            return False
        if word.sha256 is None:
            return None
        return self._sent_all and word.sha256 == content.sha256

    @property
    def _sent_all(self) -> bool:
        return self._record.bytes_sent == self._head_bytes + self._content.length

    def _write(self, data: bytes) -> None:
        """Writes the head and then the body, piece by piece; stops when the answer is there before the end."""
        self._head_bytes = len(data)
        super()._write(data)
        began = time.monotonic()
        for piece in self._content.pieces():
            super()._write(piece)
            self._rest_until(began + self._seconds * self._content.read / self._content.length)
            if self._is_over():
                return

    def _rest_until(self, due: float) -> None:
        """Waits for the next piece's turn; what the peer says meanwhile is read at once."""
        while not self._is_over() and time.monotonic() < due:
            try:
                self._waits().for_reading(min(due, self._deadline))
            except TimeoutError:
                self._remaining()
                return
            self._look()
