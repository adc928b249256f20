"""What's frozen is let go on, whatever became of it meanwhile."""

from __future__ import annotations

import pytest

from swarmtest.engine.client import NotThere, Refused
from swarmtest.faults import Aim
from swarmtest.faults.freeze import Freeze
from tests.faults.deployment import FakeDeployment, task


def test_each_victim_is_frozen() -> None:
    deployment = FakeDeployment()
    Freeze().hurt(deployment, Aim("api", (task(1), task(2))))
    assert deployment.frozen == {"c1", "c2"}


def test_it_lets_go_what_was_written_down_before_even_if_nobody_knows_the_aim_any_more() -> None:
    deployment, aim = FakeDeployment(), Aim("api", (task(1), task(2)))
    before = Freeze().before(deployment, aim)
    assert before == {"containers": ["c1", "c2"]}
    Freeze().hurt(deployment, aim)
    Freeze().heal(deployment, Aim("api"), before)
    assert deployment.frozen == set()


def test_healing_twice_or_without_a_hurt_does_no_harm() -> None:
    deployment = FakeDeployment()
    deployment.frozen = {"c3"}
    for _ in range(2):
        Freeze().heal(deployment, Aim("api"), {"containers": ["c1"]})
    assert deployment.frozen == {"c3"}


def test_a_freeze_that_was_cut_short_is_healed_as_far_as_it_came() -> None:
    deployment, aim = FakeDeployment(), Aim("api", (task(1), task(2)))
    deployment.gone = {"c2"}
    before = Freeze().before(deployment, aim)
    with pytest.raises(NotThere):
        Freeze().hurt(deployment, aim)
    assert deployment.frozen == {"c1"}
    Freeze().heal(deployment, aim, before)
    assert deployment.frozen == set()


def test_one_that_can_not_be_let_go_on_holds_up_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    deployment, aim = FakeDeployment(), Aim("api", (task(1), task(2)))
    before, go_on = Freeze().before(deployment, aim), deployment.unpause
    Freeze().hurt(deployment, aim)

    def stuck(container: str) -> None:
        if container == "c1":
            raise Refused("cannot resume", 500)
        go_on(container)

    monkeypatch.setattr(deployment, "unpause", stuck)
    with pytest.raises(Refused, match="cannot resume"):
        Freeze().heal(deployment, aim, before)
    assert deployment.frozen == {"c1"}
