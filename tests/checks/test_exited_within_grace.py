from __future__ import annotations

from collections.abc import Callable

import pytest

from swarmtest.checks import Outcome
from tests.judge.builder import Life, Rollout
from tests.judge.stories import killed, killed_at_the_end_of_the_grace, scaled_in, stopped_by_hand

CHECK = "exited_within_grace"


def test_passes_when_each_exits_by_itself() -> None:
    verdict = Rollout().verdict(CHECK)
    assert verdict.outcome is Outcome.PASSED
    assert "exit code 0 3.50 s after signal 15" in verdict.evidence[0]


def test_a_signal_that_is_never_seen_by_the_app_is_to_be_mended_before_the_grace() -> None:
    """TryGhost/docker-library-ghost #37: exactly the grace, 137, and no line of a shutdown."""
    rollout = Rollout()
    for life in killed_at_the_end_of_the_grace(rollout):
        life.unready = life.closed = None
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "4.1 s after the signal (grace 4 s), exit code 137; signal not handled" in verdict.evidence[0]
    assert "stop signal reach the app" in (verdict.advice or "")
    assert "raise" not in (verdict.advice or "")


def test_of_an_app_that_never_speaks_of_itself_nobody_says_that_it_ignored_the_signal() -> None:
    """It may have been draining; only one that took new work to the very end surely wasn't told."""
    rollout = Rollout()
    for life in killed_at_the_end_of_the_grace(rollout):
        life.unready = life.closed = None
    rollout.drop(lambda event: event["kind"] == "record" and event["event"] in ("booted", "warm"))
    verdict = rollout.verdict(CHECK)
    assert "nothing tells whether the signal was handled" in verdict.evidence[0]
    assert "see first that the stop signal reaches the app" in (verdict.advice or "")
    for life in rollout.old:
        at = (life.killed or 0) - 0.5
        rollout.served(f"to-the-end-{life.slot}", at, at + 0.2, life)
    assert "signal not handled" in rollout.verdict(CHECK).evidence[0]


def test_an_app_that_was_draining_when_the_grace_ran_out_needs_a_longer_one() -> None:
    rollout = Rollout()
    rollout.plan["traffic"]["longest_request_seconds"] = 20.0
    for life in killed_at_the_end_of_the_grace(rollout):
        life.closed = life.unready
        running = rollout.unanswered(f"long-on-{life.slot}", life.announced or 0, life.killed or 0)
        running.on, running.steps = life, {"start": (life.announced or 0) + 0.01}
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "raise stop_grace_period from 4 s to at least 21 s" in (verdict.advice or "")


def test_connections_that_are_kept_alive_through_the_shutdown_need_no_longer_grace() -> None:
    """nestjs/nest #7611, actix/actix-web #929: the listener is closed, and kept connections are served on."""
    rollout = Rollout(front_door="direct")
    for life in killed_at_the_end_of_the_grace(rollout):
        life.closed = life.signalled
        at = (life.killed or 0) - 0.5
        rollout.served(f"kept-{life.slot}", at, at + 0.2, life, reused=True)
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "keep-alive not wound down" in verdict.evidence[0]
    assert "Connection: close" in (verdict.advice or "")
    assert "raise" not in (verdict.advice or "")


def test_it_is_not_proved_where_the_end_was_not_seen() -> None:
    rollout = Rollout()
    life = rollout.old[1]
    rollout.drop(lambda e: e.get("task") == life.task and e.get("action") in ("kill", "die"))
    rollout.drop(lambda e: e.get("task") == life.task and e.get("state") == "shutdown")
    rollout.event(8.0, "stream_broken", what="engine events", error="connection lost")
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert any("api.2" in line for line in verdict.evidence)


def test_a_task_that_runs_on_long_after_it_should_be_gone_is_an_orphan() -> None:
    """moby/moby #41885, #37654: desired state shutdown, running for hours."""
    rollout = Rollout()
    rollout.plan["stack"]["grace_seconds"] = 5
    rollout.old[0].exited = None
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert any("orphan" in line and "node n1" in line for line in verdict.evidence)
    assert "see why Swarm can't end the task" in (verdict.advice or "")


def test_one_that_is_still_within_its_grace_is_no_orphan() -> None:
    rollout = Rollout()
    rollout.plan["stack"]["grace_seconds"] = 60
    rollout.old[2].exited = None
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert any("still stopping" in line for line in verdict.evidence)


