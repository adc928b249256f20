"""What a run shows of its stops: how long each part took, and which of them count."""

from __future__ import annotations

from dataclasses import replace

import pytest

from swarmtest.losses.mechanisms import Mechanism
from swarmtest.tune.seeing import Seen, seen_of
from swarmtest.tune.stops import measured
from tests.judge.builder import Rollout
from tests.judge.stories import killed_at_the_end_of_the_grace


def of(rollout: Rollout, armed: float = 30.0) -> Seen:
    return seen_of(rollout.judged(), rollout.document(), "run", (2, armed))


def test_a_stop_is_measured_from_its_signal() -> None:
    seen = of(Rollout().at(10.0, 4.0))
    first = seen.stops[0]
    assert (first.run, first.instance, first.grace_seconds) == (2, "api.1", 30.0)
    assert first.stop_seconds == pytest.approx(3.5, abs=0.01)
    assert first.wait_seconds == pytest.approx(2.0, abs=0.01)
    assert first.drain_seconds == pytest.approx(2.0, abs=0.3)
    assert first.closing_seconds == pytest.approx(3.5 - (first.drain_seconds or 0.0), abs=0.01)
    assert first.propagation_seconds == pytest.approx(0.2, abs=0.3)
    assert [stop.counted for stop in seen.stops] == [True, True, True]
    assert (seen.lost, seen.endings, seen.ways, seen.told) == (0, (), (), 3)
    assert seen.longest_seconds == pytest.approx(4.5, abs=0.05)


def test_five_seconds_after_the_last_answer_are_five_seconds_of_closing() -> None:
    rollout = Rollout()
    for life in rollout.old:
        life.exited = (life.exited or 0.0) + 5.0
    more = of(rollout).stops[0].closing_seconds or 0.0
    assert more == pytest.approx((of(Rollout()).stops[0].closing_seconds or 0.0) + 5.0, abs=0.05)


def test_a_stop_under_another_grace_than_the_one_that_was_armed_isnt_counted() -> None:
    """docker/cli #2441: a changed grace counts from the next replacement on."""
    assert [stop.why_not for stop in of(Rollout(), armed=60.0).stops] == [
        "made with a grace of 30 s, not with the 60 s that were to be tried"
    ] * 3


def test_a_stop_whose_end_wasnt_seen_isnt_counted() -> None:
    rollout = Rollout()
    rollout.drop(lambda event: event.get("action") == "kill" and event.get("container_id", "").startswith("3031"))
    reasons = [stop.why_not for stop in of(rollout).stops]
    assert sum(not reason for reason in reasons) in (2, 3)
    rollout.drop(lambda event: event.get("action") == "kill")
    rollout.drop(lambda event: event["kind"] == "record" and event["event"] == "signal")
    assert all("signal wasn't seen" in stop.why_not for stop in of(rollout).stops)


def test_a_stop_with_nothing_to_do_says_nothing_of_drains() -> None:
    rollout = Rollout()
    rollout.rates = {"short": 0.01, "long": 0.01}
    assert {stop.why_not for stop in of(rollout).stops} == {"no request ran on it when it got the signal"}


def test_one_that_was_killed_as_its_grace_was_over_is_called_so() -> None:
    rollout = Rollout()
    for life in killed_at_the_end_of_the_grace(rollout):
        life.closed = life.unready
        running = rollout.unanswered(f"long-on-{life.slot}", life.announced or 0, life.killed or 0)
        running.on, running.steps = life, {"start": (life.announced or 0) + 0.01}
    seen = of(rollout, armed=4.0)
    assert all(stop.killed and stop.why_not == "killed as its grace was over" for stop in seen.stops)
    assert set(seen.endings) == {Mechanism.GRACE_TOO_SHORT}
    assert sum(stop.lost for stop in seen.stops) == seen.lost > 0


@pytest.mark.parametrize("cause", ["stopped by somebody else", "killed by somebody else", None])
def test_a_stop_that_swarm_didnt_order_isnt_counted(cause: str | None) -> None:
    """`docker stop` by hand has a time of its own."""
    life = replace(Rollout().judged().timeline.meant_to_stop[0], cause=cause)
    (one,) = measured([life], 2, 30.0, {})
    assert one.why_not == (cause or "who asked it to stop is unknown")
    assert not one.counted


def test_stops_of_a_run_whose_client_was_at_its_limit_dont_count() -> None:
    rollout = Rollout()
    rollout.traffic = {"cpu_share_max": 0.99, "late_ms_p99": 900.0}
    seen = of(rollout)
    assert seen.undelivered
    assert {stop.why_not for stop in seen.stops} == {seen.undelivered[0]}
