"""A run that's broken off removes its stack while requests are open: what's lost to that is nobody's but our own."""

from __future__ import annotations

import pytest

from swarmtest.checks import Outcome
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
