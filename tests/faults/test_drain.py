"""A node is drained only where it says so, and is put back to what it was."""

from __future__ import annotations

import pytest

from swarmtest.errors import UsageError
from swarmtest.faults import Aim
from swarmtest.faults.drain import Drain
from tests.faults.deployment import FakeDeployment, task


def test_the_named_node_is_drained() -> None:
    deployment = FakeDeployment()
    Drain("n2").hurt(deployment, Aim("api"))
    assert deployment.nodes == {"n1": "active", "n2": "drain"}


def test_the_node_of_the_first_instance_is_drained_where_none_is_named() -> None:
    deployment = FakeDeployment()
    deployment.listed = [task(2, node="n1"), task(1, node="n2"), task(1, "bank", node="n1")]
    assert Drain().before(deployment, Aim("api")) == {"node": "n2", "availability": "pause"}
    Drain().hurt(deployment, Aim("api"))
    assert deployment.nodes == {"n1": "active", "n2": "drain"}


def test_nodes_that_may_not_be_drained_are_passed_over() -> None:
    deployment = FakeDeployment()
    deployment.refused = {"n1"}
    deployment.listed = [task(1, node="n1"), task(2, node="n2")]
    Drain().hurt(deployment, Aim("api"))
    assert deployment.nodes == {"n1": "active", "n2": "drain"}
    deployment.refused = {"n1", "n2"}
    with pytest.raises(UsageError, match="n2 isn't touched"):
        Drain().before(deployment, Aim("api"))


def test_it_goes_back_to_what_was_written_down() -> None:
    deployment = FakeDeployment()
    before = Drain("n2").before(deployment, Aim("api"))
    Drain("n2").hurt(deployment, Aim("api"))
    for _ in range(2):
        Drain().heal(deployment, Aim("api"), before)
    assert deployment.nodes == {"n1": "active", "n2": "pause"}


def test_without_an_instance_there_is_no_node_to_choose() -> None:
    deployment = FakeDeployment()
    deployment.listed = [task(1, up=False)]
    with pytest.raises(UsageError, match="no instance of api runs"):
        Drain().before(deployment, Aim("api"))
