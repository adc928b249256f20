from __future__ import annotations

import pytest

from swarmtest.checks import Outcome
from swarmtest.losses import missing
from tests.judge.acting import acted, stays, without_the_update
from tests.judge.builder import T0, Rollout

CHECK = "announced_before_the_signal"


def test_passes_where_each_left_dns_before_it_had_its_signal_and_tells_when_it_turned_unready() -> None:
    rollout = Rollout()
    for life in rollout.old:
        life.unready = (life.signalled or 0) + 0.1
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.PASSED
    assert "announced 2.00 s ±" in verdict.evidence[0]
    assert "unready 0.10 s ± 0.00 s after the signal" in verdict.evidence[0]


def test_an_instance_that_left_dns_after_its_signal_fails_it() -> None:
    rollout = Rollout()
    rollout.old[1].announced = (rollout.old[1].signalled or 0) + 0.5
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert verdict.sentence == "1 of 3 instances had the stop signal before the announcement."
    assert "api.2 (oldtask2): announced 0.50 s ±" in verdict.evidence[0]
    assert "keep accepting after the stop signal" in (verdict.advice or "")


def test_without_anybody_who_watches_dns_nothing_is_proved() -> None:
    """Swarm's pause of 2 s is a habit, not an observation: what's reckoned from the signal proves nothing of it."""
    rollout = Rollout()
    rollout.watches_names = False
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "nobody saw it leave DNS; Swarm's decision 2.05 s" in verdict.evidence[0]
    assert verdict.advice == missing.NAMES


def stopped_while_starting(rollout: Rollout) -> Rollout:
    """A new instance has Swarm's order to stop before it's up, as when an update is turned back at once."""
    life = rollout.new[2]
    life.healthy = life.warm = None
    life.desired, life.signalled = life.started - 0.2, life.started + 2.0
    life.announced = life.started - 0.1  # DNS never lists it
    life.closed, life.exited = life.signalled + 0.2, life.signalled + 0.5
    return rollout


def test_one_that_was_told_to_stop_before_it_was_up_was_never_in_dns_and_the_image_lacks_nothing() -> None:
    rollout = stopped_while_starting(Rollout())
    rollout.plan["stack"]["healthcheck"] = None
    rollout.plan["steps"] += [{"phase": "again", "fault": "rollback", "replaces": True}]
    rollout.act(2, "rollback", (rollout.new[2].desired or 0) - 0.1)
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert any("never listed in DNS, since it was told to stop before it was up" in line for line in verdict.evidence)
    assert "nobody saw it leave DNS" not in " ".join(verdict.evidence)
    assert verdict.advice is None
    assert "DNS" not in (rollout.verdict("front_door_let_go_in_time").advice or "")


def test_a_look_up_that_took_long_is_no_matter_of_the_clocks() -> None:
    rollout = Rollout()
    gone = rollout.old[1].announced or 0
    rollout.drop(lambda e: e["kind"] == "names" and abs(e["t"] - T0 - gone) < 0.01 and not e.get("late"))
    left = [life.address for life in rollout.lives if life.takes(gone) and life is not rollout.old[1]]
    rollout.event(gone, "names", since=T0 + gone - 2.5, name="tasks.api", addresses=left, late=True)
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "within the error bars" in verdict.evidence[0]
    assert verdict.advice == missing.AGAIN


def test_a_difference_within_the_error_bars_proves_nothing() -> None:
    rollout = Rollout()
    rollout.offsets = {"n1": {"seconds": 0.0, "error": 2.5}}
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "within the error bars" in verdict.evidence[0]
    assert verdict.advice == missing.CLOCKS


@pytest.mark.parametrize("name", ["stop", "signal"])
def test_a_stop_by_hand_is_said_to_be_announced_by_nobody(name: str) -> None:
    rollout = without_the_update(Rollout())
    victim = rollout.old[0]
    for life in rollout.old[1:]:
        stays(life)
    rollout.new = rollout.new[:1]
    victim.desired = (victim.exited or 0) + 0.2
    victim.announced = (victim.exited or 0) + 0.3
    rollout.status = []
    rollout.plan["steps"][1] = {"phase": name, "fault": name, "replaces": False, "target": {"ranks": [0]}}
    named = {"task": victim.task, "container": victim.container, "slot": 1, "node": "n1"}
    acted(rollout, name, (victim.signalled or 0) - 0.05, instances=[named])
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "No instance was told to stop by Swarm; stopped by hand" in verdict.sentence
    assert "api.1 (oldtask1)" in verdict.sentence


def test_where_nobody_was_stopped_nothing_is_proved() -> None:
    assert Rollout(update=False).verdict(CHECK).outcome is Outcome.NOT_PROVED
