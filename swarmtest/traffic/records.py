"""One line for each request that was sent, and the file that holds them.

A record is mutable on purpose: it's made when its request starts and filled in while it runs, so
that even a request that never ends leaves what is known of it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import msgspec

ClientOutcome = Literal[
    "complete",
    "no_connection",
    "closed_unanswered",
    "closed_in_headers",
    "closed_in_body",
    "timed_out",
    "malformed",
    "refused_stream",
    "still_open",
    "local_error",
]
"""What the client saw, and no more: what became of a request is for the judging side to say.

complete: the whole answer, by its framing and, where given, by marker or length.
no_connection: refused, unreachable, not resolved or too slow to connect; no byte was sent.
closed_unanswered: closed or reset before the first byte of an answer.
closed_in_headers, closed_in_body: closed or reset inside the answer, or its end can't be proved.
timed_out: our own deadline for the whole request.
malformed: bytes came that aren't this request's answer in HTTP/1.
refused_stream: the peer said that no handler saw it: REFUSED_STREAM, or a stream above the last one of its GOAWAY.
still_open: not over when the client had to end.
local_error: our own fault (no file descriptors, say), or something the client doesn't know.
"""

Framing = Literal["length", "chunked", "marker", "close", "end_stream"]


MOST_WAITING = 1000
"""Records that are written together at most."""


class Record(msgspec.Struct, kw_only=True):
    """A request and what the client saw of it; times are epoch seconds.

    Attributes:
        connection: the client's own number of the connection, or ``None`` when there was none.
        target: ``host:port`` that was dialled, or empty when there was nothing to dial.
        sent: when the client set about it (connecting included).
        first_byte: first byte of the answer; interim 1xx answers don't count.
        bytes_sent: bytes of the request that the kernel took, head included; with 0 nothing left us.
        bytes_received: bytes of the body, after its framing is taken off.
        echoed: whether the answer carried this request's ID; ``None`` without such a header.
        framing: how the end of the body is told; ``None`` when there's no body or no answer.
        protocol: one of ``settings.PROTOCOLS``.
        stream: its stream on an HTTP/2 connection.
        goaway: last stream that the peer's GOAWAY on its connection named, once one had come.
        stored: bytes that the service says it stored, where it was asked to store some.
        matched: whether the content is what was sent or stored, by length and checksum; ``None`` where none is told.
        connected: when its own connection was made; ``None`` on a kept one.
        body_bytes: length of the body that was to be sent, or to come; ``None`` where it's no large one.
        acknowledged: bytes of the request, head included, that the peer's kernel is known to have acknowledged; more
            may have come when the connection was reset.
        sha256: checksum of the content that was sent or received, in hex.
        attempt, again: which try it is, and the ID of the first one where it isn't that itself.
        error: text of what went wrong, as the system or the parser said it.
    """

    id: str
    kind: str
    method: str
    path: str
    connection: str | None = None
    reused: bool = False
    target: str = ""
    planned: float
    sent: float | None = None
    first_byte: float | None = None
    done: float | None = None
    status: int | None = None
    bytes_sent: int = 0
    bytes_received: int = 0
    instance: str | None = None
    echoed: bool | None = None
    framing: Framing | None = None
    retry_after: bool = False
    client_outcome: ClientOutcome = "still_open"
    error: str | None = None
    attempt: int = 1
    again: str | None = None
    protocol: str = "http1"
    stream: int | None = None
    goaway: int | None = None
    stored: int | None = None
    matched: bool | None = None
    connected: float | None = None
    body_bytes: int | None = None
    acknowledged: int | None = None
    sha256: str | None = None


class RecordFile:
    """``requests-<pid>.jsonl``: a line per record.

    Records wait for :meth:`flush`, which writes all of them by one system call: a call for each would cost
    more than anything else that's done for a short request.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"requests-{os.getpid()}.jsonl"
        self._descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        self._encode = msgspec.json.Encoder().encode_lines
        self._waiting: list[Record] = []

    def write(self, record: Record) -> None:
        """Takes a record that nobody changes any more; raises ``OSError`` when the disk won't take it."""
        self._waiting.append(record)
        if len(self._waiting) >= MOST_WAITING:
            self.flush()

    def flush(self) -> None:
        """Appends what waits; raises ``OSError`` when the disk won't take it."""
        waiting, self._waiting = self._waiting, []
        lines = memoryview(self._encode(waiting))
        while lines:
            lines = lines[os.write(self._descriptor, lines) :]

    def close(self) -> None:
        """Writes what waits, and closes the file."""
        self.flush()
        os.close(self._descriptor)
