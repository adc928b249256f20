from __future__ import annotations

import pytest

from swarmtest.checks import Outcome
from tests.judge.builder import T0, Rollout
from tests.judge.stories import (
    drained_too_long,
    frozen,
    hurting,
    killed,
    replacement,
    scaled_in,
    stopped_by_hand,
    terminated_by_force,
    turns_bad_late,
    without_its_dependency,
)

CHECK = "hurt_what_was_planned"


def stories() -> dict[str, Rollout]:
    return {
        "kill": killed(),
        "two at once": killed((0, 2)),
        "freeze": frozen(),
        "stop": stopped_by_hand(),
        "scale in": scaled_in(),
        "grace of 1 s": terminated_by_force(),
        "drains too long": drained_too_long(),
        "bad release": turns_bad_late(),
        "dependency": without_its_dependency(),
        "rollout": Rollout(),
    }


@pytest.mark.parametrize("name", stories())
def test_passes_where_each_act_took_effect(name: str) -> None:
    verdict = stories()[name].verdict(CHECK)
    assert verdict.outcome is Outcome.PASSED, verdict


def test_a_kill_that_the_instance_outlives_took_no_effect() -> None:
    run = killed()
    run.old[0].exited = run.old[0].killed = run.old[0].state_error = None
    verdict = run.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert verdict.evidence[0] == "kill of api.1 (oldtask1): it runs on, running"
    assert "no fault of the stack" not in (verdict.advice or "")


def test_a_kill_of_one_that_had_ended_already_took_no_effect() -> None:
    run = killed()
    run.old[0].killed, run.old[0].exited, run.old[0].exit_code = None, -2.0, 1
    verdict = run.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "it had exited 2.00 s before" in verdict.evidence[0]


def test_one_that_froze_and_was_ended_meanwhile_did_not_go_on() -> None:
    run = frozen()
    life = run.old[0]
    life.exited, life.exit_code, life.frozen = 4.0, 137, (0.05, 5.0)
    run.drop(lambda event: event.get("action") == "unpause")
    verdict = run.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "it didn't live to go on" in verdict.evidence[0]


def test_a_step_that_a_guard_rail_forbade_is_not_proved_and_says_why() -> None:
    run = killed()
    run.plan["steps"].append({**run.plan["steps"][-1], "phase": "again"})
    why = "2 of api run; 2 must be left, so 1 can't be hurt"
    run.event(9.0, "act", id=2, name="kill", edge="skipped", target="api", settings={}, reason=why)
    verdict = run.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert verdict.evidence[0] == f"kill (act 2) was skipped: {why}"
    assert "more replicas" in (verdict.advice or "")


def test_a_step_that_was_never_begun_is_not_proved() -> None:
    run = killed()
    run.plan["steps"].append({**run.plan["steps"][-1], "phase": "again"})
    run.event(6.0, "guard", name="stop-at", text="9.1 % lost over 5 s (limit 5 %)")
    verdict = run.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "kill was planned 2 times and begun 1 times: the guard stopped it, 9.1 % lost" in verdict.evidence[0]


def test_an_act_that_was_refused_is_not_proved() -> None:
    run = killed()
    run.extra = [(t, kind, {**data, "outcome": "failed"} if "outcome" in data else data) for t, kind, data in run.extra]
    verdict = run.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "kill (act 1) ended failed" in verdict.evidence[0]


def test_an_instance_that_stopped_without_what_was_to_be_done_to_it_is_named() -> None:
    run = drained_too_long()
    run.drop(lambda event: event["kind"] == "act" and event["id"] == 4)
    verdict = run.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "api.2 (oldtask2) was told to stop, and no freeze came" in verdict.evidence


@pytest.mark.parametrize("action", ["pause", "unpause"])
def test_a_freeze_that_nobody_saw_is_not_proved(action: str) -> None:
    run = frozen().drop(lambda event: event.get("action") == action)
    assert run.verdict(CHECK).outcome is Outcome.NOT_PROVED


def test_a_plan_that_hurts_nothing_proves_nothing() -> None:
    assert Rollout(update=False).verdict(CHECK).outcome is Outcome.NOT_PROVED


def test_a_hole_in_the_timeline_makes_no_effect_unproved() -> None:
    run = killed()
    run.old[0].exited = run.old[0].killed = run.old[0].state_error = None
    run.event(0.0, "stream_broken", what="engine events", error="connection reset")
    assert run.verdict(CHECK).outcome is Outcome.NOT_PROVED


def test_a_service_that_was_not_scaled_is_not_proved() -> None:
    run = scaled_in()
    life = run.old[-1]
    life.desired = life.announced = life.signalled = life.unready = life.closed = life.exited = None
    assert run.verdict(CHECK).outcome is Outcome.NOT_PROVED


def test_a_rollout_among_other_acts_that_did_not_complete_is_no_rollout_that_was_done() -> None:
    for state, outcome in (("completed", Outcome.PASSED), ("paused", Outcome.FAILED), ("updating", Outcome.FAILED)):
        run = killed()
        run.ends = 25.0
        run.plan["steps"].append({"phase": "rollout", "fault": "update", "replaces": True, "prepares": False})
        run.act(2, "update", 10.0)
        run.event(18.0, "update_status", service="api", state=state, started=T0 + 10.05, message="said by Swarm")
        made = replacement(run.old[1], 11.0, 11.2, 12)
        run.new.append(made)
        verdict = run.verdict(CHECK)
        assert verdict.outcome is outcome, verdict
        if outcome is Outcome.FAILED:
            assert verdict.evidence[0] == f"update (act 2) didn't complete: {state} (said by Swarm)"
            assert "no new task gets healthy" in (verdict.advice or "")


def test_a_rollout_of_which_swarm_was_not_heard_is_not_proved() -> None:
    run = Rollout().drop(lambda event: event["kind"] == "update_status")
    verdict = run.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "update (act 1): no UpdateStatus of it was seen" in verdict.evidence


def test_where_every_step_was_forbidden_no_check_asks_for_the_same_run_again() -> None:
    run = hurting("kill")
    run.event(0.0, "act", id=1, name="kill", edge="skipped", target="api", settings={}, reason="3 must be left")
    document = run.document()
    assert document.outcome == "not_proved"
    assert document.advice == [
        "let the plan hurt fewer instances, or give the service more replicas (a floor of serving instances is kept)"
    ]
