"""Any signal can be sent; whether an instance is to exit by it depends on the signal."""

from __future__ import annotations

import pytest

from swarmtest.faults import Aim
from swarmtest.faults.signal import Signal
from tests.faults.deployment import FakeDeployment, task


def test_each_victim_gets_the_signal() -> None:
    deployment = FakeDeployment()
    Signal("SIGUSR1").hurt(deployment, Aim("api", (task(1), task(2))))
    assert deployment.done == [("kill", "c1", "SIGUSR1"), ("kill", "c2", "SIGUSR1")]


@pytest.mark.parametrize(
    ("signal", "ends"), [("SIGTERM", True), ("SIGKILL", True), ("SIGUSR1", False), ("SIGHUP", False)]
)
def test_an_instance_is_to_exit_by_some_signals_only(signal: str, ends: bool) -> None:
    assert Signal(signal).ends is ends


def test_there_is_nothing_to_heal() -> None:
    deployment, fault, aim = FakeDeployment(), Signal(), Aim("api", (task(1),))
    assert fault.before(deployment, aim) == {}
    fault.heal(deployment, aim, {})
    fault.heal(deployment, aim, {})
    assert deployment.done == []
    assert fault.settings() == {"signal": "SIGTERM"}
