"""One line for each HTTP/2 connection that has ended, and the file that holds them.

A request's record says what became of the request. Whether its connection was told to go away before it ended,
and how many requests its end cost, is one fact for all of them; an idle connection's end is in no request at all.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Literal

import msgspec


class ConnectionRecord(msgspec.Struct, kw_only=True):
    """A connection and what the client saw of it; times are epoch seconds.

    Attributes:
        connection: the client's own number, as in the requests' records.
        opened: when it was made.
        streams: how many requests it carried in all.
        open: how many of them were open when it ended, and so ended with it.
        instance: the one that answered on it; ``None`` where none did, or several.
        goaway, goaway_at: last stream that the last GOAWAY named, and when the first one came.
        goaways: how many came.
        code: error code of the last one.
        ended_by: who ended it.
        error: how the socket ended, where that's more than a close.
    """

    connection: str
    kind: str
    target: str
    opened: float
    ended: float | None = None
    streams: int = 0
    open: int = 0
    instance: str | None = None
    several: bool = False
    goaway: int | None = None
    goaway_at: float | None = None
    goaways: int = 0
    code: str | None = None
    ended_by: Literal["peer", "client"] | None = None
    error: str | None = None

    def saw(self, instance: str | None) -> None:
        """Notes who answered."""
        if instance is not None and instance != self.instance and not self.several:
            self.several = self.instance is not None
            self.instance = None if self.several else instance

    def go_away(self, last: int, code: str) -> None:
        """Notes a GOAWAY."""
        self.goaway, self.code = last, code
        self.goaway_at = time.time() if self.goaway_at is None else self.goaway_at
        self.goaways += 1

    def end(self, by: Literal["peer", "client"], open_streams: int, error: str | None) -> None:
        """Notes the end."""
        self.ended_by, self.open, self.error, self.ended = by, open_streams, error, time.time()


class ConnectionFile:
    """``connections-<pid>.jsonl``, made with the first line; each line is one system call."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / f"connections-{os.getpid()}.jsonl"
        self._descriptor: int | None = None
        self._encode = msgspec.json.Encoder().encode

    def write(self, record: ConnectionRecord) -> None:
        """Appends one line; raises ``OSError`` when the disk won't take it."""
        if self._descriptor is None:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
            self._descriptor = os.open(self.path, flags, 0o644)
        os.write(self._descriptor, self._encode(record) + b"\n")
