from __future__ import annotations

from swarmtest.checks import Outcome
from tests.judge.builder import T0
from tests.judge.holding import Holding

CHECK = "clients_reconnected_in_time"


def test_passes_when_everyone_was_back_within_the_budget() -> None:
    verdict = Holding().verdict(CHECK)
    assert verdict.outcome is Outcome.PASSED, verdict
    assert "0.20 s at most" in verdict.sentence
    assert "median 0.20 s" in verdict.evidence[-1]


def test_one_that_was_late_fails_it_with_its_time() -> None:
    holding = Holding()
    holding.change("chat-s31", 2, opened=T0 + (holding.old[2].closed or 0) + 6.5)
    verdict = holding.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "chat-s31: closed with 1012 on api.3 (oldtask3); back after 6.50 s and 1 try, of 5 s" in verdict.evidence[0]


def test_one_that_never_came_back_fails_it_with_its_tries() -> None:
    holding = Holding()
    holding.change("chat-s10", 2, opened=None, client_outcome="turned_away", status=503)
    holding.streams = [one for one in holding.streams if one["session"] != "chat-s10" or one["attempt"] < 3]
    verdict = holding.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "chat-s10" in verdict.evidence[0]
    assert "not back" in verdict.evidence[0]


def test_coming_back_to_an_instance_that_is_going_is_not_being_back() -> None:
    holding = Holding()
    life, session = holding.old[0], "chat-s10"
    at = life.closed or 0.0
    holding.change(session, 2, instance=life.task, opened=T0 + at + 0.1, closed=T0 + at + 0.2)
    holding.change(session, 3, opened=T0 + at + 5.5)
    verdict = holding.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "back after 5.50 s and 2 tries" in verdict.evidence[0]


def test_a_session_that_never_had_a_stream_fails_it() -> None:
    holding = Holding()
    holding.stream("chat-s99", 1, None, -7.0, -6.9, opened=None, client_outcome="turned_away", status=404)
    verdict = holding.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "chat-s99: never had a stream in 1 try; turned_away (404)" in verdict.evidence[0]


def test_where_no_stream_ended_it_is_not_proved() -> None:
    verdict = Holding(update=False).verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "No stream ended" in verdict.sentence


def test_a_traffic_that_ends_before_the_budget_does_proves_nothing() -> None:
    holding = Holding()
    holding.streams = [one for one in holding.streams if one["session"] == "chat-s30" and one["attempt"] == 1]
    verdict = holding.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "the traffic was over" in verdict.evidence[0]


def test_an_instance_that_does_not_name_itself_proves_no_return() -> None:
    holding = Holding()
    for one in holding.streams:
        one["instance"] = None
    assert holding.verdict(CHECK).outcome is Outcome.NOT_PROVED
