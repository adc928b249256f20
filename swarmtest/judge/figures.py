"""The numbers of a run that are worth comparing with those of another run."""

from __future__ import annotations

from typing import Any

from swarmtest.checks import Judged
from swarmtest.checks.kept_capacity import lowest_ready
from swarmtest.evidence.requests import Requests
from swarmtest.reports import Figures, KindFigures

AROUND = ("deploy", "warmup", "settle", "remove")
"""Phases that every run has, before and after the steps of its plan."""


def figures(judged: Judged) -> Figures:
    """What becomes a row of a table of runs."""
    times, sent = time_figures(judged.requests, "kind"), judged.losses.by_kind()
    return Figures(
        lowest_ready=lowest_ready(judged),
        **time_figures(judged.requests).get((), NO_TIMES),
        acted_seconds=_acted_seconds(judged),
        kinds=[KindFigures(name, sent[name], **times.get((name,), NO_TIMES)) for name in sorted(sent)],
    )


FROM_DUE = "ended - least(coalesce(nullif(planned, 0), began), began)"
"""Seconds of an answer from when it was due, or was sent where that was earlier."""

FROM_SENT = "ended - began"
"""Seconds of an answer from when it was really sent."""

NO_TIMES: dict[str, float | None] = dict.fromkeys(("p50_ms", "p99_ms", "p50_sent_ms", "p99_sent_ms"))
"""The times of what wasn't answered."""


def time_figures(requests: Requests, by: str = "") -> dict[tuple[Any, ...], dict[str, float | None]]:
    """Median and 99th percentile of the answers' times, as fields: from the planned time on, and from the sending on.

    Only the first holds what a request had to wait before it could be sent at all, which a client that's held up
    by slow answers would leave out (*coordinated omission*; G. Tene, 2013).

    Arguments:
        by: columns of ``accounted`` by which they're grouped, whose values are the keys.
    """
    keys = [part.strip() for part in by.split(",")] if by else []
    times = [f"quantile_disc(({seconds}) * 1000, [0.5, 0.99])" for seconds in (FROM_DUE, FROM_SENT)]
    grouped = f"GROUP BY {by}" if by else "HAVING count(*) > 0"
    rows = requests.rows(f"SELECT {', '.join([*keys, *times])} FROM accounted WHERE loss = 'ok' {grouped}")
    return {
        tuple(key): {name: round(value, 3) for name, value in zip(NO_TIMES, (*due, *sent), strict=True)}
        for *key, due, sent in rows
    }


def _acted_seconds(judged: Judged) -> float | None:
    """From T0 until the plan's last step was over."""
    timeline = judged.timeline
    ends = [ended for name, (_, ended) in timeline.phases.items() if name not in AROUND and ended is not None]
    if timeline.t0 is None or not ends or max(ends) < timeline.t0:
        return None
    return round(max(ends) - timeline.t0, 3)
