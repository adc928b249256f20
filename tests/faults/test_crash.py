"""A crash is a release with a command that ends at once."""

from __future__ import annotations

from swarmtest.faults import Aim
from swarmtest.faults.crash import Crash
from tests.faults.deployment import FakeDeployment


def test_it_releases_the_same_image_with_a_command_that_fails() -> None:
    deployment = FakeDeployment()
    Crash().hurt(deployment, Aim("api"))
    assert deployment.done == [("release", "api", None, {}, None, ("sh", "-c", "exit 3"))]


def test_there_is_nothing_to_heal() -> None:
    deployment, fault = FakeDeployment(), Crash()
    assert fault.before(deployment, Aim("api")) == {}
    fault.heal(deployment, Aim("api"), {})
    fault.heal(deployment, Aim("api"), {})
    assert deployment.done == []


def test_it_is_judged_as_an_update() -> None:
    assert (Crash().lasting, Crash().ends, Crash().replaces) == (False, False, True)
