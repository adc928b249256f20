"""Exact bounds, quickly: also of runs that lost nearly everything."""

from __future__ import annotations

from math import comb

import pytest

from swarmtest.losses import proof
from swarmtest.losses.proof import upper_bound


@pytest.mark.parametrize(("hits", "trials"), [(0, 3), (1, 3), (2, 40), (7, 40), (20, 40), (39, 40)])
def test_a_bound_is_the_share_with_which_so_few_hits_are_just_as_likely_as_is_doubted(hits: int, trials: int) -> None:
    share = upper_bound(hits, trials)
    assert share is not None
    chance = sum(comb(trials, k) * share**k * (1 - share) ** (trials - k) for k in range(hits + 1))
    assert chance == pytest.approx(0.05, abs=1e-9)


def test_nothing_is_bounded_by_nothing_and_everything_by_all() -> None:
    assert upper_bound(0, 0) is None
    assert upper_bound(5, 5) == 1.0


def test_a_run_that_lost_nearly_everything_is_bounded_as_quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    terms = 0
    real = proof.exp

    def counting(value: float) -> float:
        nonlocal terms
        terms += 1
        return real(value)

    monkeypatch.setattr(proof, "exp", counting)
    bound = upper_bound(349_740, 361_590)
    assert bound is not None
    assert 349_740 / 361_590 < bound < 0.968
    assert terms < 200_000
