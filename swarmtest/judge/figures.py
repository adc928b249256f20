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
        kinds.append(KindFigures(name, len(some), **time_figures(some)))
    return Figures(
        lowest_ready=lowest_ready(judged),
        **time_figures(accounted),
        acted_seconds=_acted_seconds(judged),
        kinds=kinds,
    )


def time_figures(accounted: Sequence[Accounted]) -> dict[str, float | None]:
    """Median and 99th percentile of the answers' times, as fields: from the planned time on, and from the sending on.

    Only the first holds what a request had to wait before it could be sent at all, which a client that's held up
    by slow answers would leave out (*coordinated omission*; G. Tene, 2013).
    """
    times, sent = answer_times(accounted), answer_times(accounted, from_sent=True)
    return {
        "p50_ms": nearest_rank(times, 0.5),
        "p99_ms": nearest_rank(times, 0.99),
        "p50_sent_ms": nearest_rank(sent, 0.5),
        "p99_sent_ms": nearest_rank(sent, 0.99),
    }


def answer_times(accounted: Iterable[Accounted], *, from_sent: bool = False) -> list[float]:
    """Milliseconds until the end of each whole answer, the shortest first; they begin when the request was due.

    Arguments:
        from_sent: they begin when it was really sent.
    """
    whole = (one.request for one in accounted if one.loss is Loss.OK)
    if from_sent:
        return sorted((request.ended - request.began) * 1000 for request in whole)
    return sorted((request.ended - min(request.planned or request.began, request.began)) * 1000 for request in whole)


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
