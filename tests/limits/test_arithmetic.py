"""How many answers a percentile needs, and when a tail is too long to be luck."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmtest.limits.arithmetic import DOUBT, State, chance, least_answers, rank, tail_state


@pytest.mark.parametrize(("share", "least"), [(0.5, 5), (0.9, 29), (0.95, 59), (0.99, 299), (0.999, 2995), (1.0, 1)])
def test_so_many_answers_prove_a_percentile(share: float, least: int) -> None:
    assert least_answers(share) == least
    assert share == 1.0 or share**least <= DOUBT < share ** (least - 1)


@pytest.mark.parametrize(
    ("answers", "above", "state"),
    [
        (12, 0, State.UNCLEAR),
        (298, 0, State.UNCLEAR),
        (299, 0, State.HOLDS),
        (299, 2, State.HOLDS),
        (299, 3, State.BROKEN),
        (12, 1, State.UNCLEAR),  # one slow one of 12 may be luck
        (12, 6, State.BROKEN),  # six aren't
        (0, 0, State.UNCLEAR),
    ],
)
def test_a_p99_of_a_few_is_only_told_when_luck_cannot_be_the_reason(answers: int, above: int, state: State) -> None:
    assert tail_state(answers, above, 0.99) is state


def test_the_slowest_answer_of_any_number_is_the_slowest() -> None:
    assert tail_state(1, 0, 1.0) is State.HOLDS
    assert tail_state(1000, 1, 1.0) is State.BROKEN


@pytest.mark.parametrize(("answers", "share", "place"), [(100, 0.99, 99), (101, 0.99, 100), (1, 0.5, 1), (10, 1.0, 10)])
def test_a_percentile_is_the_nearest_rank(answers: int, share: float, place: int) -> None:
    assert rank(answers, share) == place


def test_the_chance_of_so_many_hits_is_exact() -> None:
    assert chance(1, 12, 0.01) == pytest.approx(1 - 0.99**12)
    assert chance(2, 2, 0.5) == pytest.approx(0.25)
    assert (chance(0, 0, 0.5), chance(1, 5, 0.0), chance(5, 5, 1.0)) == (1.0, 0.0, 1.0)


@given(st.integers(1, 5000), st.integers(0, 40), st.floats(0.001, 0.999))
def test_more_hits_are_never_likelier(trials: int, hits: int, share: float) -> None:
    assert 0 <= chance(hits + 1, trials, share) <= chance(hits, trials, share) + 1e-9
