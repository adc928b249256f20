from __future__ import annotations

import pytest

from swarmtest.checks import Outcome
from tests.judge.acting import acted, ordered_back, stays
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
    assert "lost before the rollback began: 1 (1 gateway); after: 2 (2 gateway)" in document.notes


def test_an_update_that_is_paused_for_a_missing_image_names_both_versions_the_slot_and_the_cause() -> None:
    """moby/moby #34245, #31819, #44069: one new, three old or down, until somebody acts; running it again is a trap."""
    rollout = Rollout(4)
    rollout.plan["stack"] |= {"order": "stop-first", "mode": "replicated"}
    rollout.status = [(0.2, "updating"), (12.0, "paused")]
    for life in rollout.old[2:]:
        stays(life)
    rollout.new = rollout.new[:1]
    task = {"task": "rejected1", "service": "api", "slot": 2, "container": None, "addresses": []}
    rollout.event(11.0, "task", **task, state="rejected", desired="running", error="No such image: demo/api:2")
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "paused, with two versions running: it can't be graded" in verdict.sentence
    assert any("never replaced: api.3" in line for line in verdict.evidence)
    left = next(line for line in verdict.evidence if line.startswith("left running"))
    assert left == "left running: 1 new: api.1 (newtask1); 2 old: api.3 (oldtask3), api.4 (oldtask4); nothing in slot 2"
    assert any("No such image" in line for line in verdict.evidence)
    assert "--with-registry-auth on each deploy, and the image pinned by its digest" in (verdict.advice or "")
    assert "a later rollback goes nowhere" in (verdict.advice or "")


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        ("no suitable node (host-mode port already in use on 1 node)", "order: stop-first, or publish in ingress mode"),
        ("no suitable node (max replicas per node limit exceed)", "max_replicas_per_node"),
        ("no suitable node (insufficient resources on 1 node)", "leave room for one more task"),
    ],
)
def test_an_update_whose_task_finds_no_node_is_stuck_though_swarm_counts_no_failure(words: str, advice: str) -> None:
    """moby/moby #36934, #40797: pending is no failure, so it's neither paused nor rolled back."""
    rollout = Rollout()
    rollout.status = [(0.2, "updating")]
    for life in rollout.old:
        stays(life)
    rollout.new = []
    task = {"task": "waits1", "service": "api", "slot": 1, "container": None, "addresses": []}
    rollout.event(1.0, "task", **task, state="pending", desired="running", error=words)
    rollout.event(11.0, "update_status", service="api", state="updating", started=T0 + 0.05, message="in progress")
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "stuck: no node takes the task" in verdict.sentence
    assert words in verdict.sentence
    assert any("counts as no failure" in line for line in verdict.evidence)
    assert advice in (verdict.advice or "")


def test_an_update_whose_tasks_never_get_healthy_is_stuck() -> None:
    rollout = Rollout()
    rollout.status = [(0.2, "updating")]
    rollout.new = rollout.new[:1]
    rollout.new[0].healthy = rollout.new[0].warm = None
    for life in rollout.old:
        stays(life)
    verdict = rollout.verdict(CHECK)
    assert verdict.sentence == "The update is stuck: it never got healthy (api.1 (newtask1) never healthy)."


def test_after_a_rollback_the_versions_left_running_are_named_by_instance() -> None:
    """What's made after Swarm turned back is of the version of before, new as the task is."""
    rollout = Rollout()
    turned = rollout.new[2].created - 1.0
    rollout.status = [(0.2, "updating"), (turned, "rollback_started"), (17.0, "rollback_completed")]
    stays(rollout.old[2])
    verdict = rollout.verdict(CHECK)
    left = next(line for line in verdict.evidence if line.startswith("left running"))
    assert left == (
        "left running: 2 new: api.1 (newtask1), api.2 (newtask2); 2 old: api.3 (oldtask3), api.3 (newtask3)"
    )


def test_a_rollback_that_was_ordered_is_a_success_when_it_completes() -> None:
    verdict = ordered_back().verdict(CHECK)
    assert verdict.outcome is Outcome.PASSED
    assert verdict.sentence == "Each of the 3 old instances was replaced, and the rollback completed."


@pytest.mark.parametrize(("state", "says"), [("rollback_paused", "paused"), ("rollback_started", "stuck")])
def test_a_rollback_that_was_ordered_fails_as_an_update_does(state: str, says: str) -> None:
    rollout = ordered_back()
    rollout.status = [(0.2, "rollback_started"), (16.0, state)]
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert says in verdict.sentence


def test_a_rollback_that_was_ordered_says_nothing_of_losses_on_two_ways() -> None:
    assert not any("lost before the rollback" in note for note in ordered_back().document().notes)


def test_an_update_that_the_run_s_own_guard_stopped_proves_nothing_and_says_why() -> None:
    rollout = Rollout()
    rollout.event(5.0, "guard", name="stop-at", text="9.1 % lost over 5 s (limit 5 %)")
    acted(rollout, "rollback", 5.1, number=2)
    rollout.status = [(0.2, "updating"), (5.2, "rollback_started"), (12.0, "rollback_completed")]
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert verdict.evidence[0] == "the run's own guard stopped it: 9.1 % lost over 5 s (limit 5 %)"


def test_checks_of_stops_point_at_the_update_that_stopped_nobody() -> None:
    """It's no hole in anybody's view that a paused update stops no instance."""
    rollout = Rollout()
    rollout.status = [(0.2, "updating"), (3.0, "paused")]
    rollout.new = []
    for life in rollout.old:
        stays(life)
    for check in ("exited_within_grace", "drained_before_exit", "grace_exceeds_longest_request"):
        verdict = rollout.verdict(check)
        assert verdict.outcome is Outcome.NOT_PROVED
        assert verdict.advice is not None
        assert verdict.advice.startswith("see first why the update is paused (replaced_every_instance)")
