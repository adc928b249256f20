"""What was lost while the machine that the traffic came from had nothing left: lost, and nobody knows by whom.

Whose fault that is can't be told there: of the stack, of the engine beside it, or of the client. What a stop, a start
or an instance's own end explains is theirs on a full machine, too, and so is an answer that says something wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from swarmtest.evidence.requests import Requests
from swarmtest.losses import Accounted, Charge, Loss
from swarmtest.timeline import Timeline
from swarmtest.timeline.endings import HEALTH_CHECK
from swarmtest.timeline.machine import is_full

SAID_WRONG = (Loss.UNEXPECTED, Loss.SILENT_LOSS, Loss.CLIENT_ERROR)
"""Classes that no want of processors explains: somebody said something, and it was wrong."""

LATE_SECONDS = 5.0
"""An error that an instance answers with only after this time is a time-out of its own; a quicker one is a fault."""

NEARBY_SECONDS = 5.0
"""An instance that ended this close to a loss may have taken it along."""


@dataclass(frozen=True, slots=True)
class Starvation:
    """When the machine had nothing left, and until when nothing was answered after that.

    Attributes:
        spans: from when until when.
        ends: when instances ended, but for those whose health check had no time either.
        nothing_done: nobody was asked to stop, so a stop is none of the rollout's.
    """

    spans: Sequence[tuple[float, float]]
    ends: Sequence[float]
    nothing_done: bool

    def at(self, t: float) -> bool:
        """Whether it was so at a moment."""
        return any(first <= t <= last for first, last in self.spans)

    def explains(self, one: Accounted) -> bool:
        """Whether a loss may be for want of the machine, and nothing else is known that it was lost to."""
        owed = one.charge is not None and one.charge is not Charge.FAULT
        if not owed or not (self.nothing_done or one.charge is Charge.BACKGROUND) or not self.at(one.request.ended):
            return False
        took = one.request.ended - one.request.began
        if one.loss in SAID_WRONG or (one.loss is Loss.ERROR and took < LATE_SECONDS):
            return False
        first, last = one.request.began - NEARBY_SECONDS, one.request.ended + NEARBY_SECONDS
        return not any(first <= end <= last for end in self.ends)


def read_starvation(requests: Requests, timeline: Timeline) -> Starvation:
    """When the machine was full: all the time on average, or in stretches.

    A stretch goes on until something is answered again: what a full machine broke (``docker-proxy`` ends for good at
    its first failure) stays broken when it has room again.
    """
    if is_full(timeline):
        spans = [(float("-inf"), float("inf"))]
    else:
        spans = [(first, _answered_again(requests, last)) for first, last in timeline.full]
    by_themselves = [life for life in timeline.lifespans if life.cause != HEALTH_CHECK]
    ends = [mark.at for life in by_themselves if (mark := life.earliest("killed", "exited")) is not None]
    return Starvation(spans, ends, timeline.t0 is None)


def _answered_again(requests: Requests, t: float) -> float:
    ended = requests.rows("SELECT min(ended) FROM accounted WHERE loss = 'ok' AND ended > $t", {"t": t})[0][0]
    return float("inf") if ended is None else float(ended)
