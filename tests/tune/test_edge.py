"""The search for the boundary: few runs, and the right end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmtest.tune.edge import MOST_RUNS, boundary, next_to_try


def search(killed_up_to: int, longest: float, ceiling: int) -> dict[int, bool]:
    tried: dict[int, bool] = {}
    while (grace := next_to_try(longest, ceiling, tried)) is not None:
        assert grace not in tried, "a second try of the same tells nothing new"
        tried[grace] = grace <= killed_up_to
    return tried


@pytest.mark.parametrize(
    ("killed_up_to", "longest", "runs", "found"),
    [
        pytest.param(5, 5.3, 2, (5, 6), id="where the stops say"),
        pytest.param(4, 5.3, 2, (4, 5), id="the longest one was rare"),
        pytest.param(6, 5.3, 4, (6, 7), id="a longer one comes by"),
        pytest.param(2, 5.3, 4, (2, 3), id="all shorter"),
        pytest.param(0, 0.4, 1, (None, 1), id="nothing is ever killed"),
        pytest.param(12, 5.3, 4, (12, None), id="the value itself doesn't do"),
    ],
)
def test_it_is_found_in_few_runs(
    killed_up_to: int, longest: float, runs: int, found: tuple[int | None, int | None]
) -> None:
    tried = search(killed_up_to, longest, 12)
    assert (len(tried), boundary(tried)) == (runs, found)


@given(st.integers(0, 200), st.floats(0, 200), st.integers(1, 200))
def test_whatever_the_stops_say_it_ends_and_tells_nothing_wrong(
    killed_up_to: int, longest: float, ceiling: int
) -> None:
    tried = search(killed_up_to, longest, ceiling)
    killed, safe = boundary(tried)
    assert 1 <= len(tried) <= MOST_RUNS
    assert killed is None or killed <= killed_up_to
    assert safe is None or safe > killed_up_to
    assert all(1 <= grace <= ceiling for grace in tried)


@given(st.integers(1, 60), st.floats(-3, 3))
def test_near_the_measured_stops_the_boundary_is_always_found(killed_up_to: int, off: float) -> None:
    killed, safe = boundary(search(killed_up_to, max(0.0, killed_up_to + off), 100))
    assert (killed, safe) == (killed_up_to, killed_up_to + 1)


def test_a_value_that_does_below_one_that_kills_isnt_called_safe() -> None:
    assert boundary({3: False, 4: True, 5: False}) == (4, 5)
