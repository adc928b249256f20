"""A run that's broken off removes its stack while requests are open: what's lost to that is nobody's but our own."""

from __future__ import annotations

import pytest

from swarmtest.checks import Outcome
from swarmtest.losses import missing
from tests.judge.builder import Rollout

REMOVED = 6.2


def interrupted(outcome: str = "interrupted") -> Rollout:
    """A rollout that's broken off as its first old instance drains; a request on it goes with the stack."""
    run = Rollout()
    run.outcome = outcome
    run.event(REMOVED, "phase", name="remove", edge="began")
    one = run.unanswered("open", 4.0, REMOVED + 0.3, run.old[0])
    one.steps = {"start": 4.1, "commit": 5.9}
    return run


def test_what_was_open_is_not_proved_to_be_answered_and_not_lost() -> None:
    document = interrupted().document()
    assert (document.proof["lost"], document.proof["unproved"]) == (1, 1)
    (event,) = document.loss_events
    assert event.why.endswith("the run was broken off meanwhile")
    assert document.instances[0].lost == 0
    assert sum(row.unproved for row in document.loss_rows) == 1


@pytest.mark.parametrize("check", ["answered_every_request", "drained_before_exit"])
def test_no_instance_is_blamed_for_it(check: str) -> None:
    assert interrupted().verdict(check).outcome is Outcome.NOT_PROVED
    assert interrupted("finished").verdict(check).outcome is Outcome.FAILED


def test_what_was_lost_before_it_fails_all_the_same() -> None:
    run = interrupted()
    one = run.unanswered("cut", 4.0, 5.8, run.old[0])
    one.steps = {"start": 4.1}
    assert run.verdict("answered_every_request").outcome is Outcome.FAILED
    assert run.verdict("drained_before_exit").outcome is Outcome.FAILED


def unfinished(outcome: str | None = "interrupted") -> Rollout:
    """A rollout that's broken off when one old instance has gone, and another has had its signal only just."""
    run = Rollout()
    run.outcome, run.status = outcome, [(0.2, "updating")]
    for life in run.old[1:]:
        life.unready = life.closed = life.exited = None
    run.old[2].announced = run.old[2].desired = run.old[2].signalled = None
    return run


UNFINISHED = [
    "replaced_every_instance",
    "exited_within_grace",
    "drained_before_exit",
    "front_door_let_go_in_time",
    "nothing_arrived_after_close",
    "grace_exceeds_longest_request",
]


@pytest.mark.parametrize("check", UNFINISHED)
@pytest.mark.parametrize(
    ("outcome", "advice"),
    [("interrupted", missing.TO_ITS_END), (None, missing.KILLED), ("failed", missing.UNBROKEN)],
)
def test_what_was_not_seen_to_its_end_needs_a_run_that_comes_to_its_end(
    check: str, outcome: str | None, advice: str
) -> None:
    """It's neither a hole in the view, nor an update that stops nobody, nor an app that writes no line."""
    verdict = unfinished(outcome).verdict(check)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert verdict.advice == advice
    assert not any("writes no line" in line for line in verdict.evidence)


def test_an_app_that_exits_and_writes_no_line_of_its_close_is_told_so_in_a_run_that_was_broken_off_too() -> None:
    run = unfinished()
    run.old[0].closed = None
    assert run.verdict("nothing_arrived_after_close").advice == missing.CLOSE_LINE


def test_an_update_that_is_stuck_after_a_first_stop_is_not_said_to_have_stopped_nobody() -> None:
    advice = unfinished("finished").verdict("front_door_let_go_in_time").advice or ""
    assert "see first why the update is updating" in advice
    assert "it didn't stop every instance" in advice


def test_traffic_that_was_broken_off_is_no_second_thing_to_change() -> None:
    run = unfinished()
    run.drop(lambda e: e["kind"] == "traffic" and e.get("event") == "stopped")
    verdict = run.verdict("delivered_the_traffic")
    assert verdict.outcome is Outcome.NOT_PROVED
    assert verdict.advice == missing.TO_ITS_END
