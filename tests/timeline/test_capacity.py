from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmtest.timeline.capacity import (
    Spans,
    dips,
    fewest_by_second,
    least,
    promised,
    reached_at,
    ready_at,
    wanted_at,
)
from tests.judge.acting import bad_release
from tests.judge.builder import T0, Rollout
from tests.judge.stories import killed, scaled_in, stopped_by_hand

SPANS = [(0.0, 10.0), (0.0, 4.0), (6.0, float("inf"))]


@pytest.mark.parametrize(("t", "count"), [(-1.0, 0), (0.0, 2), (3.9, 2), (4.0, 1), (6.0, 2), (10.0, 1), (99.0, 1)])
def test_an_instance_counts_from_ready_to_the_first_sign_of_going(t: float, count: int) -> None:
    assert ready_at(SPANS, t) == count


def test_each_time_of_too_few_is_one_dip() -> None:
    assert dips(SPANS, 0.0, 12.0, 2) == [(4.0, 6.0, 1), (10.0, 12.0, 1)]
    assert dips(SPANS, 0.0, 12.0, 1) == []


@pytest.mark.parametrize(("wanted", "since", "t"), [(2, 4.0, 6.0), (1, 4.0, 4.0), (2, 0.0, 0.0), (2, 10.0, None)])
def test_capacity_is_back_when_so_many_are_ready_again(wanted: int, since: float, t: float | None) -> None:
    assert reached_at(SPANS, wanted, since) == t


@given(st.lists(st.tuples(st.floats(0, 50), st.floats(0, 50)).map(sorted).map(tuple), max_size=8), st.integers(1, 5))
def test_there_is_a_dip_exactly_where_the_least_is_too_few(spans: list[tuple[float, float]], wanted: int) -> None:
    rounded = [(round(a), round(b)) for a, b in spans]  # nothing is shorter than what counts as a dip
    assert bool(dips(rounded, 0.0, 60.0, wanted)) is (least(rounded, 0.0, 60.0) < wanted)


def test_scaling_changes_what_there_should_be_until_it_is_healed() -> None:
    judged = scaled_in().judged()
    counts = [wanted_at(judged.promises, judged.timeline, T0 + t) for t in (-1.0, 1.0, 9.0, 12.0)]
    assert counts == [3, 2, 2, 3]


def test_scaling_that_was_refused_changes_nothing() -> None:
    run = Rollout(update=False).act(1, "scale", 0.0, settings={"by": 2}, outcome="failed", error="no")
    judged = run.judged()
    assert wanted_at(judged.promises, judged.timeline, T0 + 5.0) == 3


@pytest.mark.parametrize(
    ("run", "order", "count"),
    [
        (Rollout(), "start-first", 3),
        (Rollout(), "stop-first", 2),
        (Rollout(update=False), "stop-first", 3),
        (scaled_in(), "stop-first", 2),
        (stopped_by_hand(), "stop-first", 2),
        (killed((0, 1)), "start-first", 1),
        (killed((0,), replicas=1), "start-first", 1),
    ],
)
def test_what_is_promised_depends_on_what_is_done(run: Rollout, order: str, count: int) -> None:
    run.plan["stack"]["order"] = order
    judged = run.judged()
    assert promised(judged.promises, judged.timeline) == count


@pytest.mark.parametrize(
    ("order", "parallelism", "count"), [("start-first", 1, 3), ("stop-first", 1, 2), ("stop-first", 0, 1)]
)
def test_an_update_that_is_rolled_back_promises_what_the_rollback_does(
    order: str, parallelism: int, count: int
) -> None:
    run = bad_release("soon")
    run.plan["stack"]["order"] = "start-first"
    run.plan["stack"]["rollback"] = {"order": order, "parallelism": parallelism}
    judged = run.judged()
    assert promised(judged.promises, judged.timeline) == count


@pytest.mark.parametrize(
    ("spans", "first", "last", "fewest"),
    [
        ([(0.0, 9.0)], 0.0, 2.5, [1, 1, 1]),
        ([(0.0, 1.4), (1.6, 9.0)], 0.5, 2.5, [1, 0, 1]),
        ([(0.6, 9.0)], 0.5, 1.5, [0, 1]),
        ([(0.4, 1.6)], 0.5, 1.5, [1, 1]),
        ([(0.0, 2.0), (2.0, 9.0)], 1.0, 3.0, [1, 1, 1]),
        ([], 5.2, 5.3, [0]),
    ],
)
def test_the_fewest_of_a_second_are_those_between_first_and_last(
    spans: Spans, first: float, last: float, fewest: list[int]
) -> None:
    assert fewest_by_second(spans, first, last) == fewest
