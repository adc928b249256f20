"""The two sums of a rate that changes: tables, and that each is the other's inverse."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmtest.traffic.curve import Curve
from swarmtest.traffic.settings import Stage

RAMP = Curve(100.0, [Stage(30.0, 10.0, 100.0)])
BURST = Curve(20.0, [Stage(10.0, 20.0, 20.0), Stage(5.0, 200.0, 200.0)])
WAVES = Curve(20.0, [Stage(10.0, 20.0, 20.0), Stage(5.0, 200.0, 200.0)], repeats=True)
PAUSE = Curve(10.0, [Stage(1.0, 10.0, 10.0), Stage(4.0, 0.0, 0.0)])


@pytest.mark.parametrize(
    ("curve", "seconds", "count"),
    [
        (Curve(40.0), 2.5, 100.0),
        (Curve(40.0), -1.0, 0.0),
        (RAMP, 10.0, 250.0),
        (RAMP, 30.0, 1650.0),
        (RAMP, 31.0, 1750.0),
        (BURST, 10.0, 200.0),
        (BURST, 12.0, 600.0),
        (BURST, 16.0, 1220.0),
        (WAVES, 15.0, 1200.0),
        (WAVES, 27.0, 1800.0),
        (PAUSE, 3.0, 10.0),
        (PAUSE, 6.0, 20.0),
        (Curve(5.0, [Stage(0.0, 1.0, 5.0)]), 2.0, 10.0),
    ],
)
def test_so_many_requests_by_then(curve: Curve, seconds: float, count: float) -> None:
    assert curve.count_at(seconds) == pytest.approx(count)


@pytest.mark.parametrize(
    ("curve", "count", "seconds"),
    [
        (Curve(40.0), 100.0, 2.5),
        (RAMP, 0.0, 0.0),
        (RAMP, 250.0, 10.0),
        (RAMP, 1750.0, 31.0),
        (BURST, 600.0, 12.0),
        (WAVES, 1800.0, 27.0),
        (Curve(10.0, [Stage(10.0, 0.0, 10.0)]), 12.5, 5.0),
        (Curve(10.0, [Stage(10.0, 10.0, 0.0)]), 37.5, 5.0),
        (PAUSE, 11.0, 5.1),
        (Curve(1.0, [Stage(3.0, 0.0, 2.3e-238)]), 2.3e-238, 3.0),
    ],
)
def test_then_there_are_so_many(curve: Curve, count: float, seconds: float) -> None:
    assert curve.time_of(count) == pytest.approx(seconds)


curves = st.builds(
    Curve,
    st.floats(0.1, 5000.0),
    st.lists(st.builds(Stage, st.floats(0.0, 60.0), st.floats(0.0, 5000.0), st.floats(0.0, 5000.0)), max_size=5),
)


@given(curves, st.floats(0.0, 1e5))
def test_the_count_at_the_time_of_a_count_is_that_count(curve: Curve, count: float) -> None:
    assert curve.count_at(curve.time_of(count)) == pytest.approx(count, rel=1e-6, abs=1e-5)


@given(curves, st.floats(0.0, 1e4), st.floats(0.0, 1e3))
def test_neither_sum_ever_goes_back(curve: Curve, count: float, more: float) -> None:
    assert curve.time_of(count) <= curve.time_of(count + more) + 1e-9
    assert curve.count_at(count) <= curve.count_at(count + more) + 1e-6
