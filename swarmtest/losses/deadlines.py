"""Requests that somebody gave up after a fixed time, the client or a front door: no stop and no start has a part in it.

Such a one is told by others: where nearly all requests of a kind that are lost on instances to which nothing was done
are lost after just as long, in just the same way, one that's lost so on any instance is lost to the same deadline. And
its handler went on: the instance itself says that it came to its end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from statistics import median
from typing import TYPE_CHECKING

from swarmtest.losses.charge import Charge

if TYPE_CHECKING:
    from swarmtest.losses import Accounted

LEAST_SECONDS = 0.5
"""What's lost sooner than this may be so by chance after as long as another one."""

ALIKE_SECONDS = 0.15
"""So far from the deadline a request may end: a timer is late on a busy machine."""

ENOUGH, NEARLY_ALL = 2, 0.8
"""How many of them have to end by the deadline, and which share: what's lost at any time has none."""

How = tuple[str, str, int | None, str]
"""Kind, class, status and outcome of a loss."""


def deadlines_of(accounted: Iterable[Accounted]) -> dict[How, float]:
    """After how many seconds requests are given up, by the way in which they end then."""
    took: dict[How, list[float]] = defaultdict(list)
    for one in accounted:
        if one.charge in (Charge.BACKGROUND, Charge.UNPLACED) and _ran_on(one):
            took[_how(one)].append(_seconds(one))
    middle = {how: median(seconds) for how, seconds in took.items()}
    return {
        how: after
        for how, after in middle.items()
        if after >= LEAST_SECONDS and _near(took[how], after) >= max(ENOUGH, NEARLY_ALL * len(took[how]))
    }


def by_deadline(one: Accounted, deadlines: Mapping[How, float]) -> bool:
    """Whether a lost request was given up by one of these deadlines, wherever it ran."""
    if one.charge is None or not _ran_on(one) or (after := deadlines.get(_how(one))) is None:
        return False
    return _near([_seconds(one)], after) == 1


def _near(seconds: Iterable[float], deadline: float) -> int:
    return sum(abs(each - deadline) <= ALIKE_SECONDS for each in seconds)


def _ran_on(one: Accounted) -> bool:
    """Whether its handler came to its end, though it's lost."""
    return one.trail is not None and bool(one.trail.finish)


def _how(one: Accounted) -> How:
    return one.request.kind, one.loss.value, one.request.status, one.request.client_outcome


def _seconds(one: Accounted) -> float:
    return one.request.ended - one.request.began
