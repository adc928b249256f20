"""An orderly stop has the grace of the service, and not the engine's own 10 s."""

from __future__ import annotations

from swarmtest.faults import Aim
from swarmtest.faults.stop import Stop
from tests.faults.deployment import FakeDeployment, task


def test_each_victim_is_stopped_with_the_grace_that_its_task_was_made_with() -> None:
    # moby/moby #36955
    deployment = FakeDeployment()
    Stop().hurt(deployment, Aim("api", (task(1, grace=30.0), task(2, grace=45.0))))
    assert deployment.done == [("stop", "c1", 30.0), ("stop", "c2", 45.0)]


def test_a_task_that_names_no_grace_has_docker_s_own() -> None:
    deployment = FakeDeployment()
    Stop().hurt(deployment, Aim("api", (task(1, grace=None),)))
    assert deployment.done == [("stop", "c1", 10.0)]


def test_there_is_nothing_to_heal() -> None:
    deployment, fault, aim = FakeDeployment(), Stop(), Aim("api", (task(1),))
    assert fault.before(deployment, aim) == {}
    fault.heal(deployment, aim, {})
    fault.heal(deployment, aim, {})
    assert deployment.done == []
    assert (fault.lasting, fault.ends, fault.replaces) == (False, True, False)
