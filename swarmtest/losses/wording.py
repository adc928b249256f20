"""How evidence is worded: instances, seconds and request IDs, the same in every check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from swarmtest.losses import Accounted
from swarmtest.timeline import Lifespan, Mark

FEW = 3
"""How many request IDs stand for all of them."""


def label(life: Lifespan | None) -> str:
    """Name of an instance that a person can find with ``docker service ps``."""
    return "an unknown instance" if life is None else f"{life.name} ({life.task[:8]})"


def number(count: int) -> str:
    """``2143`` as ``2,143``, as the reports write it."""
    return f"{count:,}"


def few(names: Sequence[str], shown: int = FEW, more: int = 0) -> str:
    """The first few of many names, and how many more there are.

    Arguments:
        more: how many there are beside those named.
    """
    more += len(names) - shown
    return ", ".join(names[:shown]) + (f" and {number(more)} more" if more > 0 else "")


def since(t: float, origin: float | None) -> str:
    """A moment in seconds from an origin, with its sign."""
    return f"{t - origin:+.2f} s" if origin is not None else f"{t:.2f}"


def apart(earlier: Mark, later: Mark) -> tuple[float, float]:
    """Seconds between two marks, and the error of that."""
    return later.at - earlier.at, earlier.error + later.error


def many(count: int, noun: str, plural: str | None = None) -> str:
    """A count with its noun: ``1 request``, ``2 requests``."""
    return f"{number(count)} {noun if count == 1 else plural or noun + 's'}"


def each(count: int, noun: str) -> str:
    """The subject of a sentence about all of them: ``Each of the 3 instances``, ``The instance``."""
    return f"The {noun}" if count == 1 else f"Each of the {number(count)} {noun}s"


def by_class(lost: Iterable[Accounted]) -> str:
    """Counts of lost requests by class, the most frequent first: ``3 cut, 1 gateway``."""
    counted = Counter(one.loss.value for one in lost)
    return ", ".join(f"{number(count)} {name}" for name, count in sorted(counted.items(), key=lambda c: (-c[1], c[0])))


def ids(lost: Iterable[Accounted]) -> str:
    """The first few request IDs."""
    return few([one.request.id for one in lost])


def noun_of(lives: Iterable[Lifespan]) -> str:
    """What these instances are called: old ones where all are, for that's what a rollout replaces."""
    return "old instance" if {life.generation for life in lives} <= {"old"} else "instance"
