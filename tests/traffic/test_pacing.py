"""Who sends what when is arithmetic: tables first, then what holds for every pace."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmtest.traffic.curve import Curve
from swarmtest.traffic.pacing import BLOCK, MOST_LANES, Pace, is_fresh, lanes_needed, share_of
from swarmtest.traffic.settings import Kind, Stage, TrafficSettings

stages = st.lists(st.builds(Stage, st.floats(0.1, 30.0), st.floats(0.0, 300.0), st.floats(0.0, 300.0)), max_size=4)
curves = st.builds(Curve, st.floats(0.2, 500.0), stages)
paces = st.builds(
    Pace,
    st.sampled_from(["short", "long"]),
    curves,
    st.integers(1, 60),
    st.tuples(st.integers(0, 300), st.integers(300, 6000)),
    st.integers(0, 2**32),
    poisson=st.booleans(),
)
counted = st.builds(lambda pace, count: replace(pace, count=count), paces, st.integers(1, 200))


def pace_of(rate: float, lanes: int = 1, **changed: Any) -> Pace:
    return Pace("short", Curve(rate), lanes, (20, 300), changed.pop("seed", 42), **changed)


@pytest.mark.parametrize(
    ("rate", "longest_seconds", "lanes"),
    [(34.0, 0.3, 34), (6.0, 6.0, 48), (1.0, 0.0, 1), (0.1, 1.0, 1), (20.0, 3.0, 85), (2000.0, 0.3, MOST_LANES)],
)
def test_there_are_enough_lanes_for_the_rate_although_requests_take_long(
    rate: float, longest_seconds: float, lanes: int
) -> None:
    assert lanes_needed(rate, longest_seconds) == lanes


@given(st.floats(0.01, 1000.0), st.floats(0.0, 60.0))
def test_a_lane_is_done_with_the_longest_request_before_its_next_is_due(rate: float, longest: float) -> None:
    # Two neighbours of one lane are at least (lanes - 1) slots apart, whatever their jitter.
    lanes = lanes_needed(rate, longest)
    assert lanes == MOST_LANES or lanes / rate >= longest * 1.25 + 0.5


def test_a_kind_may_name_its_lanes_itself() -> None:
    assert Pace.of(Kind(name="a", path="/", rate=1000.0, lanes=32), 42).lanes == 32
    assert Pace.of(Kind(name="a", path="/", rate=6.0, milliseconds=(4000, 6000)), 42).lanes == 48


@pytest.mark.parametrize(
    ("rate", "longest_ms", "lanes", "idle"),
    [(36.0, 300, 36, 1), (9.0, 7000, 84, 1), (200.0, 300, 200, 1), (201.0, 300, 200, 2), (2000.0, 300, 200, 10)],
)
def test_idle_connections_are_as_many_as_the_rate_needs(rate: float, longest_ms: int, lanes: int, idle: int) -> None:
    pace = Pace.of(Kind(name="a", path="/", rate=rate, milliseconds=(20, longest_ms)), 42)
    assert (pace.lanes, pace.idle) == (lanes, idle)


@pytest.mark.parametrize(("share", "fresh"), [(0.5, 24), (0.0, 0), (1.0, 48), (0.25, 12)])
def test_the_share_of_fresh_lanes_is_met_within_each_kind(share: float, fresh: int) -> None:
    assert sum(is_fresh(lane, share) for lane in range(48)) == fresh


def test_kept_and_fresh_lanes_take_turns() -> None:
    assert [is_fresh(lane, 0.5) for lane in range(6)] == [False, True] * 3


@given(st.floats(0.2, 500.0), st.integers(0, 5000), st.integers(0, 2**32))
def test_each_even_request_is_due_inside_its_own_slot(rate: float, n: int, seed: int) -> None:
    assert n / rate <= pace_of(rate, seed=seed).instant(n) <= (n + 1) / rate


@given(paces, st.integers(0, 300))
def test_no_request_is_due_before_the_one_that_precedes_it(pace: Pace, n: int) -> None:
    assert 0 <= pace.instant(n) <= pace.instant(n + 1)


@given(paces, st.lists(st.integers(0, 300), min_size=1, max_size=5))
def test_an_instant_is_the_same_in_whichever_order_one_asks(pace: Pace, numbers: list[int]) -> None:
    asked = {n: pace.instant(n) for n in numbers}
    fresh = replace(pace, _walk=type(pace._walk)())
    assert asked == {n: fresh.instant(n) for n in sorted(asked)}


def test_strangers_come_as_many_as_the_rate_says_and_as_unevenly_as_chance_does() -> None:
    """Of a Poisson process the gaps' mean and standard deviation are the same, and so are counts' mean and variance."""
    pace = pace_of(50.0, poisson=True)
    instants = [pace.instant(n) for n in range(10_000)]
    gaps = [later - sooner for sooner, later in pairwise(instants)]
    mean = sum(gaps) / len(gaps)
    spread = (sum((gap - mean) ** 2 for gap in gaps) / len(gaps)) ** 0.5
    assert mean == pytest.approx(0.02, rel=0.02)
    assert spread == pytest.approx(mean, rel=0.03)
    seconds = Counter(int(instant) for instant in instants if instant < 190)
    counts = [seconds[second] for second in range(190)]
    middle = sum(counts) / len(counts)
    assert sum((count - middle) ** 2 for count in counts) / len(counts) == pytest.approx(middle, rel=0.25)


@given(paces, st.integers(0, 50))
def test_each_block_holds_the_same_durations_for_every_seed(pace: Pace, block: int) -> None:
    other = replace(pace, seed=pace.seed + 1)
    numbers = range(block * BLOCK, (block + 1) * BLOCK)
    durations = [pace.duration_ms(n) for n in numbers]
    assert Counter(durations) == Counter(other.duration_ms(n) for n in numbers)
    assert (min(durations), max(durations)) == pace.milliseconds


def test_the_same_seed_sends_the_same_list_and_another_seed_another_order() -> None:
    # Written down, so that a change of Python or of the arithmetic that alters it is seen.
    first = [pace_of(34.0).duration_ms(n) for n in range(8)]
    assert first == FIRST_OF_SEED_42
    assert first != [pace_of(34.0, seed=43).duration_ms(n) for n in range(8)]
    strangers = pace_of(1.0, poisson=True)
    assert [round(strangers.instant(n), 4) for n in range(4)] == FIRST_STRANGERS_OF_SEED_42


FIRST_OF_SEED_42 = [146, 137, 20, 38, 183, 165, 83, 291]
FIRST_STRANGERS_OF_SEED_42 = [0.6523, 0.7969, 0.904, 0.9063]


@given(paces, st.floats(0.0, 2.0), st.integers(0, 100))
def test_due_by_counts_exactly_the_requests_whose_instant_has_come(pace: Pace, elapsed: float, after: int) -> None:
    due = pace.due_by(elapsed)
    assert due == 0 or pace.instant(due - 1) <= elapsed
    assert pace.instant(due) > elapsed
    assert pace.due_by(elapsed, min(after, due)) == due


@given(counted, st.floats(0.0, 100.0))
def test_no_more_are_due_than_the_number(pace: Pace, elapsed: float) -> None:
    assert pace.count is not None
    assert pace.due_by(elapsed) <= pace.count
    assert pace.is_over(pace.count)
    assert not pace.is_over(pace.count - 1)


def settings_of(*kinds: Kind) -> TrafficSettings:
    return TrafficSettings(run="r", out="o", url="http://x", kinds=list(kinds))


@given(st.integers(1, 9), st.floats(0.1, 2000.0), st.integers(1, 100))
def test_the_shares_of_all_processes_are_the_whole(parts: int, rate: float, number: int) -> None:
    ramp = [Stage(10.0, 0.0, rate)]
    whole = settings_of(
        Kind(name="a", path="/", rate=rate, stages=ramp),
        Kind(name="b", path="/", rate=rate, count=number),
        Kind(name="c", path="/", rate=rate, protocol="websocket", sessions=number),
    )
    shares = [share_of(whole, part, parts) for part in range(parts)]
    kinds = [kind for share in shares for kind in share.kinds]
    assert len({share.seed for share in shares}) == parts
    assert sum(kind.rate for kind in kinds if kind.name == "a") == pytest.approx(rate)
    assert sum(stage.end for kind in kinds for stage in kind.stages) == pytest.approx(rate)
    assert sum(kind.count or 0 for kind in kinds) == number
    assert sum(kind.sessions or 0 for kind in kinds) == number
    assert {kind.rate for kind in kinds if kind.name == "c"} == {rate}, "each session has its own rate"
    assert all(kind.count != 0 and kind.sessions != 0 for kind in kinds)


def test_one_process_sends_what_the_settings_say() -> None:
    settings = settings_of(Kind(name="a", path="/", rate=3.0))
    assert share_of(settings, 0, 1) is settings
