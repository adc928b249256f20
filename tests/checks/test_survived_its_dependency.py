from __future__ import annotations

import pytest

from swarmtest.checks import Outcome
from tests.judge.acting import killed_by_its_health, without_the_bank
from tests.judge.builder import Rollout

CHECK = "survived_its_dependency"


def test_passes_when_each_instance_ran_on_without_it() -> None:
    verdict = without_the_bank().verdict(CHECK)
    assert verdict.outcome is Outcome.PASSED
    assert verdict.sentence == "Each of the 3 instances survived 10.0 s without bank."


def test_health_checks_that_kill_all_instances_together_are_a_correlated_failure() -> None:
    """SkygearIO/skygear-server #279, moby/moby #26664: nobody touched a container, and all of them died."""
    rollout = without_the_bank()
    for slot in (1, 2, 3):
        killed_by_its_health(rollout, slot, 4.0 + 0.6 * slot)
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert verdict.sentence == (
        "Correlated health failure: 3 of 3 instances were killed by their health check within 1.2 s of each other while"
        " bank was off; the probe amplifies the outage."
    )
    assert "api.1 (oldtask1): health check, 4.2 s after bank was off" in verdict.evidence[0]
    assert "liveness touches no dependency" in (verdict.advice or "")


def test_one_that_its_health_check_kills_when_the_dependency_is_just_back_counts_too() -> None:
    rollout = without_the_bank()
    killed_by_its_health(rollout, 2, 12.0)
    verdict = rollout.verdict(CHECK)
    assert verdict.sentence == "1 of 3 instances was killed by its health check while bank was off."


def test_one_that_ended_for_its_health_much_later_is_no_victim_of_it() -> None:
    rollout = without_the_bank(until=2.0)
    rollout.plan["stack"]["healthcheck"] |= {"interval_seconds": 0.5, "retries": 1}
    killed_by_its_health(rollout, 2, 14.0)
    assert rollout.verdict(CHECK).outcome is Outcome.PASSED


def test_an_app_that_ends_without_its_dependency_fails_it_with_another_advice() -> None:
    rollout = without_the_bank()
    life = rollout.old[0]
    life.exited, life.exit_code, life.state_error = 1.0, 1, "task: non-zero exit (1)"
    verdict = rollout.verdict(CHECK)
    assert verdict.sentence == "1 of 3 instances ended by themselves while bank was off."
    assert "carry on without its dependency" in (verdict.advice or "")


def test_a_dependency_that_was_off_for_less_than_the_check_needs_proves_nothing() -> None:
    verdict = without_the_bank(until=3.0).verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "bank was off for 2.6 s, and the health check needs 4 s to notice" in verdict.evidence[0]


def test_a_dependency_that_nobody_saw_go_proves_nothing() -> None:
    rollout = without_the_bank()
    rollout.drop(lambda event: event.get("service") == "bank")
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert verdict.sentence == "No dependency was seen to be off."


def test_a_stream_that_broke_proves_nothing() -> None:
    rollout = without_the_bank()
    rollout.event(3.0, "stream_broken", what="engine events", error="connection lost")
    assert rollout.verdict(CHECK).outcome is Outcome.NOT_PROVED


@pytest.mark.parametrize("check", [None])
def test_without_a_health_check_nobody_is_killed_by_one(check: None) -> None:
    rollout = without_the_bank(until=2.0)
    rollout.plan["stack"]["healthcheck"] = check
    assert rollout.verdict(CHECK).outcome is Outcome.PASSED


def test_where_no_dependency_is_named_it_says_how_to() -> None:
    verdict = Rollout().verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "x-swarmtest dependency" in (verdict.advice or "")
