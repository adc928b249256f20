"""Which connection a request by HTTP/2 goes on: the lanes that share some, and how a new one comes about."""

from __future__ import annotations

import errno
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from swarmtest.traffic.answers import Expectation
from swarmtest.traffic.dialing import dial, means_no_connection
from swarmtest.traffic.exchange import text_of
from swarmtest.traffic.http1 import Limits
from swarmtest.traffic.http2 import Connection
from swarmtest.traffic.http2_connections import ConnectionRecord
from swarmtest.traffic.http2_session import Terms
from swarmtest.traffic.http2_stream import Stream, StreamRequest
from swarmtest.traffic.http2_wire import StreamAnswer
from swarmtest.traffic.records import Record
from swarmtest.traffic.targets import Target, Targets

_CHOICE = 10
_TRIES = 3
"""Connections that are made for one request, when each is told to go away before anything was sent on it."""


@dataclass(frozen=True, slots=True)
class Dialer:
    """Makes the connections of one kind of traffic.

    Attributes:
        kind: the kind's name, for the connections' records.
        numbers: gives each connection its number, shared by all of the process.
        told: takes the record of each connection that has ended.
        open_at: how many connections to each target there are.
    """

    targets: Targets
    limits: Limits
    terms: Terms
    kind: str
    numbers: Iterator[int]
    told: Callable[[ConnectionRecord], None]
    open_at: Counter[str] = field(default_factory=Counter)

    def connect(self, record: Record, deadline: float) -> tuple[Connection, Target]:
        """A new connection, for the request that the record is of.

        Raises:
            OSError: none was made; nothing was sent.
        """
        target = self._target()
        record.target = target.label
        connected = dial(target, min(deadline, time.monotonic() + self.limits.connect_timeout_seconds))
        number, opened = f"h{os.getpid()}-{next(self.numbers)}", time.time()
        about = ConnectionRecord(connection=number, kind=self.kind, target=target.label, opened=opened)
        self.open_at[target.label] += 1
        return Connection(connected, about, self.terms, self._ended), target

    def _target(self) -> Target:
        """Of the next few targets the one with the fewest connections: these last, so chance would leave some idle."""
        some = [target for _ in range(_CHOICE) if (target := self.targets.pick()) is not None]
        if not some:
            raise OSError(errno.EHOSTUNREACH, "no target listed")
        return min(some, key=lambda target: self.open_at[target.label])

    def _ended(self, record: ConnectionRecord) -> None:
        self.open_at[record.target] -= 1
        self.told(record)


@dataclass(slots=True)
class Connections:
    """The connections that some lanes share: one as a rule, more while they need more streams than it carries.

    Attributes:
        users: how many lanes have them.
    """

    dialer: Dialer
    expectation: Expectation
    users: int = 0
    _live: list[tuple[Connection, Target]] = field(default_factory=list)
    _dialling: threading.Lock = field(default_factory=threading.Lock)
    _failed: tuple[float, OSError | UnicodeError | None] = (0.0, None)

    def send(self, request: StreamRequest, record: Record) -> None:
        """Sends the request once and fills in what became of it; a failure is data, not an exception."""
        record.sent = time.time()
        deadline = time.monotonic() + self.dialer.limits.timeout_seconds
        stream = Stream(record, StreamAnswer(self.expectation, request.method == b"HEAD"), request.body)
        try:
            connection = self._begun(stream, request, deadline)
        except (OSError, UnicodeError) as error:
            record.client_outcome = "no_connection" if means_no_connection(error) else "local_error"
            record.error, record.done = text_of(error), time.time()
            return
        connection.await_end(stream, deadline)

    def leave(self) -> None:
        """One lane needs them no more; the last one closes them."""
        self.users -= 1
        if self.users > 0:
            return
        for connection, _ in self._live:
            connection.close()
        self._live.clear()

    def _begun(self, stream: Stream, request: StreamRequest, deadline: float) -> Connection:
        """The connection on which the request was begun.

        Raises:
            OSError: none could be made; nothing was sent.
        """
        if (found := self._on_a_live_one(stream, request)) is not None:
            return found
        asked = time.monotonic()
        with self._dialling:
            for _ in range(_TRIES):
                if (found := self._on_a_live_one(stream, request)) is not None:
                    return found
                began, failure = self._failed
                if failure is not None and began >= asked:
                    raise failure  # one who shares it dialled in vain meanwhile, for this request too
                self._dial(stream.record, deadline)
            if (found := self._on_a_live_one(stream, request)) is not None:
                return found
        raise OSError(errno.ECONNREFUSED, f"{_TRIES} connections were told to go away before they carried anything")

    def _on_a_live_one(self, stream: Stream, request: StreamRequest) -> Connection | None:
        for connection, target in self._live:
            if connection.begin(stream, request, target):
                return connection
        return None

    def _dial(self, record: Record, deadline: float) -> None:
        began = time.monotonic()
        self._live = [(connection, target) for connection, target in self._live if not connection.is_over]
        try:
            self._live.append(self.dialer.connect(record, deadline))
        except (OSError, UnicodeError) as error:
            self._failed = began, error
            raise
