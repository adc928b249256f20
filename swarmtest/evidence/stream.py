"""One stream of a session as the client saw it: a WebSocket, or an answer of server-sent events."""

from __future__ import annotations

import msgspec

OUTCOMES = (
    "closed_by_server",
    "closed_by_client",
    "cut",
    "no_connection",
    "turned_away",
    "closed_unopened",
    "timed_out",
    "malformed",
    "still_open",
    "local_error",
)
"""What the client can say about the end of a stream."""

SAID_WELL = (1000, 1001, 1005, 1012, 1013)
"""Codes of a close frame that say that all is well, or nothing (RFC 6455, 7.4.1, and IANA's list of codes)."""
APPLICATION_CODES = range(3000, 5000)


class Stream(msgspec.Struct, frozen=True):
    """The client's record of one stream. Unknown fields of a line are skipped.

    Attributes:
        session, attempt: whose it is, and which of its tries, from 1.
        began, opened, closed: epoch seconds; null where it didn't come to that.
        code, reason: of the WebSocket's close frame.
        framing: how an answer's end is told; with ``close`` nothing tells an end from a cut.
        sent, answered, resent: messages of the session's; those that came back; those sent on an earlier stream before.
        received, lost, repeated, unnumbered: messages of the service's, by their numbers.
        reconnect_seconds: from the end of the session's last open stream to the opening of this one.
    """

    id: str
    client_outcome: str
    session: str = ""
    attempt: int = 1
    kind: str = ""
    protocol: str = ""
    connection: str | None = None
    target: str | None = None
    instance: str | None = None
    began: float | None = None
    opened: float | None = None
    closed: float | None = None
    status: int | None = None
    code: int | None = None
    reason: str | None = None
    framing: str | None = None
    sent: int = 0
    answered: int = 0
    resent: int = 0
    received: int = 0
    lost: int = 0
    repeated: int = 0
    unnumbered: int = 0
    reconnect_seconds: float | None = None
    error: str | None = None

    @property
    def dropped(self) -> bool:
        """Whether it had been open, and ended though its session wanted it on."""
        return self.opened is not None and self.client_outcome not in ("closed_by_client", "still_open")

    @property
    def told(self) -> bool:
        """Whether the service ended it in good order: a close frame that says no error, or the end of the answer."""
        if self.client_outcome != "closed_by_server":
            return False
        return self.code is None or self.code in SAID_WELL or self.code in APPLICATION_CODES

    @property
    def untold(self) -> bool:
        """Whether nothing can tell its end from a cut: its answer has no length."""
        return self.client_outcome == "cut" and self.framing == "close"

    @property
    def ending(self) -> str:
        """How it ended, in a few words."""
        if self.untold:
            return "closed, and nothing tells an end from a cut"
        if self.client_outcome == "closed_by_server" and self.code is not None:
            return f"closed with {self.code}"
        said = {"closed_by_server": "ended", "cut": "cut", "timed_out": "silent for too long"}
        return said.get(self.client_outcome, self.client_outcome)
