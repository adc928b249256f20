"""WebSocket: one stream of a session, from its upgrade to its end.

wsproto knows the protocol, this file the socket and the clock. What matters is told apart: a close
frame, and a connection that just ended; only the first one lets a client come back with nothing lost.
"""

from __future__ import annotations

import contextlib
import socket
import time
from dataclasses import dataclass, field
from typing import Any

import msgspec
from wsproto import ConnectionType, WSConnection
from wsproto.connection import ConnectionState
from wsproto.events import (
    AcceptConnection,
    CloseConnection,
    Event,
    Ping,
    Pong,
    RejectConnection,
    Request,
    TextMessage,
)
from wsproto.utilities import LocalProtocolError, RemoteProtocolError

from swarmtest.traffic.exchange import is_own_timeout, text_of
from swarmtest.traffic.sessions import FARE_WELL_SECONDS, GLANCE_SECONDS, Opening
from swarmtest.traffic.streams import Stop, StreamRecord

NORMAL = 1000
PINGS = 3
"""Pings within the time after which silence counts as the end."""
_CHUNK = 65536


def hold(connected: socket.socket, opening: Opening, record: StreamRecord, stop: Stop) -> None:
    """Opens a WebSocket on a connected socket and holds it until it ends or the traffic does."""
    held = _Held(connected, opening, record)
    try:
        held.open()
        while not held.over and not stop.is_set():
            held.turn()
        if not held.over:
            held.take_leave()
    except OSError as error:
        held.read_what_is_left()
        held.fail(error)
    except (RemoteProtocolError, LocalProtocolError) as error:
        record.client_outcome, record.error = "malformed", text_of(error)


