"""Listening sockets on loopback for calibration's small servers, opened one by one and closed together."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable

from swarmtest.traffic.targets import Target


class Doors:
    """Addresses of a server that runs in this process.

    Attributes:
        closed: an address at which nobody listens, held so that nobody else can.
    """

    def __init__(self) -> None:
        self._sockets: list[socket.socket] = []
        self.closed = self._bind()[1]

    def close(self) -> None:
        """Closes all of them, and ends who waits at one."""
        for opened in self._sockets:
            # Wakes a thread that waits in accept(); close() alone doesn't.
            with contextlib.suppress(OSError):
                opened.shutdown(socket.SHUT_RDWR)
            opened.close()

    def open(self, serve: Callable[[socket.socket], None]) -> Target:
        """One more address; ``serve`` gets its listening socket, in a thread of its own."""
        listener, target = self._bind()
        listener.listen(16)
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
        return target

    def _bind(self) -> tuple[socket.socket, Target]:
        bound = socket.socket()
        bound.bind(("127.0.0.1", 0))
        self._sockets.append(bound)
        return bound, Target.from_text(f"127.0.0.1:{bound.getsockname()[1]}")
