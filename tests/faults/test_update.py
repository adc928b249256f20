"""The forced update as a fault: it hurts once, and leaves nothing to heal."""

from __future__ import annotations

from swarmtest.faults import Aim, Fault
from swarmtest.faults.update import Update
from tests.faults.deployment import FakeDeployment


def test_it_rolls_the_service_once() -> None:
    deployment, fault, aim = FakeDeployment(), Update(), Aim("api")
    assert fault.before(deployment, aim) == {}
    fault.hurt(deployment, aim)
    assert deployment.done == [("roll", "api")]


def test_there_is_nothing_to_heal() -> None:
    deployment = FakeDeployment()
    Update().heal(deployment, Aim("api"), {})
    Update().heal(deployment, Aim("api"), {})
    assert deployment.done == []


def test_it_shows_in_the_trace_by_a_verb_and_plain_settings() -> None:
    fault: Fault = Update()
    assert (fault.name, fault.settings()) == ("update", {"force": True})
    assert fault.replaces
    assert not fault.lasting
