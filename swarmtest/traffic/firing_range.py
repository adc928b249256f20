"""The server of the calibration shot: treats each request as its path says, and counts.

It counts what reaches it by request ID and by connection, so that a request which is sent again
behind the client's back is seen.
"""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections import Counter
from dataclasses import dataclass
from types import TracebackType
from typing import Literal, Self

from swarmtest.traffic.doors import Doors
from swarmtest.traffic.targets import Target

INSTANCE = "calibration"


@dataclass(frozen=True, slots=True)
class Way:
    """How a request is treated: what is answered, then what happens to the connection."""

    answer: bytes
    ending: Literal["keep", "close", "reset", "stall"]


_HEADERS = b"<instance and request ID>"
_HEAD = b"HTTP/1.1 200 OK\r\n" + _HEADERS
WAYS = {
    "unanswered": Way(b"", "close"),
    "cut_in_headers": Way(_HEAD + b"Content-Len", "close"),
    "cut_in_body": Way(_HEAD + b"Content-Length: 100\r\n\r\nfour", "close"),
    "reset_in_body": Way(_HEAD + b"Content-Length: 100\r\n\r\nfour", "reset"),
    "cut_in_chunks": Way(_HEAD + b"Transfer-Encoding: chunked\r\n\r\n4\r\nfour\r\n", "close"),
    "cut_without_length": Way(_HEAD + b"Connection: close\r\n\r\nfour", "close"),
    "stalled": Way(b"", "stall"),
    "malformed": Way(b"220 mail.example ESMTP\r\n", "close"),
    "whole": Way(_HEAD + b"Content-Length: 4\r\n\r\nfour", "keep"),
    "whole_in_chunks": Way(_HEAD + b"Transfer-Encoding: chunked\r\n\r\n4\r\nfour\r\n0\r\n\r\n", "keep"),
    "closed_when_idle": Way(_HEAD + b"Content-Length: 4\r\n\r\nfour", "close"),
}
_PATIENCE_SECONDS = 10.0


class FiringRange:
    """A server on loopback for as long as the ``with`` block lasts.

    Each place in the list of shots has a door of its own, so that even a connection which is never
    read can be put down to its shot.

    Attributes:
        hits: how often each request ID was read.
        connections: how many connections each place was sent.
        closed_door: an address at which nobody listens, held so that nobody else can.
    """

    def __init__(self, instance_header: str, request_id_header: str) -> None:
        self.request_id_header = request_id_header
        self._instance_line = f"{instance_header}: {INSTANCE}\r\n"
        self.hits: Counter[str] = Counter()
        self.connections: Counter[int] = Counter()
        self._closes: Counter[int] = Counter()
        self._lock = threading.Lock()
        self._doors = Doors()
        self.closed_door = self._doors.closed

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._doors.close()

    def door_of(self, place: int, way: str) -> Target:
        """Opens a door for the shot at ``place``."""
        return self._doors.open(lambda listener: self._accept(listener, place, way))

    def wait_for_closes(self, place: int, number: int) -> None:
        """Returns when the server has closed ``number`` connections of this place."""
        until = time.monotonic() + _PATIENCE_SECONDS
        while self._closes[place] < number and time.monotonic() < until:
            time.sleep(0.001)

    def _accept(self, listener: socket.socket, place: int, way: str) -> None:
        while True:
            try:
                accepted, _ = listener.accept()
            except OSError:
                return
            with self._lock:
                self.connections[place] += 1
            threading.Thread(target=self._treat_all, args=(accepted, place, way), daemon=True).start()

    def _treat_all(self, accepted: socket.socket, place: int, way: str) -> None:
        accepted.settimeout(_PATIENCE_SECONDS)
        try:
            if way == "unread":
                # Closed with bytes unread, which the kernel turns into a reset.
                accepted.recv(1, socket.MSG_PEEK)
                return
            turn = 0
            while request_id := self._read_request(accepted):
                turn += 1
                if not self._treat(accepted, self._way(way, turn), request_id):
                    return
        except OSError:
            pass  # the client went away first; its own count says whether it should have
        finally:
            accepted.close()
            with self._lock:
                self._closes[place] += 1

    @staticmethod
    def _way(name: str, turn: int) -> Way:
        if name == "second_unanswered":
            name = "whole" if turn == 1 else "unanswered"
        return WAYS[name]

    def _read_request(self, accepted: socket.socket) -> str | None:
        data = b""
        while b"\r\n\r\n" not in data:
            more = accepted.recv(65536)
            if not more:
                return None
            data += more
        wanted = self.request_id_header.lower() + ":"
        for line in data.decode("latin-1").split("\r\n"):
            if line.lower().startswith(wanted):
                request_id = line[len(wanted) :].strip()
                with self._lock:
                    self.hits[request_id] += 1
                return request_id
        return None

    def _treat(self, accepted: socket.socket, way: Way, request_id: str) -> bool:
        headers = f"{self._instance_line}{self.request_id_header}: {request_id}\r\n".encode()
        accepted.sendall(way.answer.replace(_HEADERS, headers))
        if way.ending == "reset":
            accepted.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif way.ending == "stall":
            accepted.recv(1)
        return way.ending == "keep"
