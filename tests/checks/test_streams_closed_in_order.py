from __future__ import annotations

import pytest

from swarmtest.checks import Outcome
from tests.judge.builder import T0
from tests.judge.holding import Holding

CHECK = "streams_closed_in_order"


def test_passes_when_each_stream_of_a_stopped_instance_was_told() -> None:
    verdict = Holding().verdict(CHECK)
    assert verdict.outcome is Outcome.PASSED, verdict
    assert "2 chat closed with 1012, 2 feed ended" in verdict.evidence[0]


def test_a_stream_that_is_cut_without_a_close_frame_fails_it() -> None:
    holding = Holding()
    holding.change("chat-s10", 1, client_outcome="cut", code=None, error="closed without a close frame")
    verdict = holding.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "1 chat closed with 1012, 1 chat cut" in verdict.evidence[0]
    assert "(chat-s10-1)" in verdict.evidence[0]
    assert "close frame (1001 or 1012)" in (verdict.advice or "")
    assert "longer grace does nothing" in (verdict.advice or "")


@pytest.mark.parametrize(("code", "outcome"), [(1001, "passed"), (4000, "passed"), (1011, "failed")])
def test_a_code_that_says_an_error_is_no_good_order(code: int, outcome: str) -> None:
    holding = Holding()
    holding.change("chat-s10", 1, code=code)
    assert holding.verdict(CHECK).outcome == outcome


def test_streams_that_hold_the_shutdown_until_sigkill_fail_it_and_no_longer_grace_is_advised() -> None:
    holding = Holding()
    life = holding.old[0]
    life.killed = (life.signalled or 0) + 30.0
    life.exited, life.exit_code = life.killed + 0.01, 137
    holding.ends = life.exited + 5.0
    for one in holding.of(life):
        one.update(client_outcome="cut", code=None, closed=T0 + life.killed + 0.01)
    verdict = holding.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "they held the shutdown until the end of the grace" in verdict.evidence[0]
    assert "bound the drain below the grace" in (verdict.advice or "")
    ended = holding.verdict("exited_within_grace")
    assert ended.outcome is Outcome.FAILED
    assert "open streams held the shutdown" in ended.evidence[0]
    assert ended.advice == verdict.advice
    assert "raise" not in (ended.advice or "")
    # A stream's age is no request's length: the grace that's asked for stays as it is.
    assert holding.verdict("grace_exceeds_longest_request").outcome is Outcome.PASSED
    # Streams are counted apart: no request was lost.
    assert not holding.judged().losses.lost


def test_a_stream_that_ends_though_nobody_stopped_its_instance_fails_it() -> None:
    holding = Holding()
    holding.change("feed-s31", 1, client_outcome="cut", closed=T0 - 3.0)
    verdict = holding.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "instances that nobody stopped: 1 feed cut" in verdict.evidence[0]
    assert "timeout tunnel" in (verdict.advice or "")


def test_a_stream_that_is_cut_on_an_instance_that_nobody_can_name_is_seen() -> None:
    holding = Holding()
    holding.change("feed-s31", 1, client_outcome="cut", instance=None)
    verdict = holding.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "on an instance that didn't name itself: 1 feed cut (feed-s31-1)" in verdict.evidence[0]


def test_an_end_that_nothing_tells_from_a_cut_proves_nothing() -> None:
    holding = Holding()
    for one in holding.streams:
        if one["kind"] == "feed" and one["client_outcome"] == "closed_by_server":
            one.update(client_outcome="cut", framing="close")
    verdict = holding.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "chunks" in (verdict.advice or "")


def test_a_kind_with_no_stream_on_a_stopped_instance_is_not_proved() -> None:
    holding = Holding()
    holding.streams = [one for one in holding.streams if one["kind"] == "chat"]
    verdict = holding.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "no stream of the kind feed" in verdict.evidence[0]


def test_without_a_stop_it_is_not_proved() -> None:
    assert Holding(update=False).verdict(CHECK).outcome is Outcome.NOT_PROVED
