from __future__ import annotations

import pytest

from swarmtest.checks import Outcome
from tests.judge.builder import Rollout
from tests.judge.stories import killed, killed_at_the_end_of_the_grace, stopped_by_hand

CHECK = "nothing_arrived_after_close"


def test_passes_when_each_closes_and_nothing_comes_after() -> None:
    assert Rollout().verdict(CHECK).outcome is Outcome.PASSED


def test_requests_dialled_in_vain_after_the_close_fail_it_and_name_the_time_to_keep_accepting() -> None:
    """spring-projects/spring-boot #24479: a proxy that probes each second dials a listener that's gone."""
    rollout = Rollout()
    rollout.plan["front_door"] |= {"detects": "probe", "within_seconds": 4.0}
    life = rollout.old[0]
    life.closed = life.signalled
    rollout.bad_gateway("refused", (life.closed or 0) + 0.6, (life.closed or 0) + 0.7, life)
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "1 dialled in vain up to 0.60 s after its close: refused" in verdict.evidence[0]
    assert "keep accepting for 3 s" in (verdict.advice or "")


def test_requests_over_kept_connections_after_the_close_fail_it() -> None:
    rollout = Rollout(front_door="direct")
    life = rollout.old[0]
    rollout.served("kept", (life.closed or 0) + 0.5, (life.closed or 0) + 0.7, life, reused=True)
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "1 arrived over kept connections up to 0.50 s after its close: kept" in verdict.evidence[0]
    assert "Connection: close" in (verdict.advice or "")


@pytest.mark.parametrize(("after", "outcome"), [(0.12, Outcome.PASSED), (0.18, Outcome.FAILED)])
def test_connections_that_are_ended_a_tenth_of_a_second_after_the_close_are_wound_down(
    after: float, outcome: Outcome
) -> None:
    rollout = Rollout(front_door="direct")
    life = rollout.old[0]
    rollout.served("kept", (life.closed or 0) + after, (life.closed or 0) + 0.7, life, reused=True)
    assert rollout.verdict(CHECK).outcome is outcome


def test_one_on_a_kept_connection_that_the_kill_forestalled_was_not_dialled_in_vain() -> None:
    rollout = Rollout(front_door="direct")
    for life in killed_at_the_end_of_the_grace(rollout):
        life.closed = life.signalled
        at = (life.killed or 0) - 0.001
        rollout.served(f"kept-{life.slot}", at - 0.5, at - 0.3, life, reused=True)
        rollout.unanswered(f"late-{life.slot}", at, at + 0.003, life, reused=True).steps = {}
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert any("1 sent over kept connections and never read" in line for line in verdict.evidence)
    assert not any("in vain" in line for line in verdict.evidence)
    assert "Connection: close" in (verdict.advice or "")
    lost = rollout.verdict("answered_every_request")
    assert any("unserved" in line and "keep-alive not wound down" in line for line in lost.evidence), lost.evidence


def test_a_request_on_its_way_at_the_close_is_not_new() -> None:
    rollout = Rollout()
    life = rollout.old[0]
    one = rollout.served("on-its-way", (life.closed or 0) - 0.01, (life.closed or 0) + 0.2, life)
    one.steps["start"] = (life.closed or 0) + 0.02
    assert rollout.verdict(CHECK).outcome is Outcome.PASSED


def test_an_app_that_writes_no_line_of_its_close_proves_nothing() -> None:
    rollout = Rollout()
    rollout.old[0].closed = None
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "closed_listener" in (verdict.advice or "")


def test_what_reached_nobody_known_keeps_it_from_being_proved() -> None:
    """pgjones/hypercorn PR #128: connections wait in the accept queue, and no log names them."""
    rollout = Rollout()
    life = rollout.old[0]
    rollout.unanswered("queued", (life.closed or 0) + 0.3, life.exited or 0)
    assert rollout.verdict(CHECK).outcome is Outcome.NOT_PROVED


def test_an_answer_by_nobody_else_after_the_exit_of_all_is_not_dialled_to_the_old_one() -> None:
    rollout = Rollout()
    rollout.bad_gateway("no-server", 12.0, 12.1, None, status=503)
    assert rollout.verdict(CHECK).outcome is Outcome.PASSED


def test_a_dial_in_the_very_moment_of_the_close_is_not_new() -> None:
    rollout = Rollout()
    life = rollout.old[0]
    rollout.bad_gateway("race", (life.closed or 0) + 0.03, (life.closed or 0) + 0.04, life)
    assert rollout.verdict(CHECK).outcome is not Outcome.FAILED


def test_one_that_is_stopped_by_hand_is_judged_and_one_that_is_killed_is_not() -> None:
    assert stopped_by_hand().verdict(CHECK).outcome is Outcome.PASSED
    assert killed().verdict(CHECK).outcome is Outcome.NOT_PROVED
    run = stopped_by_hand()
    run.old[0].let_go = 4.0
    assert run.verdict(CHECK).outcome is Outcome.FAILED
