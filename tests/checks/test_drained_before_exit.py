from __future__ import annotations

from swarmtest.checks import Outcome
from tests.judge.builder import Rollout
from tests.judge.stories import killed, scaled_in, stopped_by_hand

CHECK = "drained_before_exit"


def test_passes_when_what_ran_at_the_signal_was_finished() -> None:
    verdict = Rollout().verdict(CHECK)
    assert verdict.outcome is Outcome.PASSED
    assert all("were answered" in line for line in verdict.evidence)


def test_requests_that_are_cut_at_the_exit_fail_it_whatever_the_exit_code_says() -> None:
    rollout = Rollout()
    life = rollout.old[0]
    life.unready = life.closed = None
    life.exited = life.signalled + 0.005  # type: ignore[operator]
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "cut" in verdict.evidence[0]
    assert "with code 0" in verdict.evidence[0]
    assert "drain is missing" in (verdict.advice or "")


def test_sockets_that_are_destroyed_while_handlers_finish_fail_it() -> None:
    rollout = Rollout()
    life = rollout.old[0]
    at = (life.announced or 0) - 0.5
    one = rollout.unanswered("taken", at, (life.signalled or 0) + 0.01)
    one.on, one.steps = life, {"start": at + 0.01, "commit": at + 4.0, "finish": at + 4.01}
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "1 cut_finished (taken)" in verdict.evidence[0]
    assert "sockets were destroyed" in (verdict.advice or "")


def test_an_instance_with_nothing_left_to_do_proves_no_drain() -> None:
    rollout = Rollout()
    rollout.rates["long"] = 0.0
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "1 s is needed" in verdict.evidence[0]
    assert "long requests" in (verdict.advice or "")


def test_an_unseen_signal_proves_no_drain() -> None:
    rollout = Rollout()
    life = rollout.old[0]
    rollout.drop(lambda e: e.get("container") == life.container and "signal" in (e.get("event"), e.get("action")))
    rollout.drop(lambda e: e.get("container") == life.container and e.get("action") == "kill")
    assert rollout.verdict(CHECK).outcome is Outcome.NOT_PROVED


def test_the_shutdown_limit_of_the_app_is_told_from_a_missing_drain() -> None:
    rollout = Rollout()
    life = rollout.old[0]
    life.closed, life.exited = life.signalled, (life.signalled or 0) + 1.5
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "the app's own shutdown limit" in (verdict.advice or "")


def test_who_was_killed_had_no_time_to_drain_and_is_not_judged() -> None:
    assert killed().verdict(CHECK).sentence == "No instance was stopped, so none had to drain."


def test_an_instance_that_is_stopped_by_hand_or_scaled_away_has_to_drain_as_well() -> None:
    for run in (stopped_by_hand(), scaled_in()):
        life = next(one for one in run.old if one.signalled is not None)
        life.closed, life.unready = None, None
        life.exited = (life.signalled or 0) + 0.01
        verdict = run.verdict(CHECK)
        assert verdict.outcome is Outcome.FAILED
        assert "drain is missing" in (verdict.advice or "")
