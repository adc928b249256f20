"""Where the first SIGKILL appears: a bisection of whole seconds, each step of which is a run."""

from __future__ import annotations

from collections.abc import Mapping
from math import floor

MOST_RUNS = 6


def next_to_try(longest: float, ceiling: int, tried: Mapping[int, bool]) -> int | None:
    """The grace to try next; None when the boundary is found, or there's nothing left to try.

    It begins where the measured stops say that the boundary is: at the whole second below a long one. What's
    found to be on the wrong side moves the search by one, two, four … seconds, until it's bracketed.

    Arguments:
        longest: how long a long stop takes, in seconds; the one odd one that took longest is no good place to begin.
        ceiling: a grace that's known to do.
        tried: for each grace that was tried, whether an instance was killed.
    """
    if len(tried) >= MOST_RUNS:
        return None
    killed = max((grace for grace, kills in tried.items() if kills), default=None)
    safe = min(
        (grace for grace, kills in tried.items() if not kills and (killed is None or grace > killed)), default=None
    )
    start = min(max(1, floor(longest)), ceiling)
    if killed is None and safe is None:
        return start
    if killed is None:
        assert safe is not None
        return None if safe <= 1 else max(1, safe - 2 ** max(0, len(tried) - 1))
    if safe is None:
        return min(ceiling, killed + 2 ** max(0, len(tried) - 1)) if killed < ceiling else None
    return (killed + safe) // 2 if safe - killed > 1 else None


def boundary(tried: Mapping[int, bool]) -> tuple[int | None, int | None]:
    """The highest whole second that was killed, and the lowest above it that wasn't; None where there was none."""
    killed = max((grace for grace, kills in tried.items() if kills), default=None)
    safe = min(
        (grace for grace, kills in tried.items() if not kills and (killed is None or grace > killed)), default=None
    )
    return killed, safe
