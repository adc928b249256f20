"""A dependency is scaled to nothing, and back to what it was."""

from __future__ import annotations

import pytest

from swarmtest.errors import UsageError
from swarmtest.faults import Aim
from swarmtest.faults.switch_off import SwitchOff
from tests.faults.deployment import FakeDeployment


def test_the_dependency_has_no_replica_and_the_subject_is_not_touched() -> None:
    deployment = FakeDeployment()
    SwitchOff("bank").hurt(deployment, Aim("api"))
    assert deployment.asked == {"api": 3, "bank": 0}


def test_it_goes_back_to_what_was_written_down_by_that_alone() -> None:
    deployment = FakeDeployment()
    deployment.asked["bank"] = 2
    before = SwitchOff("bank").before(deployment, Aim("api"))
    SwitchOff("bank").hurt(deployment, Aim("api"))
    SwitchOff().heal(deployment, Aim("api"), before)
    assert deployment.asked == {"api": 3, "bank": 2}


def test_healing_twice_or_without_a_hurt_does_no_harm() -> None:
    deployment = FakeDeployment()
    for _ in range(2):
        SwitchOff("bank").heal(deployment, Aim("api"), {"service": "bank", "replicas": 1})
    assert deployment.asked == {"api": 3, "bank": 1}


def test_it_is_granted_the_dependency_that_the_stack_file_names() -> None:
    assert SwitchOff().granted({"dependency": "bank"}).settings() == {"service": "bank"}
    assert SwitchOff("edge").granted({"dependency": "bank"}).settings() == {"service": "edge"}


def test_without_a_dependency_the_key_to_add_is_named() -> None:
    with pytest.raises(UsageError, match=r"x-swarmtest: \{dependency: NAME\}"):
        SwitchOff().granted({})
    with pytest.raises(UsageError, match="no service was named"):
        SwitchOff().hurt(FakeDeployment(), Aim("api"))
