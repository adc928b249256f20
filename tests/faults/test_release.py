"""A release needs a version: its own, or the one that the stack file names."""

from __future__ import annotations

import pytest

from swarmtest.errors import UsageError
from swarmtest.faults import Aim
from swarmtest.faults.release import Release
from tests.faults.deployment import FakeDeployment


def test_it_updates_to_the_image_and_the_variables() -> None:
    deployment = FakeDeployment()
    Release(image="api:2", environment={"A": "1"}).hurt(deployment, Aim("api"))
    assert deployment.done == [("release", "api", "api:2", {"A": "1"}, None, None)]


def test_it_is_granted_what_the_stack_file_names() -> None:
    granted = Release().granted({"release": {"image": "api:2", "environment": {"A": "1"}}})
    assert (granted.image, granted.environment) == ("api:2", {"A": "1"})
    assert granted.settings() == {"image": "api:2", "environment": {"A": "1"}}


def test_one_with_a_version_of_its_own_needs_none() -> None:
    assert Release(environment={"B": "2"}).granted({"release": {"image": "api:2"}}).settings() == {
        "image": None,
        "environment": {"B": "2"},
    }


def test_without_a_version_the_key_to_add_is_named() -> None:
    with pytest.raises(UsageError, match=r"x-swarmtest: \{release: \{image: NAME:TAG\}\}"):
        Release().granted({"dependency": "bank"})


def test_there_is_nothing_to_heal() -> None:
    deployment, fault = FakeDeployment(), Release(image="api:2")
    assert fault.before(deployment, Aim("api")) == {}
    fault.heal(deployment, Aim("api"), {})
    fault.heal(deployment, Aim("api"), {})
    assert deployment.done == []
    assert (fault.lasting, fault.ends, fault.replaces) == (False, False, True)
