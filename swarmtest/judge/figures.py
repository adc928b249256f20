"""The numbers of a run that are worth comparing with those of another run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from swarmtest.checks import Judged
from swarmtest.checks.kept_capacity import lowest_ready
from swarmtest.losses import Accounted, Loss
from swarmtest.reports import Figures, KindFigures

AROUND = ("deploy", "warmup", "settle", "remove")
"""Phases that every run has, before and after the steps of its plan."""


def figures(judged: Judged) -> Figures:
    """What becomes a row of a table of runs."""
    accounted = judged.losses.accounted
    kinds = []
    for name in sorted({one.request.kind for one in accounted}):
        some = [one for one in accounted if one.request.kind == name]
        times = answer_times(some)
        kinds.append(KindFigures(name, len(some), nearest_rank(times, 0.5), nearest_rank(times, 0.99)))
    times = answer_times(accounted)
    return Figures(
        lowest_ready=lowest_ready(judged),
        p50_ms=nearest_rank(times, 0.5),
        p99_ms=nearest_rank(times, 0.99),
        acted_seconds=_acted_seconds(judged),
        kinds=kinds,
    )


def answer_times(accounted: Iterable[Accounted]) -> list[float]:
    """Milliseconds until the end of each whole answer, the shortest first."""
    return sorted((one.request.ended - one.request.began) * 1000 for one in accounted if one.loss is Loss.OK)


def nearest_rank(ordered: Sequence[float], share: float) -> float | None:
    """The value below which a share of the ordered values lies, by the nearest rank."""
    if not ordered:
        return None
    return round(ordered[max(0, -int(-share * len(ordered) // 1) - 1)], 3)


def _acted_seconds(judged: Judged) -> float | None:
    """From T0 until the plan's last step was over."""
    timeline = judged.timeline
    ends = [ended for name, (_, ended) in timeline.phases.items() if name not in AROUND and ended is not None]
    if timeline.t0 is None or not ends or max(ends) < timeline.t0:
        return None
    return round(max(ends) - timeline.t0, 3)
