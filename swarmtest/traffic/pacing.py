"""Who sends what when: plain arithmetic, so that a run's traffic is known before it starts.

Locust's users are a closed loop: a slow answer delays the next request, which hides what a real
crowd would have met. So users are used as *lanes*. The requests of a kind are numbered 0, 1, 2, …
and have an instant each; request ``n`` belongs to lane ``n mod lanes``. There are enough lanes that
each one is done with its request, even with the longest, before its next is due; where the app is
slower than that, a lane sends the next one beside it. What can't be sent in time anyway is sent late
or counted as missed, never silently left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from random import Random

from swarmtest.traffic.settings import Kind

BLOCK = 32
"""Requests in a block: each block of a kind holds the same durations, in another order."""


def lanes_needed(rate: float, longest_seconds: float) -> int:
    """How many users meet ``rate`` although each request takes ``longest_seconds``.

    A quarter of the time and half a second on top, and never less than a second between two
    requests of a lane, so that a slow moment of the app doesn't turn into a slower client.
    """
    return max(1, math.ceil(rate * max(1.0, 1.25 * longest_seconds + 0.5)))


def lanes_of(kind: Kind) -> int:
    """The users of a kind: the number asked for, or as many as it takes; of streams, one for each session."""
    if kind.is_stream:
        return kind.sessions or 1
    return kind.lanes if kind.lanes is not None else lanes_needed(kind.rate, kind.milliseconds[1] / 1000)


def is_fresh(lane: int, fresh_share: float) -> bool:
    """Whether this lane opens a connection for each request; spread evenly over the lanes."""
    return math.floor((lane + 1) * fresh_share) > math.floor(lane * fresh_share)


@lru_cache(maxsize=1024)
def _block(seed: int, kind: str, block: int, shortest: int, longest: int) -> tuple[tuple[float, int], ...]:
    # Sorting by random() instead of shuffle(): only random() is promised to stay the same between
    # versions of Python, and the same seed must send the same list on all of them.
    generator = Random(f"{seed}/{kind}/{block}")
    step = (longest - shortest) / (BLOCK - 1)
    durations = [round(shortest + step * n) for n in range(BLOCK)]
    order = sorted(range(BLOCK), key=lambda _: generator.random())
    return tuple((generator.random(), durations[n]) for n in order)


@dataclass(frozen=True, slots=True)
class Pace:
    """The plan of one kind of traffic; all times are seconds after the start.

    Attributes:
        lanes: users that share the rate.
        milliseconds: shortest and longest duration; both ends occur in each block.
        count: so many requests there are; None for no end.
    """

    kind: str
    rate: float
    lanes: int
    milliseconds: tuple[int, int]
    seed: int
    count: int | None = None

    @classmethod
    def of(cls, kind: Kind, seed: int) -> Pace:
        """The pace that a kind's settings ask for."""
        return cls(kind.name, kind.rate, lanes_of(kind), kind.milliseconds, seed, kind.count)

    def is_over(self, n: int) -> bool:
        """Whether there's no request ``n``, since all are sent before it."""
        return self.count is not None and n >= self.count

    def instant(self, n: int) -> float:
        """When request ``n`` is due: somewhere inside its own slot, so that one lane's requests
        don't fall into step with a proxy that takes its servers in turn."""
        return (n + self._drawn(n)[0]) / self.rate

    def duration_ms(self, n: int) -> int:
        """The milliseconds that request ``n`` asks the app to take.

        Evenly spread from the shortest to the longest; a seed changes the order, not the list.
        """
        return self._drawn(n)[1]

    def next_of_lane(self, lane: int, last: int | None, elapsed: float) -> tuple[int, int]:
        """The lane's next request after ``last``, and how many of its requests are missed by then.

        A lane that comes late sends the latest request that's due, at once; those before it are
        missed.
        """
        n = lane if last is None else last + self.lanes
        # The slot that holds `elapsed`, brought down to this lane's latest one.
        latest = math.floor(elapsed * self.rate)
        if self.count is not None:
            latest = min(latest, self.count - 1)
        latest -= (latest - lane) % self.lanes
        while latest > n and self.instant(latest) > elapsed:
            latest -= self.lanes
        if latest <= n:
            return n, 0
        return latest, (latest - n) // self.lanes

    def due_by(self, elapsed: float) -> int:
        """How many requests are due by ``elapsed`` seconds after the start."""
        if elapsed < 0:
            return 0
        whole = math.floor(elapsed * self.rate)
        due = whole + (self.instant(whole) <= elapsed)
        return due if self.count is None else min(due, self.count)

    def _drawn(self, n: int) -> tuple[float, int]:
        return _block(self.seed, self.kind, n // BLOCK, *self.milliseconds)[n % BLOCK]
