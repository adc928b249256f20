from __future__ import annotations

from swarmtest.checks import Outcome
from swarmtest.checks.drained_before_exit import LONGER, MORE
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
    assert verdict.evidence[0].endswith("no request was seen to run when it was signalled, so nothing shows a drain")
    assert "0.00 s" not in verdict.evidence[0]
    assert verdict.advice == MORE


def with_long_ones_of(seconds: float, rate: float = 8.0) -> Rollout:
    """A rollout under requests that take so long, and no others."""
    run = Rollout().at(0.1, 0.1)
    kind = run.plan["traffic"]["kinds"][1]
    kind["milliseconds"] = [seconds * 1000, seconds * 1000]
    run.plan["traffic"]["longest_request_seconds"] = seconds
    for life in run.old:
        at = (life.announced or 0.0) - 1.0
        while at < (life.announced or 0.0):
            run.served(f"long-{life.slot}-{at:.2f}", at, at + seconds, life, kind="long")
            at += 1 / rate
    return run


def test_requests_that_ran_and_were_too_short_have_to_take_longer_and_more_of_them_is_no_help() -> None:
    verdict = with_long_ones_of(2.6).verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "requests ran when it was signalled" in verdict.evidence[0]
    assert "1 s is needed" in verdict.evidence[0]
    assert verdict.advice == LONGER
    assert "4 s say" in LONGER
    assert "more than 2 s + 1 s" in LONGER
    assert with_long_ones_of(4.0).verdict(CHECK).outcome is Outcome.PASSED


def test_where_none_ran_and_all_are_too_short_to_outlast_the_announcement_they_have_to_take_longer() -> None:
    verdict = with_long_ones_of(1.5).verdict(CHECK)
    assert "no request was seen to run" in verdict.evidence[0]
    assert verdict.advice == LONGER


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