@dataclass(slots=True)
class _Held:
    connected: socket.socket
    opening: Opening
    record: StreamRecord
    over: bool = False
    wire: WSConnection = field(default_factory=lambda: WSConnection(ConnectionType.CLIENT))
    heard: float = 0.0
    next_ping: float = 0.0
    next_message: float = 0.0
    parts: list[str] = field(default_factory=list)

    def open(self) -> None:
        """Sends the upgrade and reads until it's answered, one way or another."""
        opening = self.opening
        headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in opening.lines]
        self._send(Request(host=opening.host, target=opening.path, extra_headers=headers))
        until = time.monotonic() + opening.limits.connect_timeout_seconds
        while self.record.opened is None and not self.over:
            self._read(max(until - time.monotonic(), 0.001))
        now = self.heard = time.monotonic()
        self.next_ping = now + opening.limits.timeout_seconds / PINGS
        self.next_message = now

    def turn(self) -> None:
        """Sends what's due, and takes what comes within a glance."""
        now, limits = time.monotonic(), self.opening.limits
        if now >= self.next_ping:
            self.next_ping = now + limits.timeout_seconds / PINGS
            self._send(Ping())
        if self.opening.rate > 0 and now >= self.next_message:
            self.next_message = max(self.next_message + 1 / self.opening.rate, now)
            self._say()
        due = self.next_message if self.opening.rate > 0 else now + GLANCE_SECONDS
        self._glance(min(GLANCE_SECONDS, max(due - time.monotonic(), 0.001)))
        if not self.over and time.monotonic() - self.heard > limits.timeout_seconds:
            self.over = True
            self.record.client_outcome = "timed_out"
            self.record.error = f"nothing came for {limits.timeout_seconds:g} s"

    def take_leave(self) -> None:
        """Ends it as a client that leaves: waits for answers to what it has sent, then for the close frame."""
        until = time.monotonic() + FARE_WELL_SECONDS
        while self.opening.numbers.waiting and time.monotonic() < until:
            self._glance(GLANCE_SECONDS)
            if self.over:
                return
        self.record.client_outcome, self.record.code = "closed_by_client", NORMAL
        self.record.closed = time.time()
        self._send(CloseConnection(code=NORMAL, reason="the traffic is over"))
        while time.monotonic() < until:
            self._glance(GLANCE_SECONDS)
            if self.over:
                return

    def read_what_is_left(self) -> None:
        """A peer may close and reset while we send: its close frame is in the buffer all the same."""
        with contextlib.suppress(OSError, RemoteProtocolError, LocalProtocolError):
            while not self.over:
                self._read(0.001)

    def fail(self, error: OSError) -> None:
        """What an error of the socket's means, by how far the stream had come."""
        record = self.record
        if self.over or record.client_outcome == "closed_by_client":
            return
        record.error = text_of(error)
        if is_own_timeout(error):
            record.client_outcome = "timed_out"
        else:
            record.client_outcome = "closed_unopened" if record.opened is None else "cut"

    def _say(self) -> None:
        """Sends the next message: first those that the last close frame had told weren't taken."""
        numbers = self.opening.numbers
        if numbers.again:
            number = min(numbers.again)
            identity = numbers.again.pop(number)
            self.record.resent += 1
            self.next_message = time.monotonic()
        else:
            number = numbers.next_own()
            identity = f"{self.record.session}-m{number}"
        numbers.waiting[number] = identity
        self.record.sent += 1
        self._send(TextMessage(data=msgspec.json.encode({"n": number, "id": identity}).decode()))

    def _send(self, event: Event) -> None:
        data = self.wire.send(event)
        self.connected.settimeout(self.opening.limits.connect_timeout_seconds)
        self.connected.sendall(data)

    def _glance(self, seconds: float) -> None:
        try:
            self._read(seconds)
        except OSError as error:
            if not is_own_timeout(error):
                raise

    def _read(self, seconds: float) -> None:
        self.connected.settimeout(seconds)
        data = self.connected.recv(_CHUNK)
        self.heard = time.monotonic()
        if not data:
            self._ended()
            return
        self.wire.receive_data(data)
        for event in self.wire.events():
            self._take(event)

    def _ended(self) -> None:
        self.over = True
        if self.record.client_outcome != "closed_by_client":
            opened = self.record.opened is not None
            self.record.client_outcome = "cut" if opened else "closed_unopened"
            self.record.error = "closed without a close frame" if opened else "closed without an answer"

    def _take(self, event: Event) -> None:
        match event:
            case AcceptConnection():
                self.record.opened, self.record.status = time.time(), 101
                self.record.instance = self._instance(event.extra_headers)
            case RejectConnection():
                self.over = True
                self.record.client_outcome, self.record.status = "turned_away", event.status_code
                self.record.instance = self._instance(event.headers)
            case Ping():
                self._send(event.response())
            case TextMessage():
                self.parts.append(event.data)
                if event.message_finished:
                    text, self.parts = "".join(self.parts), []
                    self._hear(text)
            case CloseConnection():
                self._told_to_close(event)
            case Pong() | _:
                pass

    def _told_to_close(self, event: CloseConnection) -> None:
        self.over = True
        if self.record.client_outcome == "closed_by_client":
            return  # it's the answer to ours
        if self.wire.state is not ConnectionState.REMOTE_CLOSING:
            self.record.client_outcome, self.record.error = "malformed", event.reason or "a broken frame"
            return
        self.record.client_outcome, self.record.closed = "closed_by_server", time.time()
        self.record.code, self.record.reason = int(event.code), event.reason
        self._send(event.response())

    def _hear(self, text: str) -> None:
        """A message of the service's: the answer to one of ours, one of its own numbers, or neither."""
        try:
            said = msgspec.json.decode(text, type=dict[str, Any])
        except msgspec.DecodeError:
            said = {}
        if isinstance(said.get("push"), int):
            self.opening.numbers.see(said["push"], self.record)
        elif isinstance(said.get("n"), int) and str(said.get("id", "")).startswith(self.record.session):
            self.opening.numbers.answer(said["n"], self.record)
        else:
            self.record.unnumbered += 1

    def _instance(self, headers: list[tuple[bytes, bytes]] | Any) -> str | None:
        wanted = self.opening.instance_header.lower().encode("latin-1")
        return next((bytes(value).decode("latin-1") for name, value in headers if bytes(name).lower() == wanted), None)
