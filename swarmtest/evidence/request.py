"""One request as the client saw it: the flat record that the traffic writes and the judging reads.

The name isn't ``requests``: Locust puts this folder first on ``sys.path``, and would hide the library.
"""

from __future__ import annotations

import msgspec

OUTCOMES = (
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
)
"""What the client can say about a request; it's no class yet, since the instance's word counts more."""


NO_LENGTH = "no length"
"""How the client's word begins for a body that was ended in good order by closing, with nothing to hold it to."""

BURST = ".burst"
"""What follows the run's token in the ID of a request that a burst's client sent."""


class Request(msgspec.Struct, frozen=True):
    """The client's record of one request. Unknown fields of a line are skipped.

    Attributes:
        connection: the client's own number of the connection, null where none was made.
        target: ``host:port`` that was dialled.
        planned, sent, first_byte, done: epoch seconds.
        bytes_received: bytes of the body.
        instance: value of the instance header.
        echoed: whether the answer bears this request's ID; null where it bears none.
        framing: what proves that the body is whole: ``length``, ``chunked``, ``marker`` or ``end_stream``;
            ``close`` proves nothing.
        attempt, again: which try it is, and the ID of the first one where it isn't that itself.
        stream, goaway: its stream on an HTTP/2 connection, and the last one that the peer's GOAWAY named there.
        stored: bytes that the service says it stored.
        matched: whether the content is what was sent or stored; null where nothing tells.
        connected: when its own connection was made; null on a kept one.
        body_bytes: length of the large body that was to be sent, or to come.
        acknowledged: bytes of the request that the peer's kernel acknowledged, head included.
        sha256: checksum of the content that was sent or received.
    """

    id: str
    client_outcome: str
    kind: str = ""
    method: str = ""
    path: str = ""
    connection: str | None = None
    reused: bool = False
    target: str | None = None
    planned: float | None = None
    sent: float | None = None
    first_byte: float | None = None
    done: float | None = None
    status: int | None = None
    bytes_sent: int | None = None
    bytes_received: int | None = None
    instance: str | None = None
    echoed: bool | None = None
    framing: str | None = None
    retry_after: bool = False
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

    @property
    def began(self) -> float:
        """When it was sent, or was to be."""
        return self.sent if self.sent is not None else (self.planned if self.planned is not None else 0.0)

    @property
    def ended(self) -> float:
        """When the client knew its outcome, or when it was sent where it never did."""
        return self.done if self.done is not None else self.began

    @property
    def burst(self) -> str | None:
        """The burst that it belongs to, which its ID begins with; None for the steady traffic."""
        run = self.id.partition("-")[0]
        return run if BURST in run else None

    @property
    def saw(self) -> str:
        """All that the client got: the status of a whole answer, else how it ended."""
        return str(self.status) if self.answered and self.status is not None else self.client_outcome

    @property
    def bodiless(self) -> bool:
        """Whether its answer has no body, so that its head alone is all of it."""
        return self.method == "HEAD" or self.status in (204, 304)

    @property
    def answered(self) -> bool:
        """Whether an answer came to its end: a whole one, or one that only the closing ended, whole or not."""
        if self.client_outcome == "complete":
            return True
        closed = self.client_outcome == "closed_in_body" and self.framing == "close"
        return closed and (self.error or "").startswith(NO_LENGTH)
