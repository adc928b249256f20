"""Locust's users: what starts each request of a kind, when it's due or when the one before is over."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from swarmtest.traffic.ledger import Ledger
from swarmtest.traffic.pacing import Pace

TOO_LATE_SECONDS = 1.0
"""An arrival that the client is later with than this isn't sent any more, but counted as missed: after a stall of our
own, all that was due meanwhile would come at once, as no crowd does."""

LAST_MOMENT_SECONDS = 0.05
"""What's due so shortly before the stop may not have been woken before it."""


class Stop(Protocol):
    """An event that's set when no new request may start."""

    def is_set(self) -> bool: ...

    def wait(self, timeout: float) -> bool: ...


class Crew(Protocol):
    """Runs calls beside each other; ``gevent.pool.Group`` is one."""

    def spawn(self, call: Callable[[int, float], None], n: int, due: float, /) -> object: ...

    def join(self) -> object: ...


class Sends(Protocol):
    """One lane of a protocol."""

    def send(self, n: int, due: float, /) -> None:
        """Sends request ``n``, which was due at this time of the monotonic clock; returns when it's over."""

    def close(self) -> None:
        """Closes what's open when nothing more is to be sent."""


@dataclass(slots=True)
class Arrivals:
    """One user for all requests of a kind: each starts when it's due, however long those before it take.

    Attributes:
        lanes: request ``n`` goes on lane ``n`` modulo their number.
        crew: runs the requests beside each other.
    """

    pace: Pace
    lanes: Sequence[Sends]
    ledger: Ledger
    crew: Crew

    def run(self, start: float, stop: Stop) -> None:
        """Sends until ``stop`` is set or nothing is left to send; what's open then is brought to its end.

        Arguments:
            start: instant 0 of the pace, by the monotonic clock.
        """
        try:
            n = self._start_each(start, stop)
            due = self.pace.due_by(time.monotonic() - start - LAST_MOMENT_SECONDS, n)
            self.ledger.missed += max(0, due - n)
        finally:
            self.crew.join()
            for lane in self.lanes:
                lane.close()

    def _start_each(self, start: float, stop: Stop) -> int:
        """The first request that wasn't started, nor given up."""
        n = 0
        while not self.pace.is_over(n):
            due = start + self.pace.instant(n)
            delay = due - time.monotonic()
            if stop.wait(delay) if delay > 0 else stop.is_set():
                break
            if delay < -TOO_LATE_SECONDS:
                self.ledger.missed += 1
            elif not self.ledger.has_room:
                self.ledger.missed += 1
                self.ledger.no_room += 1
            else:
                self.crew.spawn(self.lanes[n % len(self.lanes)].send, n, due)
            n += 1
        return n


@dataclass(slots=True)
class Loop:
    """One of several users of a kind that knows no schedule: sends its next request when the last one is over.

    Attributes:
        number, of: which of how many users it is.
    """

    number: int
    of: int
    lane: Sends
    pace: Pace

    def run(self, _start: float, stop: Stop) -> None:
        """Sends until ``stop`` is set or nothing is left to send."""
        n = self.number
        try:
            while not stop.is_set() and not self.pace.is_over(n):
                self.lane.send(n, time.monotonic())
                n += self.of
        finally:
            self.lane.close()
