"""Another machine's clock."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmtest.traffic.clocks import ahead_by, turned


@pytest.mark.parametrize(
    ("looks", "ahead", "error"),
    [
        ([(100.0, 50.5, 101.0)], 50.0, 0.5),
        ([(100.0, 50.9, 102.0), (200.0, 150.05, 200.1)], 50.0, 0.05),
        ([(100.0, 130.0, 100.0)], -30.0, 0.0),
    ],
)
def test_the_quickest_answer_tells_how_far_a_clock_is_ahead(
    looks: list[tuple[float, float, float]], ahead: float, error: float
) -> None:
    assert ahead_by(looks) == (pytest.approx(ahead), pytest.approx(error))


@given(
    st.floats(-1e4, 1e4),
    st.lists(st.tuples(st.floats(0, 1e4), st.floats(0, 2), st.floats(0, 2)), min_size=1, max_size=9),
)
def test_the_truth_is_within_the_error_whichever_way_takes_longer(
    truth: float, ways: list[tuple[float, float, float]]
) -> None:
    looks = [(asked, asked + there - truth, asked + there + back) for asked, there, back in ways]
    ahead, error = ahead_by(looks)
    assert abs(ahead - truth) <= error + 1e-6


def test_times_are_turned_and_nothing_else_is() -> None:
    line = b'{"id":"a","planned":1795996937.5,"done":null,"sent":3,"bytes_sent":2000000000,"p":1.5,"status":200}'
    fields = json.loads(turned(line, 100.25))
    assert fields == json.loads(line) | {"planned": 1795996837.25}
    assert list(fields) == list(json.loads(line))
    assert turned(line, 0.0) is line
