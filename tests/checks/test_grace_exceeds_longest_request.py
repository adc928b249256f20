from __future__ import annotations

import pytest

from swarmtest.checks import Outcome
from swarmtest.judge.advice import first_advice
from swarmtest.reports import CheckEntry
from tests.judge.builder import Rollout

CHECK = "grace_exceeds_longest_request"


def test_passes_where_wait_longest_request_and_margin_fit_into_the_grace() -> None:
    verdict = Rollout().verdict(CHECK)
    assert verdict.outcome is Outcome.PASSED
    assert (
        "grace 30 s; needed 7.5 s: 2.0 s until it stopped accepting, 4.5 s the longest request" in verdict.evidence[0]
    )


def test_a_grace_that_is_too_short_for_the_longest_request_fails_it_though_the_drain_was_short() -> None:
    rollout = Rollout()
    rollout.plan["stack"]["grace_seconds"] = 7
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "grace 7 s; needed 7.5 s" in verdict.evidence[0]
    assert verdict.advice is not None
    assert verdict.advice.startswith("raise stop_grace_period from 7 s to at least 8 s")


def test_of_an_app_that_never_sees_its_signal_the_signal_is_to_be_mended_first() -> None:
    """TryGhost/docker-library-ghost #37: a longer grace only makes each rollout longer."""
    rollout = Rollout()
    rollout.plan["stack"]["grace_seconds"] = 4
    for life in rollout.old:
        life.unready = life.closed = None
        life.killed, life.exited, life.exit_code = (life.signalled or 0.0) + 4.0, (life.signalled or 0.0) + 4.05, 137
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert verdict.advice is not None
    assert verdict.advice.startswith("mend the shutdown first")
    shutdown = CheckEntry("exited_within_grace", "failed", "", advice="mend it so")
    pointing = CheckEntry("grace_exceeds_longest_request", "failed", "", advice=verdict.advice)
    assert first_advice([shutdown, pointing])[1].startswith("then a grace of ")


def test_the_engine_cuts_fractions_of_a_second() -> None:
    """7.9 s acts as 7 s, and 500 ms as an instant kill."""
    rollout = Rollout()
    rollout.plan["stack"]["grace_seconds"] = 7.9
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert any("stop_grace_period 7.9 s acts as 7 s" in line for line in verdict.evidence)


def test_a_longer_request_that_was_served_counts_more_than_the_one_that_was_planned() -> None:
    rollout = Rollout()
    rollout.plan["stack"]["grace_seconds"] = 15
    rollout.served("slow", -7.0, 6.0, rollout.old[2])
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "(measured, 4.5 s planned)" in verdict.evidence[0]


def test_a_second_that_a_connection_took_is_no_work_of_the_instance() -> None:
    """moby/moby #35082: a port that's used again costs a second or three, and must not inflate the longest request."""
    rollout = Rollout()
    rollout.plan["stack"]["grace_seconds"] = 15
    one = rollout.served("late", -7.0, 6.0, rollout.old[2])
    one.steps["start"] = 5.9
    assert rollout.verdict(CHECK).outcome is Outcome.PASSED


@pytest.mark.parametrize("declared", [True, False])
def test_without_a_declared_longest_request_the_longest_one_measured_counts(declared: bool) -> None:
    rollout = Rollout()
    rollout.plan["traffic"]["longest_request_seconds"] = None
    for kind in rollout.plan["traffic"]["kinds"] if not declared else []:
        kind["milliseconds"] = None
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.PASSED
    assert ("planned" if declared else "measured, none is declared") in verdict.evidence[0]


def test_where_nothing_is_declared_and_nothing_was_served_it_is_not_proved() -> None:
    rollout = Rollout()
    rollout.plan["traffic"] |= {"longest_request_seconds": None, "kinds": []}
    for row in rollout.requests():
        row["status"], row["instance"], row["client_outcome"] = None, None, "closed_unanswered"
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "x-swarmtest longest_request" in (verdict.advice or "")


def test_where_nobody_was_stopped_it_is_not_proved() -> None:
    assert Rollout(update=False).verdict(CHECK).outcome is Outcome.NOT_PROVED


def test_of_an_app_that_tells_no_close_the_wait_is_at_most_the_time_until_its_exit() -> None:
    rollout = Rollout()
    for life in rollout.old:
        life.closed = None
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.PASSED
    assert "its close wasn't seen, so the wait may have been up to 3.5 s" in verdict.evidence[0]


@pytest.mark.parametrize(("grace", "outcome"), [(7, Outcome.NOT_PROVED), (5, Outcome.FAILED)])
def test_what_only_a_close_could_tell_is_not_proved(grace: int, outcome: Outcome) -> None:
    rollout = Rollout()
    rollout.plan["stack"]["grace_seconds"] = grace
    for life in rollout.old:
        life.closed = None
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is outcome
    assert outcome is Outcome.FAILED or "closed_listener" in (verdict.advice or "")
