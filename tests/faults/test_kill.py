"""A kill is a signal to each victim, and nothing after it."""

from __future__ import annotations

import pytest

from swarmtest.engine.client import NotThere
from swarmtest.faults import Aim
from swarmtest.faults.kill import Kill
from tests.faults.deployment import FakeDeployment, task


def test_each_victim_gets_a_sigkill_and_nobody_else() -> None:
    deployment = FakeDeployment()
    Kill().hurt(deployment, Aim("api", (task(1), task(3))))
    assert deployment.done == [("kill", "c1", "SIGKILL"), ("kill", "c3", "SIGKILL")]


def test_a_victim_that_is_gone_is_an_error_and_nothing_is_tried_again() -> None:
    deployment = FakeDeployment()
    deployment.gone = {"c1"}
    with pytest.raises(NotThere):
        Kill().hurt(deployment, Aim("api", (task(1),)))
    assert deployment.done == []


def test_there_is_nothing_to_heal() -> None:
    deployment, fault, aim = FakeDeployment(), Kill(), Aim("api", (task(1),))
    assert fault.before(deployment, aim) == {}
    fault.heal(deployment, aim, {})
    fault.heal(deployment, aim, {})
    assert deployment.done == []
    assert (fault.lasting, fault.ends, fault.replaces) == (False, True, False)
