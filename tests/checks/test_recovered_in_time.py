from __future__ import annotations

import pytest

from swarmtest.checks import Outcome
from tests.judge.builder import Rollout
from tests.judge.stories import (
    dies,
    drained_too_long,
    frozen,
    hurting,
    killed,
    stopped_by_hand,
    terminated_by_force,
)

CHECK = "recovered_in_time"


def stories() -> dict[str, Rollout]:
    return {
        "kill": killed(),
        "two at once": killed((0, 2)),
        "direct": killed(front_door="direct"),
        "freeze": frozen(),
        "stop": stopped_by_hand(),
        "grace of 1 s": terminated_by_force(),
        "drains too long": drained_too_long(),
    }


@pytest.mark.parametrize("name", stories())
def test_passes_when_capacity_is_back_within_delay_and_time_to_healthy(name: str) -> None:
    verdict = stories()[name].verdict(CHECK)
    assert verdict.outcome is Outcome.PASSED, verdict


def test_it_says_what_the_allowed_time_is_the_sum_of() -> None:
    (line,) = killed().verdict(CHECK).evidence
    assert line == (
        "api.1 (oldtask1): 3 ready again 7.9 s after its end (allowed 5 s restart delay + 3.1 s to healthy (measured at"
        " the first start) + 5 s)"
    )


def test_a_replacement_that_takes_too_long_fails_with_its_time() -> None:
    run = killed()
    run.new[0].warm = run.new[0].healthy = 15.0
    verdict = run.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "3 ready again only 14.9 s after its end" in verdict.evidence[0]
    assert "restart_policy (delay, max_attempts)" in (verdict.advice or "")


def test_a_policy_that_replaces_nothing_is_named_with_the_empty_slot() -> None:
    run = killed((1,))
    run.new = []
    run.plan["stack"]["restart_condition"] = "none"
    verdict = run.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert verdict.evidence[0] == (
        "api.2 (oldtask2): never replaced, slot 2 empty at the end of the run (restart_policy condition none)"
    )
    assert verdict.advice == "set restart_policy condition: any (it's none), so that Swarm replaces what ends"


def test_on_failure_does_not_replace_what_was_stopped_by_hand() -> None:
    run = stopped_by_hand()
    run.new = []
    run.plan["stack"]["restart_condition"] = "on-failure"
    run.ends = 30.0
    verdict = run.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "on-failure doesn't replace what was stopped by hand and exits with 0" in (verdict.advice or "")


def test_one_that_is_hurt_again_before_it_could_be_back_is_judged_by_its_last_hurt() -> None:
    run = killed()
    run.ends = 30.0
    run.new[0].warm = run.new[0].healthy = None
    dies(run, run.new[0], 6.0, 12)
    run.act(2, "kill", 6.0, [run.new[0]])
    verdict = run.verdict(CHECK)
    assert verdict.outcome is Outcome.PASSED, verdict
    assert "hurt again 6.0 s later" in verdict.evidence[0]


def test_a_run_that_ends_before_capacity_could_be_back_proves_nothing() -> None:
    run = killed()
    run.new = []
    run.ends = 5.0
    verdict = run.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "the run ended 9.4 s after its end" in verdict.evidence[0]


def test_a_replacement_whose_readiness_nobody_saw_proves_nothing() -> None:
    run = killed()
    run.plan["stack"]["healthcheck"] = None
    run.new[0].healthy = run.new[0].warm = None
    verdict = run.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "healthcheck" in (verdict.advice or "")


def test_a_frozen_instance_that_never_serves_again_is_lost_capacity() -> None:
    run = frozen()
    run.old[0].number = 1
    run.requests()
    for one in run.sent:
        if one.on is run.old[0] and float(one.fields["sent"]) > 1_000_005.0:
            one.on, one.fields["instance"] = run.old[1], run.old[1].task
    verdict = run.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "api.1 (oldtask1): got nothing any more" in verdict.evidence[0]


def test_a_frozen_instance_that_nothing_shows_to_go_on_is_not_proved() -> None:
    run = frozen().drop(lambda event: event["kind"] == "act" and event["name"] == "heal")
    assert run.verdict(CHECK).outcome is Outcome.NOT_PROVED


def test_a_run_in_which_nothing_was_hurt_proves_nothing() -> None:
    assert hurting("kill").verdict(CHECK).outcome is Outcome.NOT_PROVED


def test_a_stop_first_update_is_not_held_to_all_replicas() -> None:
    run = terminated_by_force()
    run.plan["stack"]["order"] = "stop-first"
    for old, new in zip(run.old, run.new, strict=True):
        new.created, new.started = (old.exited or 0) + 0.1, (old.exited or 0) + 0.2
        new.warm = new.healthy = (old.exited or 0) + 0.6
    assert run.verdict(CHECK).outcome is Outcome.PASSED


def test_a_hole_in_the_timeline_leaves_it_unproved() -> None:
    run = killed()
    run.new = []
    run.event(1.0, "stream_broken", what="engine events", error="connection reset")
    assert run.verdict(CHECK).outcome is Outcome.NOT_PROVED


def test_what_the_restart_policy_never_replaces_is_not_waited_for() -> None:
    rollout = killed()
    rollout.plan["stack"]["restart_condition"] = "none"
    rollout.new, rollout.ends = [], 2.0
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "never replaced, slot 1 empty at the end of the run (restart_policy condition none)" in verdict.evidence[0]
    assert "set restart_policy condition: any" in (verdict.advice or "")


def test_a_neighbour_that_dies_by_itself_is_what_is_missing_and_not_the_replacement() -> None:
    run = killed()
    life = run.old[1]
    life.exited, life.exit_code, life.state_error = 3.0, 137, "task: non-zero exit (137)"
    verdict = run.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "api.1 (oldtask1): 3 never ready again, slot 2 empty" in verdict.evidence[0]
