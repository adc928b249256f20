"""A service is scaled by so many, and goes back to as many as there were."""

from __future__ import annotations

import pytest

from swarmtest.faults import Aim
from swarmtest.faults.scale import Scale
from tests.faults.deployment import FakeDeployment


@pytest.mark.parametrize(("by", "replicas"), [(1, 4), (2, 5), (-1, 2), (-5, 0)])
def test_it_asks_for_so_many_more_or_less_and_never_for_less_than_none(by: int, replicas: int) -> None:
    deployment = FakeDeployment()
    Scale(by).hurt(deployment, Aim("api"))
    assert deployment.asked == {"api": replicas, "bank": 1}


def test_it_goes_back_to_what_was_written_down() -> None:
    deployment = FakeDeployment()
    before = Scale(-1).before(deployment, Aim("api"))
    Scale(-1).hurt(deployment, Aim("api"))
    Scale(-1).heal(deployment, Aim("api"), before)
    assert (before, deployment.asked["api"]) == ({"replicas": 3}, 3)


def test_healing_twice_or_without_a_hurt_does_no_harm() -> None:
    deployment = FakeDeployment()
    for _ in range(2):
        Scale(1).heal(deployment, Aim("api"), {"replicas": 3})
    assert deployment.asked["api"] == 3
