"""The forensic HTTP/1.1 client: sends each request once, and says exactly how far its answer came.

No retries, no silent reconnect, no redirects, no pool. What other clients hide is the very thing
to be counted: a request that's cut before its first byte is sent again by geventhttpclient and by
Go's transport, and one that's cut inside the headers passes for a success in ``http.client``.

Written on the standard ``socket`` module with time-outs. In Locust's process that module is
patched, so the same code waits in gevent there and in the kernel elsewhere.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass

from swarmtest.traffic.answers import Answer, Expectation
from swarmtest.traffic.dialing import dial, means_no_connection
from swarmtest.traffic.exchange import Exchange, text_of
from swarmtest.traffic.records import Record
from swarmtest.traffic.targets import Target, Targets
from swarmtest.traffic.waiting import plain, waits_for


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a request may take in all, and how long its connecting, in seconds."""

    timeout_seconds: float
    connect_timeout_seconds: float


@dataclass(frozen=True, slots=True)
class Request:
    """What goes out: ``lines`` are the header lines that follow ``Host``, each with its CRLF.

    ``host`` stands in ``Host`` where a proxy chooses by it; by default that's the target's own.
    """

    method: str
    path: str
    lines: str
    body: bytes = b""
    host: str | None = None

    def encoded(self, target: Target) -> bytes:
        """The bytes of the request for this target."""
        host = target.label if self.host is None else self.host
        head = f"{self.method} {target.prefix}{self.path} HTTP/1.1\r\nHost: {host}\r\n{self.lines}\r\n"
        return head.encode("latin-1") + self.body


class Connection:
    """A connected socket, what waits for it, and the number under which records name it."""

    __slots__ = ("_plain", "name", "socket", "target", "waits")

    def __init__(self, connected: socket.socket, target: Target, name: str) -> None:
        connected.settimeout(0.0)
        self.socket, self.target, self.name = connected, target, name
        self.waits = waits_for(connected)
        self._plain = plain(connected)

    def is_usable(self) -> bool:
        """Whether the peer has neither closed nor said anything since the last answer.

        An idle close, and a 408 or a stray line that precedes it, is no loss: nothing is under way.
        """
        try:
            self._plain.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            pass
        return False

    def close(self) -> None:
        """Closes it."""
        self.waits.close()
        self.socket.close()


class Client:
    """One user's client: at most one connection, at most one request at a time.

    Arguments:
        keeps: whether the connection is kept for the next request.
        numbers: gives each connection its number, shared by all clients of the process.
    """

    def __init__(
        self, targets: Targets, limits: Limits, expectation: Expectation, *, keeps: bool, numbers: Iterator[int]
    ) -> None:
        self._targets = targets
        self._limits = limits
        self._expectation = expectation
        self._keeps = keeps
        self._numbers = numbers
        self._connection: Connection | None = None

    def close(self) -> None:
        """Closes the kept connection, if there is one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def send(self, request: Request, record: Record) -> None:
        """Sends the request once and fills in what became of it; a failure is data, not an exception."""
        record.sent = time.time()
        deadline = time.monotonic() + self._limits.timeout_seconds
        connection = self._kept(record) or self._connected(record, deadline)
        if connection is None:
            record.done = time.time()
            return
        record.connection, record.target = connection.name, connection.target.label
        data = request.encoded(connection.target)
        exchange = self._exchange(connection.socket, request, record, deadline)
        exchange.waits = connection.waits
        try:
            exchange.run(data)
        finally:
            stays = self._keeps and exchange.left_clean(len(data))
            if not stays:
                self.close()
        record.done = time.time()
        exchange.settle()

    def _exchange(self, connected: socket.socket, request: Request, record: Record, deadline: float) -> Exchange:
        """How this client sends a request and reads its answer, for protocols that do it in a way of their own."""
        return Exchange(connected, Answer(self._expectation, request.method == "HEAD"), record, deadline)

    def _kept(self, record: Record) -> Connection | None:
        if self._connection is None:
            return None
        if self._connection.is_usable():
            record.reused = True
            return self._connection
        self.close()
        return None

    def _connected(self, record: Record, deadline: float) -> Connection | None:
        target = self._targets.pick()
        if target is None:
            record.client_outcome, record.error = "no_connection", "no target listed"
            return None
        record.target = target.label
        until = min(deadline, time.monotonic() + self._limits.connect_timeout_seconds)
        try:
            connected = dial(target, until)
        except (OSError, UnicodeError) as error:
            record.client_outcome = "no_connection" if means_no_connection(error) else "local_error"
            record.error = text_of(error)
            return None
        record.connected = time.time()
        self._connection = Connection(connected, target, f"c{next(self._numbers)}")
        return self._connection
