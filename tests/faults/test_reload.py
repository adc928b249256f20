from __future__ import annotations

from dataclasses import replace

import pytest

from swarmtest.errors import UsageError
from swarmtest.faults import Aim, fault_of
from swarmtest.faults.reload import Reload
from tests.faults.deployment import FakeDeployment, task

WISH = {"reload": {"service": "edge", "signal": "SIGUSR2"}}


def door(number: int, state: str = "running"):  # type: ignore[no-untyped-def]
    return replace(task(number), service="edge", state=state)


def test_each_container_of_the_front_door_that_runs_gets_the_signal_and_no_instance_does() -> None:
    deployment = FakeDeployment()
    deployment.listed = [task(1), door(2), door(3, "shutdown"), door(4)]
    Reload().granted(WISH).hurt(deployment, Aim("api"))
    assert deployment.done == [("kill", "c2", "SIGUSR2"), ("kill", "c4", "SIGUSR2")]


def test_there_is_nothing_to_heal() -> None:
    deployment = FakeDeployment()
    fault = Reload().granted(WISH)
    before = fault.before(deployment, Aim("api"))
    fault.heal(deployment, Aim("api"), before)
    assert before == {}
    assert deployment.done == []


def test_a_stack_that_does_not_say_how_is_told_what_to_add() -> None:
    with pytest.raises(UsageError, match=r"front_door: \{service: NAME, reload: SIGNAL\}"):
        Reload().granted({})


def test_a_front_door_that_does_not_run_is_no_silent_success() -> None:
    deployment = FakeDeployment()
    deployment.listed = [task(1)]
    with pytest.raises(UsageError, match="no container of edge runs"):
        Reload().granted(WISH).hurt(deployment, Aim("api"))


def test_the_trace_makes_it_again() -> None:
    fault = Reload("edge", "SIGHUP")
    assert fault_of("reload", fault.settings()) == fault
    assert fault.granted(WISH) == fault
