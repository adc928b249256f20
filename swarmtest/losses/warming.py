"""How quick the first requests on a new instance were, beside its later ones, by kind.

A cold start loses nothing, and yet a user waits: caches are empty, pools are closed, code isn't compiled. Times
count from the connection on: a connect that had to be tried twice is no matter of the instance. They're compared
with the later ones of the same instance, and with what other instances did meanwhile: where all are slow, it's for
want of room and no cold start.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from swarmtest.evidence.request import Request
from swarmtest.losses import Accounted, Loss
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


def read_warming(
    accounted: Iterable[Accounted], timeline: Timeline
) -> tuple[list[Warming], list[tuple[Lifespan, str]]]:
    """Every kind on every new instance that had enough of it; and those pairs that hadn't."""
    by_kind: defaultdict[str, list[tuple[Request, Lifespan]]] = defaultdict(list)
    for one in accounted:
        if one.loss is Loss.OK and one.life is not None:
            by_kind[one.request.kind].append((one.request, one.life))
    warmings, too_few = [], []
    for kind, served in sorted(by_kind.items()):
        served.sort(key=lambda pair: pair[0].began)
        for life in timeline.new:
            its = [request for request, at in served if at.task == life.task]
            if not its:
                continue
            first, later = its[:FIRST], its[FIRST:]
            if len(first) + len(later) < LEAST_FIRST + LEAST_LATER:
                too_few.append((life, kind))
                continue
            first, later = (its[:LEAST_FIRST], its[LEAST_FIRST:]) if len(later) < LEAST_LATER else (first, later)
            others = [r for r, at in served if at.task != life.task and first[0].began <= r.began <= first[-1].began]
            warmings.append(_compare(life, kind, first, [later, others]))
    return warmings, too_few


def milliseconds(request: Request) -> float:
    """How long it took from its connection on."""
    return (request.ended - (request.connected if request.connected is not None else request.began)) * 1000


def slowness(warming: Warming) -> float:
    """How many times as long half of the first requests took, or the slowest of them."""
    pairs = ((warming.first_ms, warming.usual_ms), (warming.first_most_ms, warming.usual_most_ms))
    return max(first / max(usual, 0.001) for first, usual in pairs)


def _compare(life: Lifespan, kind: str, first: Sequence[Request], usual: Sequence[Sequence[Request]]) -> Warming:
    times = [milliseconds(request) for request in first]
    beside = [[milliseconds(request) for request in some] for some in usual if len(some) >= LEAST_OTHERS]
    return Warming(
        life=life,
        kind=kind,
        first=len(times),
        first_ms=median(times),
        first_most_ms=max(times),
        later=len(usual[0]),
        usual_ms=max(median(some) for some in beside),
        usual_most_ms=max(max(some) for some in beside),
    )
