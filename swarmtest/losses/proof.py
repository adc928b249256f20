"""What a result proves in numbers: exact 95 % upper bounds of the share lost.

Nothing lost of N requests proves a share below 3/N at 95 % (the rule of three). Losses cluster in
stops, so the same is said of stops, which are few: three clean ones leave up to 63 % per stop.
"""

from __future__ import annotations

from math import exp, lgamma, log

CONFIDENCE = 0.95
NOTHING = 1e-18


def upper_bound(hits: int, trials: int, confidence: float = CONFIDENCE) -> float | None:
    """One-sided Clopper-Pearson bound of a share: the largest one under which so few hits could be.

    With no hit it's ``1 - 0.05 ** (1 / trials)``. None where nothing was tried.
    """
    if trials <= 0:
        return None
    if hits >= trials:
        return 1.0
    if hits <= 0:
        return 1.0 - exp(log(1.0 - confidence) / trials)
    low, high = hits / trials, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if _at_most(hits, trials, middle) > 1.0 - confidence:
            low = middle
        else:
            high = middle
    return high


def _at_most(hits: int, trials: int, share: float) -> float:
    """Chance of at most so many hits, each term from its logarithm so that nothing overflows.

    From the last term on, which is the largest one where the share is above that of the hits; what's too small to
    change the sum isn't added up.
    """
    if share >= 1.0:
        return 0.0
    total = 0.0
    for k in range(hits, -1, -1):
        ways = lgamma(trials + 1) - lgamma(k + 1) - lgamma(trials - k + 1)
        term = exp(ways + k * log(share) + (trials - k) * log(1.0 - share))
        if term <= total * NOTHING and k < trials * share:
            break
        total += term
    return min(1.0, total)
