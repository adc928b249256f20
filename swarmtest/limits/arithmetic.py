"""How many answers a percentile needs before it says anything, and whether a tail is too long for it.

A ``p99`` under a limit means that 1 % at most are above. Had the service 1 % above, then all of N answers would be
below by luck with a chance of 0.99 to the N; from 299 on that's under 5 %. Fewer prove nothing by being quick. Being
slow, a few may prove enough: that 6 of 12 are above isn't luck any more.
"""

from __future__ import annotations

from enum import Enum
from math import ceil, exp, lgamma, log

DOUBT = 0.05
"""What luck may have brought about at most: 95 % is sure enough, as everywhere in the reports."""


class State(Enum):
    """What is known of a limit by what was counted."""

    HOLDS = "holds"
    BROKEN = "broken"
    UNCLEAR = "unclear"


def least_answers(share: float) -> int:
    """How many answers it takes to prove a percentile: 299 for ``p99``, 5 for ``p50``; 1 for the slowest one."""
    return 1 if share >= 1 else ceil(round(log(DOUBT) / log(share), 9))


def tail_state(answers: int, above: int, share: float) -> State:
    """Whether a percentile is within its limit, of which ``above`` answers are not."""
    enough = answers >= least_answers(share)
    if above <= answers - rank(answers, share):
        return State.HOLDS if enough else State.UNCLEAR
    return State.BROKEN if enough or chance(above, answers, 1 - share) < DOUBT else State.UNCLEAR


def rank(answers: int, share: float) -> int:
    """Which of the ordered answers is the percentile, by the nearest rank; from 1 on."""
    return max(1, ceil(round(share * answers, 9)))


def chance(hits: int, trials: int, share: float) -> float:
    """The chance of at least so many hits, where each has this share."""
    if hits > trials:
        return 0.0
    if not 0 < share < 1:
        return 1.0 if hits <= trials * share else 0.0
    below = 0.0
    for k in range(hits):  # each term from its logarithm, so that nothing overflows
        ways = lgamma(trials + 1) - lgamma(k + 1) - lgamma(trials - k + 1)
        below += exp(ways + k * log(share) + (trials - k) * log(1 - share))
    return max(0.0, 1.0 - below)
