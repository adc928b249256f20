"""What the verdict document says of streams: WebSockets and server-sent events, which are no requests.

Not a report: it has no ``render``.
"""

from __future__ import annotations

import msgspec


class StreamRow(msgspec.Struct, frozen=True):
    """Counts of one kind of stream: WebSockets, or server-sent events; they're no requests.

    Attributes:
        sessions: users that held one each; ``tries`` of theirs to have one, and how many were ``opened``.
        told: ended by the service in good order; ``cut``: not; ``untold``: nothing tells which.
        sent, received: messages of the sessions and numbered ones of the service; of the first ``resent`` again.
        lost, repeated: numbers that never came, or that came again.
        back: how often a session had a stream again, and after how long.
    """

    kind: str
    protocol: str
    sessions: int = 0
    tries: int = 0
    opened: int = 0
    told: int = 0
    cut: int = 0
    untold: int = 0
    sent: int = 0
    received: int = 0
    lost: int = 0
    repeated: int = 0
    resent: int = 0
    back: int = 0
    back_median_seconds: float | None = None
    back_longest_seconds: float | None = None


class StreamEvent(msgspec.Struct, frozen=True):
    """A stream that ended badly, or that misses a message. ``ending`` says how in a few words."""

    id: str
    kind: str
    session: str
    instance: str | None
    opened: float | None
    closed: float | None
    ending: str
    lost: int = 0
    repeated: int = 0
    error: str | None = None
