"""How quick the first requests on a new instance were, beside its later ones, by kind.

A cold start loses nothing, and yet a user waits: caches are empty, pools are closed, code isn't compiled. Times
count from the connection on: a connect that had to be tried twice is no matter of the instance. They're compared
with the later ones of the same instance, and with what other instances did meanwhile: where all are slow, it's for
want of room and no cold start.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

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


SLOW = 1.5
"""From so many times as long on it's asked what other instances did meanwhile."""

_OWN = """
WITH own AS (
    SELECT kind, task, count(*) AS total, min(began, $first) AS firsts FROM accounted
    WHERE loss = 'ok' AND kind IS NOT NULL AND task IN (SELECT unnest($tasks::VARCHAR[])) GROUP BY kind, task
), cut AS (
    SELECT kind, task, total, firsts[1] AS since,
        firsts[CASE WHEN total >= $first + $later THEN $first ELSE least($least, total) END] AS until FROM own
)
SELECT kind, task, any_value(total), any_value(since), any_value(until),
    count(*) FILTER (early), median(ms) FILTER (early), max(ms) FILTER (early),
    count(*) FILTER (NOT early), median(ms) FILTER (NOT early), max(ms) FILTER (NOT early)
FROM (
    SELECT c.*, a.began <= c.until AS early, (a.ended - a.connected) * 1000 AS ms
    FROM accounted a JOIN cut c ON c.kind = a.kind AND c.task = a.task WHERE a.loss = 'ok'
) GROUP BY kind, task ORDER BY kind, task
"""

_OTHERS = """
SELECT count(*), median(ms), max(ms) FROM (
    SELECT (ended - connected) * 1000 AS ms FROM accounted
    WHERE loss = 'ok' AND kind = $kind AND task <> $task AND began BETWEEN $since AND $until
)
"""


def read_warming(requests: Requests, timeline: Timeline) -> tuple[list[Warming], list[tuple[Lifespan, str]]]:
    """Every kind on every new instance that had enough of it; and those pairs that hadn't."""
    new = {life.task: life for life in timeline.new}
    if not new:
        return [], []
    asked = {"tasks": list(new), "first": FIRST, "least": LEAST_FIRST, "later": LEAST_LATER}
    warmings, too_few = [], []
    for kind, task, total, since, until, *figures in requests.rows(_OWN, asked):
        if total < LEAST_FIRST + LEAST_LATER:
            too_few.append((new[task], str(kind)))
            continue
        own = Warming(new[task], str(kind), *figures)
        warmings.append(_beside(own, requests, since, until) if slowness(own) > SLOW else own)
    order = {life.task: place for place, life in enumerate(timeline.new)}
    return sorted(warmings, key=lambda one: (one.kind, order[one.life.task])), too_few


def _beside(own: Warming, requests: Requests, since: float, until: float) -> Warming:
    """The same, held against what other instances did while it was new, where they were slow, too."""
    asked = {"kind": own.kind, "task": own.life.task, "since": since, "until": until}
    count, half, most = requests.rows(_OTHERS, asked)[0]
    if count < LEAST_OTHERS:
        return own
    return replace(own, usual_ms=max(own.usual_ms, half), usual_most_ms=max(own.usual_most_ms, most))


def slowness(warming: Warming) -> float:
    """How many times as long half of the first requests took, or the slowest of them."""
    pairs = ((warming.first_ms, warming.usual_ms), (warming.first_most_ms, warming.usual_most_ms))
    return max(first / max(usual, 0.001) for first, usual in pairs)
