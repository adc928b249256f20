"""How many stops are needed for which coverage and confidence."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmtest.tune.bound import confidence_of, rollouts_needed, stops_needed

SHARES = st.floats(min_value=0.05, max_value=0.995)


@pytest.mark.parametrize(
    ("coverage", "confidence", "stops"),
    [
        (0.9, 0.9, 22),
        (0.95, 0.95, 59),
        (0.99, 0.99, 459),
        (0.9, 0.95, 29),
        (0.5, 0.5, 1),
        (0.5, 0.75, 2),
        (0.8, 0.9, 11),
    ],
)
def test_so_many_stops_are_needed(coverage: float, confidence: float, stops: int) -> None:
    """The first three stand in every table of distribution-free tolerance limits."""
    assert stops_needed(coverage, confidence) == stops


@given(SHARES, SHARES)
def test_they_are_enough_and_one_less_isnt(coverage: float, confidence: float) -> None:
    stops = stops_needed(coverage, confidence)
    assert confidence_of(stops, coverage) >= confidence - 1e-9
    assert stops == 1 or confidence_of(stops - 1, coverage) < confidence


def test_the_longest_of_so_many_covers_as_often_as_it_says() -> None:
    """By trial: of 4,000 tunes about 90 % have a longest stop that 90 % of all stops don't exceed."""
    dice = random.Random(1)
    covers = sum(max(dice.random() for _ in range(22)) >= 0.9 for _ in range(4000))
    assert 0.88 < covers / 4000 < 0.925


@pytest.mark.parametrize(
    ("stops", "per_rollout", "rollouts"),
    [(22, 8, 3), (22, 100, 3), (22, 3, 8), (22, 1, 22), (1, 8, 3), (59, 8, 8), (5, 0, 5)],
)
def test_stops_come_from_three_rollouts_at_least(stops: int, per_rollout: int, rollouts: int) -> None:
    assert rollouts_needed(stops, per_rollout) == rollouts
