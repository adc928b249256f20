"""Who sends what when: plain arithmetic, so that a run's traffic is known before it starts.

Locust's users are a closed loop: a slow answer delays the next request, which hides what a real
crowd would have met. So arrivals are open here. The requests of a kind are numbered 0, 1, 2, … and
have an instant each, whatever becomes of those before them. Request ``n`` goes on lane
``n mod lanes``: a connection of its own, or a new one each time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate
from random import Random

import msgspec

from swarmtest.traffic.curve import Curve
from swarmtest.traffic.settings import Kind, TrafficSettings

BLOCK = 32
"""Requests in a block: each block of a kind holds the same durations, in another order."""

MOST_LANES = 200
"""Connections among which the requests of a kind are dealt out; each opens more while it's busy."""


def connections_needed(rate: float, longest_seconds: float) -> int:
    """How many connections meet ``rate`` although each request takes ``longest_seconds``.

    A quarter of the time and half a second on top, and never less than a second between two
    requests of a connection, so that a slow moment of the app doesn't open new ones.
    """
    return max(1, math.ceil(rate * max(1.0, 1.25 * longest_seconds + 0.5)))


def lanes_needed(rate: float, longest_seconds: float) -> int:
    """How many lanes that is, up to a number; beyond it a lane has several connections."""
    return min(MOST_LANES, connections_needed(rate, longest_seconds))


def is_fresh(lane: int, fresh_share: float) -> bool:
    """Whether this lane opens a connection for each request; spread evenly over the lanes."""
    return math.floor((lane + 1) * fresh_share) > math.floor(lane * fresh_share)


def share_of(settings: TrafficSettings, part: int, parts: int) -> TrafficSettings:
    """What one of several processes sends: its part of each kind, by a seed of its own.

    Of a kind with fewer requests, users or sessions than processes some get none of it.
    """
    if parts == 1:
        return settings
    shared = (_share_of_kind(kind, part, parts) for kind in settings.kinds)
    kinds = [kind for kind in shared if kind is not None]
    return msgspec.structs.replace(settings, kinds=kinds, part=part, seed=settings.seed + part * 1_000_003)


def _share_of_kind(kind: Kind, part: int, parts: int) -> Kind | None:
    whole = {name: number for name in ("count", "lanes", "sessions") if (number := getattr(kind, name)) is not None}
    dealt = {name: number // parts + (part < number % parts) for name, number in whole.items()}
    if not all(dealt.values()):
        return None
    if kind.is_stream:  # its rate is each session's own
        return msgspec.structs.replace(kind, **dealt)
    stages = [msgspec.structs.replace(stage, begin=stage.begin / parts, end=stage.end / parts) for stage in kind.stages]
    return msgspec.structs.replace(kind, rate=kind.rate / parts, stages=stages, **dealt)


@lru_cache(maxsize=1024)
def _block(seed: int, kind: str, block: int, shortest: int, longest: int) -> tuple[tuple[float, int], ...]:
    # Sorting by random() instead of shuffle(): only random() is promised to stay the same between
    # versions of Python, and the same seed must send the same list on all of them.
    generator = Random(f"{seed}/{kind}/{block}")
    step = (longest - shortest) / (BLOCK - 1)
    durations = [round(shortest + step * n) for n in range(BLOCK)]
    order = sorted(range(BLOCK), key=lambda _: generator.random())
    return tuple((generator.random(), durations[n]) for n in order)


@lru_cache(maxsize=64)
def _gaps(seed: int, kind: str, block: int) -> tuple[float, ...]:
    """How far beyond its block's beginning each arrival of a Poisson process of rate 1 is; drawn by inversion."""
    generator = Random(f"{seed}/{kind}/arrivals/{block}")
    return tuple(accumulate(-math.log(1.0 - generator.random()) for _ in range(BLOCK)))


@dataclass(slots=True)
class _Walk:
    """Where the blocks of a Poisson process begin; found by walking there, mostly from the block before."""

    block: int = 0
    begin: float = 0.0

    def to(self, block: int, seed: int, kind: str) -> float:
        if block < self.block:
            self.block, self.begin = 0, 0.0
        while self.block < block:
            self.begin += _gaps(seed, kind, self.block)[-1]
            self.block += 1
        return self.begin


@dataclass(frozen=True, slots=True)
class Pace:
    """The plan of one kind of traffic; all times are seconds after the start.

    Attributes:
        curve: the rate over time.
        lanes: how many the requests are dealt out to.
        idle: so many connections of a lane are kept while they're idle. What a slow app has made it open beyond that
            is closed after its request: a front door that takes so many connections would have no room for new ones.
        milliseconds: shortest and longest duration; both ends occur in each block.
        count: so many requests there are; None for no end.
        poisson: each arrival knows nothing of the one before, as with a crowd of strangers; else they're even.
    """

    kind: str
    curve: Curve
    lanes: int
    milliseconds: tuple[int, int]
    seed: int
    count: int | None = None
    poisson: bool = False
    idle: int = 1
    _walk: _Walk = field(default_factory=_Walk, compare=False)

    @classmethod
    def of(cls, kind: Kind, seed: int) -> Pace:
        """The pace that a kind's settings ask for."""
        longest = kind.milliseconds[1] / 1000
        lanes = kind.lanes or lanes_needed(kind.rate, longest)
        idle = math.ceil(connections_needed(kind.rate, longest) / lanes)
        rate = kind.stages[-1].end if kind.stages else kind.rate
        curve = Curve(rate, kind.stages, repeats=kind.repeats)
        return cls(kind.name, curve, lanes, kind.milliseconds, seed, kind.count, kind.arrivals == "poisson", idle)

    def is_over(self, n: int) -> bool:
        """Whether there's no request ``n``, since all are sent before it."""
        return self.count is not None and n >= self.count

    def instant(self, n: int) -> float:
        """When request ``n`` is due; never before the one that precedes it.

        Even arrivals fall somewhere inside their own slot, so that one lane's requests don't fall into
        step with a proxy that takes its servers in turn. A Poisson process of rate 1 is stretched by the
        curve, which makes one whose rate is the curve's at each moment (time change; Çinlar 1975).
        """
        if not self.poisson:
            return self.curve.time_of(n + self._drawn(n)[0])
        block, place = divmod(n, BLOCK)
        begin = self._walk.to(block, self.seed, self.kind)
        return self.curve.time_of(begin + _gaps(self.seed, self.kind, block)[place])

    def duration_ms(self, n: int) -> int:
        """The milliseconds that request ``n`` asks the app to take.

        Evenly spread from the shortest to the longest; a seed changes the order, not the list.
        """
        shortest, longest = self.milliseconds
        return shortest if shortest == longest else self._drawn(n)[1]

    def due_by(self, elapsed: float, after: int = 0) -> int:
        """How many requests are due by ``elapsed`` seconds after the start.

        Arguments:
            after: so many are known to be; saves counting them again.
        """
        n = after
        if not self.poisson:
            n = max(n, math.floor(self.curve.count_at(elapsed)) - 1)
            n = n if self.count is None else min(n, self.count)
        while not self.is_over(n) and self.instant(n) <= elapsed:
            n += 1
        return n

    def _drawn(self, n: int) -> tuple[float, int]:
        return _block(self.seed, self.kind, n // BLOCK, *self.milliseconds)[n % BLOCK]
