"""Who sends what when is arithmetic: tables first, then what holds for every pace."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmtest.traffic.pacing import BLOCK, Pace, is_fresh, lanes_needed, lanes_of
from swarmtest.traffic.settings import Kind

paces = st.builds(
    Pace,
    st.sampled_from(["short", "long"]),
    st.floats(0.2, 500.0),
    st.integers(1, 60),
    st.tuples(st.integers(0, 300), st.integers(300, 6000)),
    st.integers(0, 2**32),
)
counted = st.builds(lambda pace, count: replace(pace, count=count), paces, st.integers(1, 200))


@pytest.mark.parametrize(
    ("rate", "longest_seconds", "lanes"),
    [(34.0, 0.3, 34), (6.0, 6.0, 48), (1.0, 0.0, 1), (0.1, 1.0, 1), (20.0, 3.0, 85), (100.0, 0.5, 113)],
)
def test_there_are_enough_lanes_for_the_rate_although_requests_take_long(
    rate: float, longest_seconds: float, lanes: int
) -> None:
    assert lanes_needed(rate, longest_seconds) == lanes


@given(st.floats(0.01, 1000.0), st.floats(0.0, 60.0))
def test_a_lane_is_done_with_the_longest_request_before_its_next_is_due(rate: float, longest: float) -> None:
    # Two neighbours of one lane are at least (lanes - 1) slots apart, whatever their jitter.
    assert lanes_needed(rate, longest) / rate >= longest * 1.25 + 0.5


def test_a_kind_may_name_its_lanes_itself() -> None:
    assert lanes_of(Kind(name="a", path="/", rate=1000.0, lanes=32)) == 32
    assert lanes_of(Kind(name="a", path="/", rate=6.0, milliseconds=(4000, 6000))) == 48


@pytest.mark.parametrize(("share", "fresh"), [(0.5, 24), (0.0, 0), (1.0, 48), (0.25, 12)])
def test_the_share_of_fresh_lanes_is_met_within_each_kind(share: float, fresh: int) -> None:
    assert sum(is_fresh(lane, share) for lane in range(48)) == fresh


def test_kept_and_fresh_lanes_take_turns() -> None:
    assert [is_fresh(lane, 0.5) for lane in range(6)] == [False, True] * 3


@given(paces, st.integers(0, 5000))
def test_each_request_is_due_inside_its_own_slot(pace: Pace, n: int) -> None:
    assert n / pace.rate <= pace.instant(n) <= (n + 1) / pace.rate


@given(paces, st.integers(0, 50))
def test_each_block_holds_the_same_durations_for_every_seed(pace: Pace, block: int) -> None:
    other = Pace(pace.kind, pace.rate, pace.lanes, pace.milliseconds, pace.seed + 1)
    numbers = range(block * BLOCK, (block + 1) * BLOCK)
    durations = [pace.duration_ms(n) for n in numbers]
    assert Counter(durations) == Counter(other.duration_ms(n) for n in numbers)
    assert (min(durations), max(durations)) == pace.milliseconds


def test_the_same_seed_sends_the_same_list_and_another_seed_another_order() -> None:
    # Written down, so that a change of Python or of the arithmetic that alters it is seen.
    first = [Pace("short", 34.0, 34, (20, 300), 42).duration_ms(n) for n in range(8)]
    assert first == FIRST_OF_SEED_42
    assert first != [Pace("short", 34.0, 34, (20, 300), 43).duration_ms(n) for n in range(8)]


FIRST_OF_SEED_42 = [146, 137, 20, 38, 183, 165, 83, 291]


@given(paces, st.lists(st.floats(0.0, 2.0), max_size=40))
def test_what_a_lane_sends_and_what_it_misses_are_all_its_requests(pace: Pace, takes: list[float]) -> None:
    """Each lane walks its own numbers, late where it must be, and accounts for every one it skips."""
    for lane in range(min(pace.lanes, 3)):
        elapsed, last, accounted = 0.0, None, 0
        for seconds in takes:
            n, missed = pace.next_of_lane(lane, last, elapsed)
            accounted += missed + 1
            assert n % pace.lanes == lane
            assert n == lane + (accounted - 1) * pace.lanes
            if missed:
                assert pace.instant(n) <= elapsed
            # Whatever is sent now, the lane's one after it isn't due yet.
            assert pace.instant(n) > elapsed or pace.instant(n + pace.lanes) > elapsed
            elapsed = max(elapsed, pace.instant(n)) + seconds
            last = n


@given(paces, st.floats(0.0, 100.0))
def test_due_by_counts_exactly_the_requests_whose_instant_has_come(pace: Pace, elapsed: float) -> None:
    due = pace.due_by(elapsed)
    assert due == 0 or pace.instant(due - 1) <= elapsed
    assert pace.instant(due) > elapsed


def test_a_lane_in_time_takes_its_next_request_and_a_late_one_the_latest_that_is_due() -> None:
    pace = Pace("k", 1.0, 2, (0, 0), 42)
    assert pace.next_of_lane(1, None, 0.0) == (1, 0)
    assert pace.next_of_lane(1, 1, 2.5) == (3, 0)
    assert pace.next_of_lane(1, 1, 4.0) == (3, 0)
    assert pace.next_of_lane(1, 1, 8.0) == (7, 2)


def sent_and_missed(pace: Pace, elapsed: float) -> tuple[list[int], int]:
    """What all lanes of a pace with a number send when they look at ``elapsed`` first, and what they miss."""
    sent, missed = [], 0
    for lane in range(pace.lanes):
        last = None
        while True:
            n, late = pace.next_of_lane(lane, last, elapsed)
            missed += late
            if pace.is_over(n):
                break
            sent.append(n)
            last = n
    return sorted(sent), missed


@given(counted)
def test_lanes_in_time_send_each_request_of_the_number_once_and_no_more(pace: Pace) -> None:
    assert pace.count is not None
    assert sent_and_missed(pace, 0.0) == (list(range(pace.count)), 0)


@given(counted, st.floats(0.0, 500.0))
def test_late_lanes_account_for_the_whole_number(pace: Pace, elapsed: float) -> None:
    sent, missed = sent_and_missed(pace, elapsed)
    assert len(sent) + missed == pace.count
    assert not any(pace.is_over(n) for n in sent)


@given(counted, st.floats(0.0, 1e6))
def test_no_more_are_due_than_the_number(pace: Pace, elapsed: float) -> None:
    unbounded = replace(pace, count=None)
    assert pace.due_by(elapsed) == min(unbounded.due_by(elapsed), pace.count or 0)
