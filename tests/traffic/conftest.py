"""A server on loopback that does what a test's script says, and a client to send with."""

from __future__ import annotations

import contextlib
import itertools
import socket
import struct
import threading
from collections.abc import Callable, Iterator

import pytest

from swarmtest.traffic.answers import Expectation
from swarmtest.traffic.http1 import Client, Limits, Request
from swarmtest.traffic.records import Record
from swarmtest.traffic.targets import FrontDoor, Target, Targets
from tests.ports import free_port

Script = Callable[["Visit"], None]


class Visit:
    """One accepted connection, as a script sees it."""

    def __init__(self, accepted: socket.socket, number: int) -> None:
        self.socket, self.number = accepted, number

    def read_request(self) -> bytes:
        """The head of the next request, or nothing when the client closed."""
        data = b""
        while b"\r\n\r\n" not in data:
            more = self.socket.recv(65536)
            if not more:
                return b""
            data += more
        return data

    def say(self, data: bytes) -> None:
        self.socket.sendall(data)

    def reset(self) -> None:
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def wait_for_the_client_to_close(self) -> None:
        while self.socket.recv(65536):
            pass


class Server:
    """Runs the script for each connection, and keeps each request's head."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._listener = socket.create_server(("127.0.0.1", free_port()), backlog=64)
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.requests: list[bytes] = []
        self.connections = 0
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def _accept(self) -> None:
        while True:
            try:
                accepted, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            thread = threading.Thread(target=self._visit, args=(accepted, self.connections))
            self._threads.append(thread)
            thread.start()

    def _visit(self, accepted: socket.socket, number: int) -> None:
        accepted.settimeout(10)
        visit = Visit(accepted, number)
        read = visit.read_request

        def reading() -> bytes:
            head = read()
            if head:
                self.requests.append(head)
            return head

        visit.read_request = reading  # type: ignore[method-assign]
        with accepted, contextlib.suppress(OSError):
            self._script(visit)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in list(self._threads):
            thread.join(10)


@pytest.fixture
def serve() -> Iterator[Callable[[Script], Server]]:
    started: list[Server] = []

    def start(script: Script) -> Server:
        started.append(Server(script))
        return started[-1]

    yield start
    for server in started:
        server.close()


class Sender:
    """A client under test; ``send`` makes the record and returns it filled in."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self._numbers = itertools.count(1)

    def send(self, path: str = "/work", method: str = "GET", body: bytes = b"") -> Record:
        request_id = f"r-{next(self._numbers)}"
        length = f"Content-Length: {len(body)}\r\n" if body else ""
        record = Record(id=request_id, kind="test", method=method, path=path, planned=0.0)
        self.client.send(Request(method, path, f"X-Request-ID: {request_id}\r\n{length}", body), record)
        return record


@pytest.fixture
def make_sender() -> Iterator[Callable[..., Sender]]:
    made: list[Sender] = []

    def make(
        target: str | Targets,
        *,
        keeps: bool = False,
        timeout_seconds: float = 5.0,
        connect_timeout_seconds: float = 5.0,
        end_marker: bytes | None = None,
        expect_bytes: int | None = None,
    ) -> Sender:
        targets = FrontDoor(Target.from_text(target)) if isinstance(target, str) else target
        expectation = Expectation(b"x-instance-id", b"x-request-id", end_marker, expect_bytes)
        limits = Limits(timeout_seconds, connect_timeout_seconds)
        made.append(Sender(Client(targets, limits, expectation, keeps=keeps, numbers=itertools.count(1))))
        return made[-1]

    yield make
    for sender in made:
        sender.client.close()
