from __future__ import annotations

import pytest

from swarmtest.checks import Outcome
from tests.judge.acting import scaled
from tests.judge.builder import Rollout

CHECK = "scaled_as_asked"


@pytest.mark.parametrize(("by", "says"), [(1, "3 to 4 instances and back"), (-1, "3 to 2 instances and back")])
def test_passes_when_the_number_of_ready_instances_became_what_was_asked_and_back(by: int, says: str) -> None:
    verdict = scaled(by).verdict(CHECK)
    assert verdict.outcome is Outcome.PASSED, verdict
    assert verdict.sentence == f"Scaled as asked: {says}."
    assert any("new, first request" in line for line in verdict.evidence)
    assert any("exit code 0 3.50 s after its signal" in line for line in verdict.evidence)


def test_a_new_instance_that_never_gets_ready_fails_it() -> None:
    rollout = scaled(1, healed=False)
    rollout.new = []
    waits = {"task": "waits1", "service": "api", "slot": 4, "container": None, "addresses": []}
    words = "no suitable node (insufficient resources on 1 node)"
    rollout.event(0.5, "task", **waits, state="pending", desired="running", error=words)
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "3 of 4 ready" in verdict.evidence[0]
    assert any(words in line for line in verdict.evidence)
    assert "room for one more task" in (verdict.advice or "")


def test_one_that_is_killed_at_the_end_of_its_grace_fails_it() -> None:
    rollout = scaled(-1)
    rollout.plan["stack"]["grace_seconds"] = 4
    gone = rollout.old[2]
    gone.killed = (gone.signalled or 0) + 4.0
    gone.exited, gone.exit_code = gone.killed + 0.02, 137
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "api.3 (oldtask3): SIGKILL at the end of the grace, exit code 137" in verdict.evidence[0]


def test_a_task_that_should_be_gone_and_is_not_is_named_as_an_orphan() -> None:
    """moby/moby #41885, #37654: 4 of 3, and some requests still reach it."""
    rollout = scaled(-1)
    rollout.plan["stack"]["grace_seconds"] = 5
    rollout.old[2].exited = None
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert any("api.3 (oldtask3): orphan, told to stop" in line and "node n1" in line for line in verdict.evidence)
    assert any("served by it" in line for line in verdict.evidence)
    assert "kill" not in (verdict.advice or "")


def test_one_that_still_drains_within_its_grace_is_no_orphan() -> None:
    rollout = scaled(-1)
    rollout.plan["stack"]["grace_seconds"] = 60
    rollout.old[2].exited = None
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "still stopping when the run ended" in verdict.evidence[0]


def test_instances_whose_readiness_nobody_saw_prove_nothing() -> None:
    rollout = scaled(1, healed=False)
    rollout.new[0].healthy = rollout.new[0].warm = None
    rollout.plan["stack"]["healthcheck"] = None
    assert rollout.verdict(CHECK).outcome is Outcome.NOT_PROVED


def test_a_new_instance_that_never_passes_its_health_check_fails_it() -> None:
    rollout = scaled(1, healed=False)
    rollout.new[0].healthy = rollout.new[0].warm = None
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "3 of 4 ready" in verdict.evidence[0]
    assert "health log" in (verdict.advice or "")


def test_a_new_instance_that_nobody_asked_is_not_known_to_serve() -> None:
    rollout = scaled(1, healed=False)
    rollout.new[0].let_go = -1.0
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "no request was seen to be served by it" in verdict.evidence[0]


def test_a_run_that_scaled_nothing_proves_nothing() -> None:
    assert Rollout().verdict(CHECK).outcome is Outcome.NOT_PROVED


def test_what_a_guard_rail_forbade_is_not_proved_and_says_what_to_do() -> None:
    rollout = Rollout()
    why = "1 of api run; 1 must be left, so it can't be 1 fewer"
    rollout.event(0.5, "act", id=2, name="scale", edge="skipped", target="api", settings={"by": -1}, reason=why)
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert verdict.evidence[0] == f"scale (act 2) was skipped: {why}"
    assert "more replicas" in (verdict.advice or "")
