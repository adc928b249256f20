from __future__ import annotations

import pytest

from swarmtest.checks import Outcome
from tests.judge.builder import T0, Rollout

CHECK = "replaced_every_instance"


def test_passes_when_the_update_completed_and_every_task_is_another() -> None:
    verdict = Rollout().verdict(CHECK)
    assert verdict.outcome is Outcome.PASSED
    assert "UpdateStatus completed" in verdict.evidence[0]


@pytest.mark.parametrize("state", ["rollback_started", "rollback_completed", "paused", "updating"])
def test_an_update_that_did_not_complete_fails_it(state: str) -> None:
    """docker/cli #6752: after a rollback the command exits 0, and the number of replicas is right."""
    rollout = Rollout()
    rollout.status = [(0.2, "updating"), (12.0, state)]
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert {"updating": "stuck", "paused": "paused"}.get(state, "rolled back") in verdict.sentence


def test_a_rollback_left_over_from_an_earlier_run_does_not_fail_this_one() -> None:
    rollout = Rollout()
    old = {"since": T0 - 5.0, "service": "api", "state": "rollback_completed", "completed": T0 - 800}
    rollout.event(0.01, "update_status", started=T0 - 900.0, **old)
    assert rollout.verdict(CHECK).outcome is Outcome.PASSED


def test_docker_s_own_way_of_writing_times_is_read() -> None:
    rollout = Rollout()
    old = {"since": None, "service": "api", "state": "rollback_completed", "completed": None}
    rollout.event(0.01, "update_status", started="1970-01-12T13:00:00.123456789Z", **old)
    assert rollout.verdict(CHECK).outcome is Outcome.PASSED


def test_an_old_instance_that_stays_fails_it() -> None:
    rollout = Rollout()
    life = rollout.old[2]
    life.announced = life.desired = life.signalled = life.unready = life.closed = life.exited = None
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert any("never replaced: api.3" in line for line in verdict.evidence)


def test_a_run_in_which_nothing_was_replaced_is_never_a_pass() -> None:
    rollout = Rollout(update=False)
    rollout.plan["steps"].append({"phase": "rollout", "fault": "update", "settings": {}})
    rollout.event(0.0, "act", id=1, name="update", edge="began", target="api", settings={})
    rollout.event(0.1, "act", id=1, name="update", edge="ended", outcome="ok", error=None)
    assert rollout.verdict(CHECK).outcome is Outcome.NOT_PROVED
    document = rollout.document()
    assert document.outcome == "not_proved"
    assert "no instance was replaced" in document.notes


def test_without_the_status_of_this_update_nothing_is_proved() -> None:
    rollout = Rollout()
    rollout.status = []
    assert rollout.verdict(CHECK).outcome is Outcome.NOT_PROVED


def test_an_update_that_rolled_back_fails_it_even_if_another_one_completes_after_it() -> None:
    rollout = Rollout()
    rollout.status = [(0.2, "updating"), (5.0, "rollback_started"), (12.0, "completed")]
    assert rollout.verdict(CHECK).outcome is Outcome.FAILED


def test_a_release_that_was_rolled_back_failed_though_all_replicas_run_and_the_command_was_ok() -> None:
    """docker/cli #6752, Dokploy/dokploy PR #5218: converged, exit 0, 3/3, and yet nothing was released."""
    rollout = Rollout()
    rollout.status = [(0.2, "updating"), (9.0, "rollback_started"), (17.0, "rollback_completed")]
    rollout.bad_gateway("forward", 3.1, 3.2, rollout.old[0])
    rollout.bad_gateway("back", 13.2, 13.3, rollout.old[2])
    rollout.bad_gateway("back-too", 13.4, 13.5, rollout.old[2])
    document = rollout.document()
    entry = next(entry for entry in document.checks if entry.name == CHECK)
    assert (entry.outcome, entry.sentence) == ("failed", "The update failed and was rolled back.")
    assert "lost before the rollback began: 1; after: 2" in document.notes


def test_an_update_that_is_paused_for_a_missing_image_names_both_versions_and_the_cause() -> None:
    """moby/moby #34245, #31819: half old, half new, until somebody acts."""
    rollout = Rollout()
    rollout.status = [(0.2, "updating"), (12.0, "paused")]
    stays = rollout.old[2]
    stays.announced = stays.desired = stays.signalled = stays.unready = stays.closed = stays.exited = None
    rollout.new = rollout.new[:2]
    task = {"task": "rejected1", "service": "api", "slot": 3, "container": None, "addresses": []}
    rollout.event(11.0, "task", **task, state="rejected", desired="running", error="No such image: demo/api:2")
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "paused, with two versions" in verdict.sentence
    assert any("never replaced: api.3" in line for line in verdict.evidence)
    assert "No such image" in (verdict.advice or "")
