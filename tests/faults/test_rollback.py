"""A rollback is one order to the engine."""

from __future__ import annotations

from swarmtest.faults import Aim
from swarmtest.faults.rollback import Rollback
from tests.faults.deployment import FakeDeployment


def test_it_orders_the_rollback_once() -> None:
    deployment = FakeDeployment()
    Rollback().hurt(deployment, Aim("api"))
    assert deployment.done == [("rollback", "api")]


def test_there_is_nothing_to_heal() -> None:
    deployment, fault = FakeDeployment(), Rollback()
    assert fault.before(deployment, Aim("api")) == {}
    fault.heal(deployment, Aim("api"), {})
    fault.heal(deployment, Aim("api"), {})
    assert deployment.done == []


def test_it_is_judged_as_an_update() -> None:
    fault = Rollback()
    assert (fault.lasting, fault.ends, fault.replaces, fault.settings()) == (False, False, True, {})
