"""How quick the first requests on a new instance were, beside its later ones, by kind.

A cold start loses nothing, and yet a user waits: caches are empty, pools are closed, code isn't compiled. Times
count from the connection on: a connect that had to be tried twice is no matter of the instance. They're compared
with the later ones of the same instance, and with what other instances did meanwhile: where all are slow, it's for
want of room and no cold start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from swarmtest.evidence.requests import Requests
from swarmtest.timeline import Lifespan, Timeline

FIRST = 10
"""So many requests of a kind are the first ones on an instance; half of them tell something, too."""
LEAST_FIRST, LEAST_LATER, LEAST_OTHERS = 5, 10, 3


@dataclass(frozen=True, slots=True)
class Warming:
    """The first requests of a kind on a new instance, and its later ones; times are milliseconds.

    Attributes:
        usual_ms, usual_most_ms: half of the later ones, or of others meanwhile, were at least as quick; the slowest.
    """

    life: Lifespan
    kind: str
    first: int
    first_ms: float
    first_most_ms: float
    later: int
    usual_ms: float
    usual_most_ms: float


_SQL = """
WITH timed AS (
    SELECT a.n, a.kind, a.task, a.began, (a.ended - coalesce(r.connected, a.began)) * 1000 AS ms
    FROM accounted a JOIN requests r USING (n)
    WHERE a.loss = 'ok' AND a.task IS NOT NULL AND a.kind IS NOT NULL
), numbered AS (
    SELECT *, row_number() OVER (PARTITION BY kind, task ORDER BY began, n) AS place,
        count(*) OVER (PARTITION BY kind, task) AS total
    FROM timed WHERE task IN (SELECT unnest($tasks::VARCHAR[]))
), own AS (
    SELECT kind, task, CASE WHEN total >= $first + $later THEN $first ELSE $least END AS first, total,
        median(ms) FILTER (place <= first) AS first_ms, max(ms) FILTER (place <= first) AS first_most_ms,
        count(*) FILTER (place > first) AS later, median(ms) FILTER (place > first) AS later_ms,
        max(ms) FILTER (place > first) AS later_most_ms,
        min(began) AS since, max(began) FILTER (place <= first) AS until
    FROM numbered GROUP BY kind, task, total
)
SELECT own.kind, own.task, own.total, own.first, first_ms, first_most_ms, later, later_ms, later_most_ms,
    count(o.ms) AS others, median(o.ms), max(o.ms)
FROM own LEFT JOIN timed o ON o.kind = own.kind AND o.task <> own.task AND o.began BETWEEN own.since AND own.until
GROUP BY ALL ORDER BY own.kind, own.task
"""


def read_warming(requests: Requests, timeline: Timeline) -> tuple[list[Warming], list[tuple[Lifespan, str]]]:
    """Every kind on every new instance that had enough of it; and those pairs that hadn't."""
    new = {life.task: life for life in timeline.new}
    if not new:
        return [], []
    asked = {"tasks": list(new), "first": FIRST, "least": LEAST_FIRST, "later": LEAST_LATER}
    warmings, too_few = [], []
    for kind, task, total, *figures in requests.rows(_SQL, asked):
        if total < LEAST_FIRST + LEAST_LATER:
            too_few.append((new[task], str(kind)))
        else:
            warmings.append(_warming(new[task], str(kind), figures))
    order = {life.task: place for place, life in enumerate(timeline.new)}
    return sorted(warmings, key=lambda one: (one.kind, order[one.life.task])), too_few


def slowness(warming: Warming) -> float:
    """How many times as long half of the first requests took, or the slowest of them."""
    pairs = ((warming.first_ms, warming.usual_ms), (warming.first_most_ms, warming.usual_most_ms))
    return max(first / max(usual, 0.001) for first, usual in pairs)


def _warming(life: Lifespan, kind: str, figures: Sequence[Any]) -> Warming:
    first, first_ms, first_most_ms, later, later_ms, later_most_ms, others, others_ms, others_most_ms = figures
    if others >= LEAST_OTHERS:
        later_ms, later_most_ms = max(later_ms, others_ms), max(later_most_ms, others_most_ms)
    return Warming(life, kind, int(first), first_ms, first_most_ms, int(later), later_ms, later_most_ms)
