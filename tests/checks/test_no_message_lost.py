from __future__ import annotations

from swarmtest.checks import Outcome
from tests.judge.holding import Holding

CHECK = "no_message_lost"


def test_passes_when_every_number_came_once() -> None:
    verdict = Holding().verdict(CHECK)
    assert verdict.outcome is Outcome.PASSED
    assert verdict.evidence[0].startswith("chat: ")


def test_what_was_sent_again_after_a_close_frame_is_said_and_is_no_loss() -> None:
    holding = Holding()
    holding.change("chat-s10", 2, resent=1)
    verdict = holding.verdict(CHECK)
    assert verdict.outcome is Outcome.PASSED
    assert "1 of them again after a close frame" in verdict.evidence[0]


def test_a_gap_and_a_repetition_fail_it_with_the_streams_names() -> None:
    holding = Holding()
    holding.change("feed-s11", 2, lost=3, repeated=1)
    verdict = holding.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "3 messages were lost, 1 came twice" in verdict.sentence
    assert "feed-s11-2" in verdict.evidence[0]
    assert "Last-Event-ID" in (verdict.advice or "")


def test_messages_without_numbers_prove_nothing() -> None:
    holding = Holding()
    for one in holding.streams:
        if one["kind"] == "feed":
            one.update(received=0, unnumbered=10)
    verdict = holding.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "number the service's messages" in (verdict.advice or "")


def test_a_service_that_answers_nothing_proves_nothing() -> None:
    holding = Holding()
    for one in holding.streams:
        if one["kind"] == "chat":
            one.update(answered=0, lost=1)
    verdict = holding.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "no message was answered" in verdict.evidence[0]


def test_without_any_message_it_is_not_proved() -> None:
    holding = Holding()
    holding.streams = []
    assert holding.verdict(CHECK).outcome is Outcome.NOT_PROVED
