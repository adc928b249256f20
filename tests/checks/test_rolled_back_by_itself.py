from __future__ import annotations

import pytest

from swarmtest.checks import Outcome
from tests.judge.acting import TURNED, acted, bad_release
from tests.judge.builder import T0, Rollout

CHECK = "rolled_back_by_itself"


@pytest.mark.parametrize(
    ("way", "order"),
    [("never", "start-first"), ("soon", "start-first"), ("never", "stop-first"), ("soon", "stop-first")],
)
def test_passes_when_swarm_took_it_back_and_the_old_ones_served_on(way: str, order: str) -> None:
    """docker/cli #6752: the command says that it converged, and so it did: to the version of before."""
    verdict = bad_release(way, order=order).verdict(CHECK)
    assert verdict.outcome is Outcome.PASSED, verdict
    assert (
        verdict.sentence
        == "Swarm rolled the release back by itself, and 3 instances of the version of before served on."
    )
    assert any("rollback_completed" in line for line in verdict.evidence)
    assert any("survived, and served" in line for line in verdict.evidence)
    assert not any(" new" in line and "left running" in line for line in verdict.evidence)


def test_losses_of_both_ways_are_told_apart() -> None:
    rollout = bad_release()
    rollout.bad_gateway("there", 2.2, 2.3, rollout.old[0])
    rollout.bad_gateway("back", 6.5, 6.6, rollout.old[0])
    rollout.bad_gateway("back-too", 6.6, 6.7, rollout.old[0])
    evidence = rollout.verdict(CHECK).evidence
    assert "lost before the rollback began: 1 (1 gateway); after: 2 (2 gateway)" in evidence


def test_an_update_that_pauses_instead_fails_it_with_the_setting_to_change() -> None:
    """moby/moby #34245: pause is the default, and leaves two versions behind."""
    rollout = bad_release("soon")
    rollout.status = [(0.2, "updating"), (TURNED, "paused")]
    rollout.new = rollout.new[:1]
    rollout.plan["stack"]["failure_action"] = "pause"
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "paused instead of rolled back: 0 new and 2 old instances are left running" in verdict.sentence
    assert any("nothing in slot 1" in line for line in verdict.evidence)
    assert verdict.advice == "set update_config.failure_action: rollback (its default is pause)"


@pytest.mark.parametrize(("monitor", "words"), [(5.0, "5 s"), (0.0, "5 s"), (None, "5 s")])
def test_a_monitor_that_is_too_short_fails_it_with_the_right_formula(monitor: float | None, words: str) -> None:
    """moby/moby #37972: start_period isn't part of it, and 0 isn't off."""
    rollout = bad_release("soon")
    rollout.status = [(0.2, "updating"), (7.0, "completed")]
    rollout.new = rollout.new[:1]
    rollout.new[0].healthy, rollout.new[0].exited = 1.0, 7.5
    rollout.plan["stack"]["monitor_seconds"] = monitor
    rollout.plan["stack"]["healthcheck"]["start_period_seconds"] = 120.0
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "failed 6.5 s after it was healthy, when Swarm no longer watched it (monitor 5 s)" in verdict.sentence
    assert "such a task is only restarted, and nothing is rolled back" in verdict.sentence
    assert f"raise update_config.monitor from {words} to 10 s, above 9 s, which is retries × (interval + timeout)" in (
        verdict.advice or ""
    )


def completed_though_bad() -> Rollout:
    rollout = bad_release("soon")
    rollout.status = [(0.2, "updating"), (7.0, "completed")]
    rollout.new = rollout.new[:1]
    rollout.new[0].healthy, rollout.new[0].exited = 1.0, 7.5
    return rollout


def test_a_policy_that_goes_on_whatever_fails_is_the_setting_to_change() -> None:
    rollout = completed_though_bad()
    rollout.plan["stack"]["failure_action"] = "continue"
    assert "failure_action: rollback (it's continue" in (rollout.verdict(CHECK).advice or "")


def test_a_monitor_is_to_be_longer_than_the_delay() -> None:
    """moby/moby #37972, moby/moby PR #42875: within the delay older engines overlook a failure."""
    rollout = completed_though_bad()
    rollout.plan["stack"] |= {"delay_seconds": 30.0, "monitor_seconds": 5.0}
    assert "raise update_config.monitor from 5 s to 31 s" in (rollout.verdict(CHECK).advice or "")


def test_one_that_never_stops_trying_is_stuck() -> None:
    rollout = bad_release()
    rollout.status = [(0.2, "updating"), (9.0, "updating")]
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "stuck" in verdict.sentence
    assert "health log" in (verdict.advice or "")


def test_an_old_instance_that_start_first_stopped_without_a_healthy_new_one_fails_it() -> None:
    rollout = bad_release()
    life = rollout.old[1]
    life.announced, life.desired, life.signalled, life.exited = 3.0, 2.95, 5.0, 6.0
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "no new instance in its slot was healthy" in verdict.evidence[0]


def test_an_old_instance_that_went_on_the_way_back_fails_it() -> None:
    rollout = bad_release()
    life = rollout.old[1]
    life.announced, life.desired, life.signalled, life.exited = 7.5, 7.45, 8.0, 8.2
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "from the rollback's begin" in verdict.evidence[0]


def test_a_new_instance_that_is_left_fails_it() -> None:
    rollout = bad_release("soon")
    bad = rollout.new[0]
    bad.exited = bad.state_error = None
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert verdict.evidence[0] == "the new version still runs on api.1 (newtask1)"


def test_a_rollback_that_somebody_ordered_proves_nothing_of_swarm() -> None:
    rollout = bad_release()
    rollout.event(5.5, "guard", name="stop-at", text="9.1 % lost over 5 s")
    acted(rollout, "rollback", 5.6, number=2)
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "9.1 % lost" in verdict.evidence[0]


def test_without_the_status_nothing_is_proved() -> None:
    rollout = bad_release()
    rollout.status = []
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED


def test_a_survivor_that_nobody_asked_afterwards_is_not_known_to_serve() -> None:
    rollout = bad_release()
    rollout.requests()
    rollout.sent = [one for one in rollout.sent if one.fields["sent"] < T0 + 7.0]
    assert rollout.verdict(CHECK).outcome is Outcome.NOT_PROVED


def test_no_release_at_all_proves_nothing() -> None:
    assert Rollout(update=False).verdict(CHECK).outcome is Outcome.NOT_PROVED


def test_a_monitor_that_is_long_enough_is_not_the_setting_to_change() -> None:
    rollout = bad_release()
    rollout.plan["stack"]["monitor_seconds"] = 60.0
    rollout.status = [(0.2, "updating"), (TURNED, "completed")]
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "monitor" not in (verdict.advice or "")
    assert "its health check fails" in (verdict.advice or "")
