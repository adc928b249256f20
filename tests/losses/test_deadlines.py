"""A request that's given up after a fixed time is lost to that, whatever was done to its instance meanwhile."""

from __future__ import annotations

import pytest

from swarmtest.checks import Outcome
from swarmtest.losses import Charge
from tests.judge.builder import Life, Rollout, Sent

LIMIT = 2.0


def given_up(rollout: Rollout, name: str, at: float, on: Life, seconds: float = LIMIT) -> Sent:
    """A request that the front door answers with 504 after its limit, while its handler goes on for half a second."""
    one = rollout.request(name, at, at + seconds, None, status=504, kind="long", instance=None)
    one.on = on
    one.steps = {"start": at + 0.002, "intent": at + seconds + 0.4, "commit": at + seconds + 0.45}
    one.steps["finish"] = at + seconds + 0.5
    one.proxied = {"status": 504, "server": f"{on.address}:8000", "connected": True, "termination": "sH--"}
    return one


def with_a_limit(*before: float) -> Rollout:
    """Some are given up before the beginning, after so many seconds each, and three around the stop of an instance."""
    rollout = Rollout()
    for n, seconds in enumerate(before):
        given_up(rollout, f"before-{n}", -6.0 + n / 4, rollout.old[1], seconds)
    stopping = rollout.old[0].signalled or 0.0
    for n in range(3):
        given_up(rollout, f"around-{n}", stopping - 2.3 + n / 2, rollout.old[0])
    return rollout


def charges(rollout: Rollout, name: str) -> set[Charge | None]:
    return {one.charge for one in rollout.judged().losses.seen if one.request.id.startswith(name)}


def test_what_is_given_up_after_as_long_as_before_the_rollout_is_no_stop_s_loss() -> None:
    rollout = with_a_limit(2.0, 2.02, 1.98)
    assert charges(rollout, "around") == {Charge.BACKGROUND}
    assert rollout.verdict("answered_every_request").outcome is Outcome.FAILED
    assert rollout.verdict("drained_before_exit").outcome is Outcome.PASSED
    assert rollout.verdict("new_served_only_when_ready").outcome is Outcome.PASSED


@pytest.mark.parametrize("before", [(), (2.0,), (1.2, 1.6, 2.0, 2.4, 2.8), (1.0, 1.02)])
def test_where_nothing_shows_a_deadline_the_stop_is_blamed(before: tuple[float, ...]) -> None:
    rollout = with_a_limit(*before)
    assert Charge.SHUTDOWN in charges(rollout, "around")
    assert rollout.verdict("drained_before_exit").outcome is Outcome.FAILED


def test_one_whose_handler_never_came_to_its_end_is_the_stop_s() -> None:
    rollout = with_a_limit(2.0, 2.02, 1.98)
    cut = given_up(rollout, "cut", (rollout.old[0].signalled or 0.0) - 0.1, rollout.old[0])
    del cut.steps["finish"]
    assert charges(rollout, "cut") == {Charge.SHUTDOWN}


def test_where_the_client_gives_up_first_it_is_told_to_wait_longer() -> None:
    rollout = Rollout()
    for n, life in enumerate((rollout.old[1], rollout.old[2], rollout.old[0])):
        at = (-6.0, -5.0, (rollout.old[0].signalled or 0.0) - 1.0)[n]
        one = rollout.unanswered(f"late-{n}", at, at + LIMIT, life, kind="long", client_outcome="timed_out")
        one.steps = {"start": at + 0.002, "commit": at + LIMIT + 0.2, "finish": at + LIMIT + 0.3}
    assert charges(rollout, "late") == {Charge.BACKGROUND}
    assert "x-swarmtest traffic timeout" in (rollout.verdict("answered_every_request").advice or "")
