"""On a machine with nothing left nobody knows who lost a request: not proved, never passed, and no loss is hidden.

What a stop, a start or an instance's own end explains fails there as everywhere.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from swarmtest.checks import Outcome
from swarmtest.limits.grammar import parse_limit
from tests.judge.builder import T0, Rollout
from tests.judge.holding import Holding

BUSY = {"machine_share": 0.98, "processors": 2, "cpu_share_max": 0.4}
CHECK = "answered_every_request"


def starved(share: float = 0.98) -> Rollout:
    """A run that lost requests before anything was done, on a machine that was this busy."""
    run = Rollout()
    run.traffic |= BUSY | {"machine_share": share}
    for n in range(9):
        at = -6.0 + n / 100
        run.request(f"refused-{n}", at, at + 0.01, client_outcome="no_connection", status=None, instance=None,
                    error="ConnectionRefusedError: [Errno 111] Connection refused")  # fmt: skip
    run.unanswered("closed", -5.5, -5.4)
    return run


def test_what_was_lost_on_a_full_machine_is_counted_named_and_not_proved() -> None:
    run = starved()
    verdict, document = run.verdict(CHECK), run.document()
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "10 of" in verdict.sentence
    assert "9 refused" in verdict.sentence
    assert verdict.evidence[0].startswith("the bottleneck is the client's machine: its 2 processors were 98 % busy")
    assert "ask for less" in (verdict.advice or "")
    assert document.proof["lost"] == 10
    assert (document.outcome, document.exit_code) == ("not_proved", 3)


def at_times(*shares: float) -> Rollout:
    """The same on a machine that wasn't full on average, but as busy as this in each second from -8 s on."""
    run = starved(0.7)
    ticks = enumerate(shares, start=1)
    run.extra += [(-8.0 + n, "traffic", {"event": "tick", "machine_share": share}) for n, share in ticks]
    return run


def test_a_machine_that_was_full_as_they_were_lost_is_named_with_its_seconds() -> None:
    verdict = at_times(1.0, 0.99, 0.96, 0.5).verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "its 2 processors were more than 95 % busy for 3 s" in verdict.evidence[0]


@pytest.mark.parametrize("shares", [(1.0, 0.5, 1.0), (0.9,) * 4, (0.5,) * 5 + (1.0, 1.0, 1.0)])
def test_one_that_was_full_for_a_moment_or_at_another_time_is_not(shares: tuple[float, ...]) -> None:
    assert at_times(*shares).verdict(CHECK).outcome is Outcome.FAILED


def test_a_machine_that_was_full_at_another_time_is_not_noted() -> None:
    for shares, noted in (((1.0, 1.0, 1.0), True), ((0.5, 0.5, 0.5, 0.5, 0.5, 1.0, 1.0, 1.0), False)):
        assert any("bottleneck" in note for note in at_times(*shares).document().notes) is noted


def test_what_a_full_machine_broke_is_as_unproved_until_something_is_answered_again() -> None:
    for rates, outcome in (({"short": 10.0, "long": 4.0}, Outcome.FAILED), ({}, Outcome.NOT_PROVED)):
        run = at_times(1.0, 1.0, 1.0, 0.5, 0.5)
        run.rates = {"short": 0.0, "long": 0.0} | rates
        run.unanswered("later", -4.1, -4.0)
        assert run.verdict(CHECK).outcome is outcome


def test_on_a_machine_with_something_left_the_same_losses_fail() -> None:
    assert starved(0.9).verdict(CHECK).outcome is Outcome.FAILED


def test_what_a_stop_explains_fails_on_a_full_machine_too() -> None:
    run = starved()
    run.request("cut", 5.5, 6.5, run.old[0], client_outcome="closed_unanswered", status=None, instance=None)
    verdict = run.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert verdict.sentence.startswith("1 of")
    assert verdict.evidence[-1].startswith("10 more while the bottleneck is the client's machine")


