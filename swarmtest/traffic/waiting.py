"""Waits until a connected socket is ready, with a deadline.

In Locust's process sockets are gevent's. Their own ``recv`` with a time-out costs as much as all the rest of a
short request, so the plain socket beneath is used for the bytes, and gevent's hub for the waiting. Elsewhere the
kernel's ``poll`` waits.
"""

from __future__ import annotations

import select
import socket
import time
from typing import Any, Protocol


class Waits(Protocol):
    """Waits for one socket, up to a deadline by the monotonic clock; raises ``TimeoutError`` then."""

    def for_reading(self, deadline: float) -> None:
        """Returns when something has come, or the end."""

    def for_either(self, deadline: float) -> None:
        """Returns when that's so, or when more can be written."""

    def close(self) -> None:
        """Lets go of the socket; to be called before that is closed."""


def plain(connected: socket.socket) -> socket.socket:
    """The socket beneath a connected one, which never waits."""
    beneath: socket.socket = getattr(connected, "_sock", connected)
    return beneath


def waits_for(connected: socket.socket) -> Waits:
    """What waits for this socket in this process."""
    return _Poll(connected) if plain(connected) is connected else _Hub(connected)


class _Poll:
    """Waits in the kernel."""

    __slots__ = ("_socket",)

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected

    def for_reading(self, deadline: float) -> None:
        self._wait(select.POLLIN, deadline)

    def for_either(self, deadline: float) -> None:
        self._wait(select.POLLIN | select.POLLOUT, deadline)

    def _wait(self, events: int, deadline: float) -> None:
        poll = select.poll()
        poll.register(self._socket, events)
        if not poll.poll(_left(deadline) * 1000):
            raise TimeoutError("timed out")

    def close(self) -> None:
        pass


class _Hub:
    """Waits in gevent's hub, by watchers that last as long as the connection."""

    __slots__ = ("_both", "_hub", "_number", "_readable", "_timeout")

    def __init__(self, connected: socket.socket) -> None:
        import gevent  # type: ignore[import-untyped]

        self._hub: Any = gevent.get_hub()
        self._timeout: Any = gevent.Timeout
        self._number = connected.fileno()
        self._readable: Any = self._hub.loop.io(self._number, 1)
        self._both: Any = None

    def for_reading(self, deadline: float) -> None:
        self._wait(self._readable, deadline)

    def for_either(self, deadline: float) -> None:
        if self._both is None:
            self._both = self._hub.loop.io(self._number, 3)
        self._wait(self._both, deadline)

    def _wait(self, watcher: Any, deadline: float) -> None:
        # Told to raise nothing of its own, a time-out leaves the block: an exception is made only where there's one.
        with self._timeout(_left(deadline), False):
            self._hub.wait(watcher)
            return
        raise TimeoutError("timed out")

    def close(self) -> None:
        self._readable.close()
        if self._both is not None:
            self._both.close()


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("timed out")
    return left
