"""How many stops a distribution-free bound needs: the longest of them covers a share of all stops, at a confidence.

Nothing is assumed of how long stops take. Where a share ``coverage`` of all stops ends within some time, the chance
that ``n`` independent ones all do is ``coverage ** n``; so the longest of ``n`` is at or beyond that time with a
confidence of ``1 - coverage ** n`` (Wilks 1941). Stops of one rollout share its machine and its moment and aren't
independent, so no number of them from fewer than three rollouts will do.
"""

from __future__ import annotations

from math import ceil, log

LEAST_ROLLOUTS = 3


def stops_needed(coverage: float, confidence: float) -> int:
    """The fewest stops whose longest one covers so large a share of all, at that confidence: 22 for 0.9 and 0.9."""
    least = max(1, ceil(log(1.0 - confidence) / log(coverage) - 1e-9))
    return least if confidence_of(least, coverage) >= confidence - 1e-12 else least + 1


def confidence_of(stops: int, coverage: float) -> float:
    """How sure it is that the longest of so many stops covers that share of all; 0 for none."""
    return 1.0 - coverage**stops


def rollouts_needed(stops: int, per_rollout: int) -> int:
    """How many rollouts bring so many stops, and never fewer than three."""
    return max(LEAST_ROLLOUTS, ceil(stops / max(1, per_rollout)))
