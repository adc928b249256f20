"""From stops to settings: the sum, the bound, and which of them decides."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmtest.stack import HealthCheck, Service, UpdatePolicy
from swarmtest.stack.block.frontdoor import FrontDoor
from swarmtest.tune.recommend import (
    BOUND,
    MECHANISM,
    Needs,
    Recommended,
    fitting,
    recommend,
    wait_needed,
    whole_above,
)
from swarmtest.tune.stops import Stop, in_every_part, within
from tests.tune.stand_ins import stop

NEEDS = Needs(longest_seconds=7.0, measured_seconds=7.2, coverage=0.9, confidence=0.9)
DNS = FrontDoor("proxy", "edge", "dns", 1.0)


def stops(count: int = 24, seconds: float = 5.2, **how: float) -> list[Stop]:
    return [stop(run=2 + number % 3, seconds=seconds, **how) for number in range(count)]


def found(some: list[Stop], needs: Needs = NEEDS, door: FrontDoor = DNS) -> Recommended:
    one = recommend(some, needs, door)
    assert one is not None
    return one


def test_the_sum_is_wait_and_longest_request_and_closing_and_abort() -> None:
    one = found(stops())
    assert one.sum.total == pytest.approx(3.0 + 7.0 + 0.2 + 1.0)
    assert (one.grace_seconds, one.decided_by) == (12, MECHANISM)


def test_five_seconds_more_of_closing_are_five_seconds_more_of_grace() -> None:
    assert found(stops(closing_seconds=5.2, seconds=10.2)).grace_seconds == 17


def test_stops_that_took_longer_than_the_sum_decide() -> None:
    one = found([*stops(), stop(run=4, seconds=14.3)])
    assert (one.grace_seconds, one.decided_by) == (15, BOUND)


def test_a_grace_is_whole_seconds_above_since_the_engine_cuts_fractions() -> None:
    assert [whole_above(seconds) for seconds in (0.0, 0.2, 11.2, 12.0, 11.9999999)] == [1, 1, 12, 13, 13]


def test_what_a_busy_machine_adds_to_some_rollouts_doesnt_move_the_sum() -> None:
    """Closings of three rollouts while the machine had 20 processes waiting for its two processors."""
    busy = [
        [0.079, 0.081, 0.108, 0.124, 0.128, 0.157, 0.175, 0.191],
        [0.082, 0.082, 0.141, 0.146, 0.246, 0.289, 1.059, 1.949],
        [0.229, 0.307, 1.474, 1.556, 2.224, 2.731, 2.737, 2.931],
    ]
    some = [stop(run=run, closing_seconds=each) for run, rollout in enumerate(busy, 2) for each in rollout]
    assert found(some).sum.closing == 0.191
    assert found(some).grace_seconds == 12


def test_what_some_stops_of_every_rollout_take_longer_does() -> None:
    some = [stop(run=run, closing_seconds=5.0 if place % 3 == 0 else 0.2) for run in (2, 3, 4) for place in range(8)]
    assert found(some).sum.closing == 5.0
    assert found(some).grace_seconds == 17


def test_one_stop_a_rollout_tells_as_much_as_eight() -> None:
    some = [stop(run=run, closing_seconds=5.0 if run % 3 == 0 else 0.2) for run in range(24)]
    assert found(some).sum.closing == 5.0


def test_only_stops_that_count_are_counted() -> None:
    some = [*stops(22), stop(seconds=40.0, why_not="made with a grace of 30 s")]
    one = found(some)
    assert (one.bound.stops, one.bound.rollouts, one.bound.enough) == (22, 3, True)
    assert one.grace_seconds == 12


def test_too_few_stops_or_rollouts_arent_enough() -> None:
    assert not found(stops(21)).bound.enough
    assert not found([stop(run=2 + number % 2) for number in range(30)]).bound.enough
    assert recommend([], NEEDS, DNS) is None


def test_no_longest_request_is_no_value() -> None:
    assert recommend(stops(), Needs(0.0, 0.0, 0.9, 0.9), DNS) is None


def test_requests_that_take_longer_than_planned_count_as_they_were_measured() -> None:
    """A busy machine's few tenths are within the abort's second; a plan that's wrong isn't."""
    assert found(stops(), Needs(7.0, 7.9, 0.9, 0.9)).sum.longest == 7.0
    assert found(stops(), Needs(7.0, 9.5, 0.9, 0.9)).sum.longest == 9.5


def test_a_front_door_that_needs_longer_than_the_app_waits_decides_the_wait() -> None:
    probes = FrontDoor("proxy", "edge", "probe", 4.0)
    one = found(stops(), door=probes)
    assert (one.sum.wait, one.sum.wait_source) == (4.0, "what the front door needs to notice")
    assert one.grace_seconds == 13


@pytest.mark.parametrize(
    ("door", "seconds"),
    [
        (FrontDoor("proxy", "edge", "dns", 1.0), 0.0),
        (FrontDoor("proxy", "edge", "tasks", 15.0), 13.0),
        (FrontDoor("proxy", "edge", "probe", 3.0), 3.0),
        (FrontDoor("proxy", "edge", None, None), None),
    ],
)
def test_what_swarm_announces_it_announces_two_seconds_before_the_signal(
    door: FrontDoor, seconds: float | None
) -> None:
    assert wait_needed(door) == seconds


def test_the_apps_own_limit_fits_between_the_longest_request_and_the_abort() -> None:
    least, most = found(stops()).limit_seconds
    assert (least, most) == (7.0, 8.0)


def test_delay_and_monitor_go_with_how_long_a_stop_takes() -> None:
    health = HealthCheck(("CMD", "x"), interval_seconds=2.0, timeout_seconds=2.0, retries=3)
    service = Service("api", "a", health=health, update=UpdatePolicy(order="start-first"))
    fit = fitting(service, 5.2)
    assert (fit.delay_seconds, fit.monitor_seconds, fit.unhealthy_seconds) == (8, 20, 12.0)


def test_stop_first_waits_by_itself_and_needs_no_delay() -> None:
    fit = fitting(Service("api", "a"), 5.2)
    assert (fit.delay_seconds, fit.monitor_seconds) == (0, 8)


def test_the_monitor_is_more_than_the_delay() -> None:
    slow = Service("api", "a", update=UpdatePolicy(order="stop-first", delay_seconds=30.0))
    assert fitting(slow, 1.0).monitor_seconds == 31


@pytest.mark.parametrize(("share", "value"), [(0.9, 9.0), (1.0, 10.0), (0.5, 5.0), (0.01, 1.0), (0.91, 10.0)])
def test_the_nearest_rank(share: float, value: float) -> None:
    assert within(map(float, range(10, 0, -1)), share) == value
    assert within([], share) is None


@pytest.mark.parametrize(
    ("values", "value"),
    [([], None), ([4.0], 4.0), ([4.0, 2.0], 4.0), ([4.0, 2.0, 3.0], 2.0), ([1.0, 9.0, 2.0, 8.0, 3.0, 7.0], 7.0)],
)
def test_the_least_of_three_parts(values: list[float], value: float | None) -> None:
    assert in_every_part(values, 0.9) == value


@given(st.lists(st.floats(0.0, 50.0), min_size=1, max_size=60))
def test_the_grace_is_always_longer_than_every_stop_and_than_the_sum(seconds: list[float]) -> None:
    some = [stop(run=place % 3, seconds=each) for place, each in enumerate(seconds)]
    one = found(some)
    assert one.grace_seconds > one.sum.total
    assert all(one.grace_seconds > (each.stop_seconds or 0.0) for each in some)
    assert one.grace_seconds <= max(one.sum.total, one.bound.longest) + 1
