"""What was measured and worked out, as the document has it."""

from __future__ import annotations

from swarmtest.reports.tune import BoundEntry, Recommendation, StopRow, SumEntry
from swarmtest.tune.recommend import Recommended
from swarmtest.tune.settings import settings
from swarmtest.tune.stops import Stop
from swarmtest.tune.trials import Tuned


def row_of(stop: Stop) -> StopRow:
    """A stop as the document has it."""
    return StopRow(
        run=stop.run,
        instance=stop.instance,
        task=stop.task,
        grace_seconds=stop.grace_seconds,
        propagation_seconds=_rounded(stop.propagation_seconds),
        wait_seconds=_rounded(stop.wait_seconds),
        drain_seconds=_rounded(stop.drain_seconds),
        closing_seconds=_rounded(stop.closing_seconds),
        stop_seconds=_rounded(stop.stop_seconds),
        error_seconds=round(stop.error_seconds, 3),
        killed=stop.killed,
        lost=stop.lost,
        why_not=stop.why_not,
    )


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)


def entry_of(found: Recommended, tuned: Tuned) -> Recommendation:
    """A recommendation as the document has it."""
    parts, bound = found.sum, found.bound
    return Recommendation(
        grace_seconds=found.grace_seconds,
        decided_by=found.decided_by,
        now_seconds=tuned.service.grace_seconds,
        sum=SumEntry(
            round(parts.wait, 3),
            parts.wait_source,
            round(parts.longest, 3),
            parts.longest_source,
            round(parts.closing, 3),
            parts.abort,
            round(parts.total, 3),
        ),
        bound=BoundEntry(
            bound.stops,
            bound.rollouts,
            bound.needed,
            bound.coverage,
            bound.confidence,
            round(bound.reached, 4),
            round(bound.longest, 3),
        ),
        settings=list(settings(tuned.service, tuned.brief.front_door, found)),
    )
