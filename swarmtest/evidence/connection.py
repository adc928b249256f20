"""One HTTP/2 connection as the client saw it, from its making to its end."""

from __future__ import annotations

import msgspec


class Connection(msgspec.Struct, frozen=True):
    """The client's record of one connection. Unknown fields of a line are skipped.

    Attributes:
        connection: the client's own name of it, as in the requests' records.
        opened, ended: epoch seconds.
        streams, open: how many requests it carried in all, and how many ended with it.
        instance: the one that answered on it; null where none did, or several.
        goaway, goaway_at: last stream that the last GOAWAY named, and when the first one came.
        goaways, code: how many came, and the last one's error code.
        ended_by: who ended it, ``peer`` or ``client``.
    """

    connection: str
    kind: str = ""
    target: str = ""
    opened: float = 0.0
    ended: float | None = None
    streams: int = 0
    open: int = 0
    instance: str | None = None
    goaway: int | None = None
    goaway_at: float | None = None
    goaways: int = 0
    code: str | None = None
    ended_by: str | None = None
    error: str | None = None

    @property
    def told(self) -> bool:
        """Whether the peer said GOAWAY on it."""
        return self.goaway is not None

    @property
    def dropped(self) -> bool:
        """Whether the peer ended it without having said so before."""
        return self.ended_by == "peer" and not self.told

    def lived_at(self, t: float) -> bool:
        """Whether it was there at a moment."""
        return self.opened <= t and (self.ended is None or self.ended >= t)
