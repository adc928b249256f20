"""Connections that took a second longer to be made: a first packet that was dropped, and sent again by the kernel.

TCP sends a SYN again after 1 s, then after 2 s and 4 s more. So a connect that takes just 1, 3 or 7 seconds tells of
a packet that went missing on the way, and nothing of the instance that answers at last. It's known of IPVS, where a
client's port is used again before its old connection is forgotten (moby/moby #35082). It looks like slowness after an
update, and is neither a lost request nor a cold start, nor any part of how long a request takes.
"""

from __future__ import annotations

from dataclasses import dataclass

from swarmtest.evidence.requests import Requests

STEPS_SECONDS = (1.0, 3.0, 7.0)
"""When a SYN that was dropped is sent again, counted from the first one."""

EARLY_SECONDS, LATE_SECONDS = 0.03, 0.2
"""How far from a step a connect may end and still belong to it."""

FEWEST = 3
"""Less than that is no cluster."""

QUICK_MS = 100.0
"""So much longer than others a request may take, once it's connected, and its handler still counts as usual."""


@dataclass(frozen=True, slots=True)
class Stalls:
    """Connects that took one of the steps.

    Attributes:
        fresh: connects that were made in all.
        counts: of each step, how many.
        odd: connects that took long, but no step; where they are many, it's no matter of dropped packets.
        handled_ms, usual_ms: what half of the requests took from the connection on, of those that stalled and others.
    """

    fresh: int
    counts: tuple[tuple[float, int], ...]
    odd: int
    handled_ms: float
    usual_ms: float

    @property
    def total(self) -> int:
        """How many stalled."""
        return sum(count for _, count in self.counts)

    @property
    def are_an_artefact(self) -> bool:
        """Whether these are a cluster at the steps, with requests that took their usual time from then on."""
        usual = self.handled_ms <= 2 * self.usual_ms + QUICK_MS
        return self.total >= FEWEST and self.odd < self.total and usual


_CONNECTS = "SELECT connected - sent AS took, done - connected AS handled FROM requests WHERE connected IS NOT NULL"
_NEAR = " OR ".join(f"took BETWEEN {step - EARLY_SECONDS} AND {step + LATE_SECONDS}" for step in STEPS_SECONDS)


def read_stalls(requests: Requests) -> Stalls:
    """The connects of a run that took long, by step."""
    steps = ", ".join(
        f"count(*) FILTER (took BETWEEN {step - EARLY_SECONDS} AND {step + LATE_SECONDS})" for step in STEPS_SECONDS
    )
    odd = f"count(*) FILTER (took > {STEPS_SECONDS[0] / 2} AND NOT ({_NEAR}))"
    fresh, strays, *counts = requests.rows(f"SELECT count(*), {odd}, {steps} FROM ({_CONNECTS})")[0]
    found = tuple((step, int(count)) for step, count in zip(STEPS_SECONDS, counts, strict=True) if count)
    handled, usual = 0.0, 0.0
    if sum(count for _, count in found) >= FEWEST:
        times = f"median(handled) FILTER ({_NEAR}), median(handled) FILTER (NOT ({_NEAR}))"
        handled, usual = (1000 * (seconds or 0.0) for seconds in requests.rows(f"SELECT {times} FROM ({_CONNECTS})")[0])
    return Stalls(int(fresh), found, int(strays), handled, usual)