@pytest.mark.parametrize("said", [{"status": 500}, {"status": 404}])
def test_a_wrong_answer_is_not_for_want_of_a_machine(said: dict[str, Any]) -> None:
    run = starved()
    run.request("wrong", -5.0, -4.9, run.old[0], **said)
    verdict = run.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert verdict.sentence.startswith("1 of")


def test_what_was_lost_as_an_instance_ended_by_itself_fails() -> None:
    run = starved()
    run.request("crash", 2.9, 8.4, run.old[0], client_outcome="closed_unanswered", status=None, instance=None)
    assert run.verdict(CHECK).outcome is Outcome.FAILED


@pytest.mark.parametrize(
    ("limit", "outcome"), [("lost = 0", "not_proved"), ("refused <= 2", "not_proved"), ("success >= 90%", "passed"),
                           ("max < 1ms", "not_proved")],
)  # fmt: skip
def test_limits_are_not_broken_by_what_a_full_machine_lost_or_slowed_down(limit: str, outcome: str) -> None:
    run = starved()
    run.plan["limits"] = [asdict(parse_limit(limit))]
    entry = next(entry for entry in run.document().checks if entry.name == f"limit {limit}")
    assert entry.outcome == outcome


def test_a_destructive_run_blames_nobody_for_them() -> None:
    run = starved()
    verdict = run.verdict("lost_only_to_the_fault")
    assert verdict.outcome is Outcome.NOT_PROVED


def test_streams_that_it_cut_are_not_proved_to_be_the_services() -> None:
    run = Holding()
    run.traffic |= BUSY
    run.change("chat-s31", 1, client_outcome="cut", code=None, closed=T0 - 3.0, lost=2)
    run.change("chat-s31", 2, began=T0 + 6.0, opened=T0 + 6.0)
    run.stream("feed-s99", 1, None, -7.0, -6.9, opened=None, client_outcome="no_connection")
    for check in ("streams_closed_in_order", "clients_reconnected_in_time", "no_message_lost"):
        verdict = run.verdict(check)
        assert verdict.outcome is Outcome.NOT_PROVED, (check, verdict)
        assert any("the bottleneck is the client's machine" in line for line in verdict.evidence), (check, verdict)
        assert "ask for less" in (verdict.advice or "")
        run.traffic["machine_share"] = 0.9
        assert run.verdict(check).outcome is Outcome.FAILED, check
        run.traffic["machine_share"] = 0.98


def test_streams_that_a_stop_cut_and_messages_that_came_twice_fail_there_too() -> None:
    run = Holding()
    run.traffic |= BUSY
    run.change("chat-s10", 1, client_outcome="cut", code=None, repeated=1)
    run.stream("feed-s99", 1, None, -7.0, -6.9, opened=None, client_outcome="turned_away", status=404)
    for check in ("streams_closed_in_order", "clients_reconnected_in_time", "no_message_lost"):
        assert run.verdict(check).outcome is Outcome.FAILED, check


def overwhelmed(share: float = 0.98) -> Rollout:
    """Nothing was done, and an instance was stopped for its health check, that had no time; what it ran was lost."""
    run = Rollout(update=False)
    run.traffic |= BUSY | {"machine_share": share}
    life = run.old[0]
    life.signalled, life.exited, life.exit_code = 4.0, 6.0, 137
    life.state_error = "task: non-zero exit (137): dockerexec: unhealthy container"
    run.event(3.9, "container", action="health_status", health="unhealthy", container=life.container, service="api",
              task=life.task)  # fmt: skip
    run.request("late", -3.0, 4.5, life, status=500)
    return run


def test_where_nothing_was_done_a_health_check_without_time_and_an_error_that_came_late_prove_nothing() -> None:
    run = overwhelmed()
    assert next(life for life in run.judged().timeline.lifespans if life.exit_code is not None).cause == "health check"
    for check in (CHECK, "kept_capacity"):
        verdict = run.verdict(check)
        assert verdict.outcome is Outcome.NOT_PROVED, verdict
        assert any("the bottleneck is the client's machine" in line for line in verdict.evidence), verdict
        assert "ask for less" in (verdict.advice or "")
        assert overwhelmed(0.9).verdict(check).outcome is Outcome.FAILED
