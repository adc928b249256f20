from __future__ import annotations

from collections.abc import Callable

import pytest

from swarmtest.checks import Outcome
from tests.judge.builder import Life, Rollout
from tests.judge.stories import scaled_in, stopped_by_hand

CHECK = "kept_capacity"


def stop_first(rollout: Rollout) -> Rollout:
    rollout.plan["stack"]["order"] = "stop-first"
    for old, new in zip(rollout.old, rollout.new, strict=True):
        new.created, new.started = (old.exited or 0) + 0.1, (old.exited or 0) + 0.3
        new.warm = new.healthy = (old.exited or 0) + 1.0
    return rollout


def test_passes_when_a_new_one_is_ready_before_an_old_one_goes() -> None:
    verdict = Rollout().verdict(CHECK)
    assert verdict.outcome is Outcome.PASSED
    assert "lowest number of ready instances 3 of 3 replicas" in verdict.evidence


def test_a_new_one_that_is_warm_too_late_leaves_a_dip() -> None:
    rollout = Rollout()
    rollout.new[1].warm = (rollout.old[1].announced or 0) + 2.0
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert verdict.evidence[0].startswith("2 ready of 3 promised for 1.9")


def test_stop_first_promises_less_by_its_parallelism() -> None:
    rollout = stop_first(Rollout())
    for i, (old, new) in enumerate(zip(rollout.old, rollout.new, strict=True)):
        shift = 6.0 * i
        old.announced = 3.0 + shift
        old.desired, old.signalled, old.unready = old.announced, old.announced + 1, old.announced + 1
        old.closed, old.exited = old.announced + 1.5, old.announced + 4.8
        new.created = new.started = old.announced + 5.0
        new.healthy = new.warm = old.announced + 5.5
    rollout.ends = 25.0
    rollout.status[-1] = (24.0, "completed")
    assert rollout.verdict(CHECK).outcome is Outcome.PASSED


def test_stop_first_with_one_replica_leaves_nobody() -> None:
    """moby/moby #29148, #40589."""
    rollout = stop_first(Rollout(replicas=1))
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert verdict.sentence == "Only 0 of 1 promised instances were ready for a while."
    assert "order: start-first" in (verdict.advice or "")


def test_a_dip_within_the_error_bars_is_none() -> None:
    rollout = Rollout()
    rollout.new[0].warm = rollout.new[0].healthy = (rollout.old[0].announced or 0) + 0.02
    assert rollout.verdict(CHECK).outcome is Outcome.PASSED


def test_instances_that_show_no_readiness_prove_nothing() -> None:
    rollout = Rollout()
    rollout.plan["stack"]["healthcheck"] = None
    for life in rollout.lives:
        life.healthy = life.warm = None
    assert rollout.verdict(CHECK).outcome is Outcome.NOT_PROVED


def test_processor_use_is_shown_beside_it() -> None:
    rollout = Rollout()
    rollout.event(4.0, "sample", container=rollout.old[1].container, cpu=0.83, memory=1)
    assert any("0.83 cores on api.2" in line for line in rollout.verdict(CHECK).evidence)


def test_a_dip_that_polling_can_explain_is_none() -> None:
    rollout = Rollout()
    rollout.drop(lambda e: e.get("action") == "health_status" or e.get("event") == "warm")
    new = rollout.new[0]
    new.healthy = (rollout.old[0].announced or 0) + 0.14  # seen by polling, up to 0.1 s late
    assert rollout.verdict(CHECK).outcome is Outcome.PASSED


@pytest.mark.parametrize("story", [scaled_in, stopped_by_hand])
def test_what_is_scaled_away_or_stopped_by_hand_is_promised_no_longer(story: Callable[[], Rollout]) -> None:
    run = story()
    verdict = run.verdict(CHECK)
    assert verdict.outcome is Outcome.PASSED, verdict
    assert verdict.sentence == "At least 2 of 3 instances were ready all the time."
    run.old[1].exited, run.old[1].exit_code = 3.0, 1
    assert run.verdict(CHECK).outcome is Outcome.FAILED


def test_a_version_that_never_gets_healthy_is_no_capacity_and_no_hole() -> None:
    run = Rollout(update=False)
    run.act(1, "unhealthy", 0.0)
    run.plan["steps"].append({"phase": "bad", "fault": "unhealthy", "replaces": True, "prepares": False})
    bad = Life("bad".ljust(25, "b"), 1, 12, 0.5, 0.8, healthy=None, warm=2.0)
    bad.let_go, bad.exited, bad.exit_code = 0.0, 8.0, 137
    run.new.append(bad)
    assert run.verdict(CHECK).outcome is Outcome.PASSED
    run.old[0].exited, run.old[0].exit_code = 4.0, 1
    assert run.verdict(CHECK).outcome is Outcome.FAILED
    assert run.verdict("new_served_only_when_ready").evidence == (
        "api.1 (badbbbbb): never got healthy, and nothing was sent to it",
    )
    assert any("never got healthy" in line for line in run.verdict("exercised_every_instance").evidence)


def test_a_new_one_that_ends_unhealthy_was_never_healthy_though_swarm_calls_it_running() -> None:
    """Its container ends in good order on the stop of a failed health check: Swarm says running, then complete."""
    run = Rollout()
    ending = Life("ending".ljust(25, "e"), 1, 12, 0.5, 0.8, healthy=None, warm=None)
    ending.exited, ending.exit_code = 8.0, 0
    run.new.append(ending)
    task = {"task": ending.task, "container": ending.container, "service": "api", "slot": 1, "node": "n1"}
    run.event(5.8, "container", **task, action="health_status", health="unhealthy")
    run.event(8.1, "task", **task, desired="running", state="running", error=None)
    run.old[0].let_go = 0.2  # it's taken away for it
    run.old[0].exited = 2.0
    verdict = run.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "health log" in (verdict.advice or "")
    assert any("never got healthy" in line for line in run.verdict("new_served_only_when_ready").evidence)


def test_an_instance_that_is_late_before_anything_is_done_is_no_matter_of_the_order() -> None:
    run = Rollout(replicas=1, update=False)
    run.plan["stack"]["order"] = "stop-first"
    run.plan["stack"]["healthcheck"] = None
    run.old[0].healthy, run.old[0].warm = None, -5.0
    verdict = run.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED, verdict
    assert (verdict.advice or "").startswith("give the service a healthcheck")
