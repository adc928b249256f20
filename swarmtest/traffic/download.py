"""Large downloads: read piece by piece, and held to the checksum that was promised.

A whole length proves that nothing is missing, not that it's the right content. The checksum is the answer's own
(``Repr-Digest``, in its head or in its trailer) or a known one out of the stack file.
"""

from __future__ import annotations

import socket
from dataclasses import replace

from swarmtest.traffic.bodies import ContentAnswer
from swarmtest.traffic.exchange import Exchange
from swarmtest.traffic.http1 import Client, Request
from swarmtest.traffic.lanes import Template
from swarmtest.traffic.records import Record


class DownloadTemplate(Template):
    """The downloads of one kind."""

    def request(self, request_id: str, duration_ms: int, *, keeps: bool) -> Request:
        """The download with this ID."""
        plain = super().request(request_id, duration_ms, keeps=keeps)
        return replace(plain, path=plain.path.replace("{bytes}", str(self.kind.bytes or 0)))


class DownloadClient(Client):
    """Fetches large answers, each once."""

    def _exchange(self, connected: socket.socket, request: Request, record: Record, deadline: float) -> Exchange:
        record.body_bytes = self._expectation.expect_bytes
        answer = ContentAnswer(self._expectation, request.method == "HEAD")
        return Fetching(connected, answer, record, deadline, self._expectation.sha256)


class Fetching(Exchange):
    """One download on one connection.

    Arguments:
        sha256: the checksum that it must have; None for what the answer itself says.
    """

    __slots__ = ("_reply", "_sha256")

    def __init__(
        self, connected: socket.socket, answer: ContentAnswer, record: Record, deadline: float, sha256: str | None
    ) -> None:
        super().__init__(connected, answer, record, deadline)
        self._reply = answer
        self._sha256 = sha256

    def settle(self) -> None:
        """Adds what became of the content to what's known of the answer."""
        super().settle()
        record = self._record
        if record.client_outcome != "complete" or record.status is None or not 200 <= record.status < 300:
            return
        record.sha256 = self._reply.sha256
        promised = self._sha256 or self._reply.own_word().sha256
        record.matched = None if promised is None else promised == record.sha256
