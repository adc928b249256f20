"""The server of HTTP/2's calibration shot: waits for some streams on a connection, then does with them what's asked.

What it says is put together frame by frame, since a server that keeps to the rules couldn't break them.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Mapping

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import PingAckReceived, RequestReceived
from h2.exceptions import H2Error
from hyperframe.frame import GoAwayFrame

from swarmtest.traffic.firing_range import INSTANCE, FiringRange

ANNOUNCED = 2**31 - 1
"""The last stream of a GOAWAY that only announces another one."""

BATCH = 4
"""So many streams are waited for before anything is done with them."""


class Visit:
    """One connection from the server's side."""

    def __init__(self, accepted: socket.socket, server: Http2Range) -> None:
        self._socket, self._server = accepted, server
        self._wire = H2Connection(H2Configuration(client_side=False, header_encoding=None))
        self.streams: dict[int, bytes] = {}
        self._answered: set[int] = set()
        self._pinged = False

    def greet(self) -> None:
        """Begins as a server of HTTP/2 does."""
        self._wire.initiate_connection()
        self._flush()

    def answer_in_http1(self) -> None:
        """Reads something, whatever it is, and answers as a server does that knows HTTP/1 only."""
        self._socket.recv(65536)
        self._socket.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    def read_until(self, ready: Callable[[], bool]) -> bool:
        """Reads until that's so; False when the client is gone first."""
        while not ready():
            try:
                data = self._socket.recv(65536)
                events = self._wire.receive_data(data) if data else []
            except (OSError, H2Error):
                return False
            if not data:
                return False
            for event in events:
                if isinstance(event, RequestReceived):
                    self._note(event)
                self._pinged = self._pinged or isinstance(event, PingAckReceived)
            self._flush()
        return True

    def _note(self, event: RequestReceived) -> None:
        wanted = self._server.request_id_header.lower().encode()
        request_id = next((value for name, value in event.headers or [] if name == wanted), b"")
        self.streams[event.stream_id or 0] = bytes(request_id)
        self._server.hit(bytes(request_id).decode("latin-1"))

    def await_batch(self, size: int = BATCH) -> bool:
        """Reads until so many streams are open that have no answer yet."""
        return self.read_until(lambda: len(self.open) >= size)

    @property
    def open(self) -> list[int]:
        """Streams without an answer, in their order."""
        return [number for number in sorted(self.streams) if number not in self._answered]

    def answer(self, number: int, length: bytes = b"4", ends: bool = True) -> None:
        """Answers a stream with four bytes."""
        head = [
            (b":status", b"200"),
            (self._server.instance_header, INSTANCE.encode()),
            (self._server.request_id_header.lower().encode(), self.streams[number]),
            (b"content-length", length),
        ]
        self._wire.send_headers(number, head)
        self._wire.send_data(number, b"four", end_stream=ends)
        self._answered.add(number)
        self._flush()

    def reset(self, number: int, code: ErrorCodes) -> None:
        """Resets a stream."""
        self._wire.reset_stream(number, code)
        self._answered.add(number)
        self._flush()

    def go_away(self, last: int) -> None:
        """Says goodbye; the library would say nothing more after it."""
        self._socket.sendall(GoAwayFrame(0, last_stream_id=last).serialize())

    def round_trip(self) -> bool:
        """Waits until the client has read all that was said."""
        self._pinged = False
        self._wire.ping(b"roundtri")
        self._flush()
        return self.read_until(lambda: self._pinged)

    def end(self) -> None:
        """Says that nothing more comes, then reads until the client is gone.

        A socket closed with bytes unread, say a late acknowledgement of settings, resets the connection, and the
        reset throws away what the client hasn't read yet.
        """
        self._socket.shutdown(socket.SHUT_WR)
        while self._socket.recv(65536):
            pass

    def _flush(self) -> None:
        self._socket.sendall(self._wire.data_to_send())


def _whole(visit: Visit) -> None:
    while visit.await_batch(1):
        for number in visit.open:
            visit.answer(number)


def _goaway_twice(visit: Visit) -> None:
    visit.await_batch()
    visit.go_away(ANNOUNCED)
    visit.round_trip()
    visit.go_away(max(visit.streams))
    for number in visit.open:
        visit.answer(number)


def _goaway_below(visit: Visit) -> None:
    visit.await_batch()
    first, second, *_ = visit.open
    visit.go_away(second)
    visit.answer(first)
    visit.answer(second)
    visit.round_trip()


def _goaway_then_close(visit: Visit) -> None:
    visit.await_batch()
    first, second, *_ = visit.open
    visit.go_away(second)
    visit.answer(first)


def _refused(visit: Visit) -> None:
    while visit.await_batch():
        for number in visit.open:
            visit.reset(number, ErrorCodes.REFUSED_STREAM)


def _reset_in_body(visit: Visit) -> None:
    while visit.await_batch():
        first, second, *rest = visit.open
        visit.answer(first, b"100", ends=False)
        visit.reset(first, ErrorCodes.INTERNAL_ERROR)
        visit.reset(second, ErrorCodes.INTERNAL_ERROR)
        for number in rest:
            visit.answer(number)


def _closed(visit: Visit) -> None:
    visit.await_batch()
    visit.answer(visit.open[0], b"100", ends=False)
    visit.round_trip()


def _short(visit: Visit) -> None:
    while visit.await_batch():
        first, *rest = visit.open
        visit.answer(first, b"100")
        for number in rest:
            visit.answer(number)


def _stalled(visit: Visit) -> None:
    visit.read_until(lambda: False)


WAYS: Mapping[str, Callable[[Visit], None]] = {
    "whole": _whole,
    "goaway_twice": _goaway_twice,
    "goaway_below": _goaway_below,
    "goaway_then_close": _goaway_then_close,
    "refused_stream": _refused,
    "reset_in_body": _reset_in_body,
    "closed": _closed,
    "short": _short,
    "stalled": _stalled,
    "malformed": Visit.answer_in_http1,
}
"""What's done on each connection, then it's closed."""


class Http2Range(FiringRange):
    """The same server for HTTP/2; a way is what's done with a whole connection."""

    @property
    def instance_header(self) -> bytes:
        """The header in which it names itself."""
        return self._instance_line.partition(":")[0].lower().encode()

    def hit(self, request_id: str) -> None:
        """Counts a request that was read."""
        with self._lock:
            self.hits[request_id] += 1

    def _treat_all(self, accepted: socket.socket, place: int, way: str) -> None:
        accepted.settimeout(10.0)
        # The client may go away first; its own count says whether it should have.
        with accepted, contextlib.suppress(OSError, H2Error, ValueError):
            visit = Visit(accepted, self)
            if way != "malformed":
                visit.greet()
            WAYS[way](visit)
            visit.end()
        with self._lock:
            self._closes[place] += 1