@pytest.mark.parametrize("action", ["oom", "health"])
def test_memory_and_health_are_told_apart_from_the_grace(action: str) -> None:
    rollout = Rollout()
    life = rollout.old[0]
    box = {"container": life.container, "service": "api", "task": life.task}
    life.exit_code = 137
    if action == "oom":
        life.announced = life.desired = life.signalled = life.unready = life.closed = None
        life.exited = 5.0
        rollout.event(4.9, "container", action="oom", **box)
    else:
        life.state_error = "task: non-zero exit (137): dockerexec: unhealthy container"
        rollout.event(2.9, "container", action="health_status", health="unhealthy", **box)
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert ("out of memory" if action == "oom" else "health check") in verdict.evidence[0]


def test_one_that_is_killed_and_those_that_stay_are_no_finding() -> None:
    verdict = killed().verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert verdict.sentence == "No instance was stopped, so no end was seen."


@pytest.mark.parametrize("story", [scaled_in, stopped_by_hand])
def test_where_not_all_go_the_one_that_was_told_to_is_judged(story: Callable[[], Rollout]) -> None:
    verdict = story().verdict(CHECK)
    assert verdict.outcome is Outcome.PASSED, verdict
    assert len(verdict.evidence) == 1


def test_a_sigkill_after_a_stop_by_hand_is_still_the_end_of_its_grace() -> None:
    run = stopped_by_hand()
    run.ends = 50.0
    life = run.old[0]
    life.killed, life.exited, life.exit_code = 30.1, 30.2, 137
    run.new[0].created, run.new[0].started = 30.3, 35.4
    verdict = run.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "SIGKILL at the end of the grace 30.0 s after the signal" in verdict.evidence[0]


@pytest.mark.parametrize(("age", "grace", "outcome"), [(3600.0, 10, Outcome.FAILED), (0.0, 60, Outcome.PASSED)])
def test_a_task_that_should_have_been_gone_before_the_rollout_is_named(
    age: float, grace: int, outcome: Outcome
) -> None:
    """moby/moby #41885, #37654: 4/3 in the list; it's neither capacity nor waited for, and isn't ours to kill."""
    run = Rollout()
    run.plan["stack"]["grace_seconds"] = grace
    orphan = Life("orphan".ljust(25, "x"), 1, 31, -age - 90.0, -age - 89.0, -age - 80.0, -age - 80.0)
    orphan.desired, orphan.announced = -age - 5.0, -age - 5.0
    run.old.append(orphan)
    one = run.served("by-the-orphan", 6.0, 6.1, orphan)
    assert one.on is orphan
    verdict = run.verdict(CHECK)
    assert verdict.outcome is outcome
    if outcome is Outcome.FAILED:
        assert "api.1 (orphanxx): orphan, told to stop 36" in verdict.evidence[0]
        assert "on node n1; 1 request served by it" in verdict.evidence[0]
    assert run.judged().timeline.lifespans[0].ready_until is not None
    assert "lowest number of ready instances 3 of 3" in " ".join(run.verdict("kept_capacity").evidence)


def test_one_that_runs_out_of_memory_while_it_drains_is_no_drain_that_is_missing() -> None:
    rollout = Rollout()
    life = rollout.old[0]
    life.exited, life.exit_code = (life.signalled or 0) + 1.5, 137
    box = {"container": life.container, "service": "api", "task": life.task}
    rollout.event(life.exited - 0.05, "container", action="oom", **box)
    verdict = rollout.verdict("exited_within_grace")
    assert verdict.outcome is Outcome.FAILED
    assert "out of memory 1.5 s after the signal" in verdict.evidence[0]
    assert "raise the memory limit" in (rollout.verdict("answered_every_request").advice or "")


def test_a_child_that_was_killed_for_memory_does_not_excuse_the_end_of_the_grace() -> None:
    rollout = Rollout()
    rollout.plan["stack"]["grace_seconds"] = 4
    life = rollout.old[0]
    life.killed = (life.signalled or 0) + 4.05
    life.exited, life.exit_code = life.killed + 0.02, 137
    box = {"container": life.container, "service": "api", "task": life.task}
    rollout.event(life.killed - 1.0, "container", action="oom", **box)
    assert "SIGKILL at the end of the grace" in rollout.verdict("exited_within_grace").evidence[0]


def test_an_exit_code_of_137_when_the_grace_is_over_is_its_end_though_the_event_of_it_was_lost() -> None:
    """moby/moby #37520: a slow reader loses events."""
    rollout = Rollout()
    rollout.plan["stack"]["grace_seconds"] = 4
    for life in rollout.old:
        life.unready = life.closed = None
        life.exited, life.exit_code = (life.signalled or 0) + 4.1, 137
    verdict = rollout.verdict("exited_within_grace")
    assert verdict.outcome is Outcome.FAILED
    assert "SIGKILL at the end of the grace" in verdict.evidence[0]
    assert "make the stop signal reach the app" in (verdict.advice or "")
