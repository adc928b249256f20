"""One stop as it was measured, and whether it may be counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil

from swarmtest.timeline import Lifespan, Mark
from swarmtest.timeline.endings import AS_ASKED, END_OF_GRACE


@dataclass(frozen=True, slots=True)
class Stop:
    """One instance's stop; seconds are None where the marks weren't seen.

    Attributes:
        run: which run of the tune, from 1.
        grace_seconds: of the stopping task's own spec.
        propagation_seconds: from the announcement to its last new request.
        wait_seconds: from the signal until nothing new came in: the listener's close, or the last new request.
        closed: whether the close itself was seen, so that the wait isn't guessed from what happened to come in.
        drain_seconds: from the signal to the end of its last request.
        closing_seconds: from the end of its last request, or from the close where that's later, to the exit.
        stop_seconds: from the signal to the exit.
        error_seconds: of that.
        killed: SIGKILL ended it, as its grace was over.
        lost: requests that were lost on it.
        why_not: why it isn't counted; empty where it is.
    """

    run: int
    instance: str
    task: str
    grace_seconds: float
    propagation_seconds: float | None = None
    wait_seconds: float | None = None
    closed: bool = False
    drain_seconds: float | None = None
    closing_seconds: float | None = None
    stop_seconds: float | None = None
    error_seconds: float = 0.0
    killed: bool = False
    lost: int = 0
    why_not: str = ""

    @property
    def counted(self) -> bool:
        """Whether it says how long stops take."""
        return not self.why_not


def measured(lives: Iterable[Lifespan], run: int, armed: float, lost: Mapping[str, int]) -> tuple[Stop, ...]:
    """The stops of a run.

    Arguments:
        lives: the instances whose stop is judged.
        armed: the grace that they should have been made with.
        lost: how many requests each task lost.
    """
    return tuple(_measured(life, run, armed, lost.get(life.task, 0)) for life in lives)


def _measured(life: Lifespan, run: int, armed: float, lost: int) -> Stop:
    signalled, exited, closed = life.mark("signalled"), life.mark("exited"), life.mark("closed")
    last_new, last_done, announced = life.mark("last_new"), life.mark("last_done"), life.mark("announced")
    accepting = max((mark for mark in (closed, last_new) if mark), key=lambda mark: mark.at, default=None)
    busy = max((mark for mark in (closed, last_done) if mark), key=lambda mark: mark.at, default=None)
    return Stop(
        run=run,
        instance=life.name,
        task=life.task,
        grace_seconds=life.grace_seconds,
        propagation_seconds=_between(announced, last_new),
        wait_seconds=_between(signalled, accepting),
        closed=closed is not None,
        drain_seconds=_between(signalled, last_done),
        closing_seconds=_between(busy, exited),
        stop_seconds=_between(signalled, exited),
        error_seconds=(signalled.error + exited.error) if signalled and exited else 0.0,
        killed=life.cause == END_OF_GRACE,
        lost=lost,
        why_not=_why_not(life, armed),
    )


def _between(earlier: Mark | None, later: Mark | None) -> float | None:
    """Seconds from one to the other; what came before counts as at once."""
    return None if earlier is None or later is None else max(0.0, later.at - earlier.at)


def _why_not(life: Lifespan, armed: float) -> str:
    signalled, exited, last_done = life.mark("signalled"), life.mark("exited"), life.mark("last_done")
    if life.grace_seconds != armed:
        return f"made with a grace of {life.grace_seconds:g} s, not with the {armed:g} s that were to be tried"
    if signalled is None or exited is None:
        return "its stop signal wasn't seen" if signalled is None else "its exit wasn't seen"
    if life.cause == END_OF_GRACE:
        return "killed as its grace was over"
    if life.cause != AS_ASKED:
        return life.cause or "who asked it to stop is unknown"
    if last_done is None or last_done.at <= signalled.at:
        return "no request ran on it when it got the signal"
    return ""


def within(values: Iterable[float], share: float) -> float | None:
    """The smallest of some values that so large a share of them doesn't exceed (nearest rank); None of none."""
    ordered: Sequence[float] = sorted(values)
    return ordered[max(0, ceil(share * len(ordered) - 1e-9) - 1)] if ordered else None


def in_every_part(values: Sequence[float], share: float) -> float | None:
    """What so large a share of the values doesn't exceed, in each third of them, in the order in which they came.

    The least of the three: what's the app's own way of stopping shows in every third, what a busy machine added
    doesn't. Fewer than three values are one part.
    """
    parts = 3 if len(values) >= 3 else 1
    edges = [len(values) * place // parts for place in range(parts + 1)]
    found = [within(values[first:last], share) for first, last in pairwise(edges)]
    return min((value for value in found if value is not None), default=None)
