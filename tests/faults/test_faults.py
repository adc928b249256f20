"""What all faults have in common: a file by the name, and settings that make the same fault again."""

from __future__ import annotations

import json

import pytest

from swarmtest.errors import UsageError
from swarmtest.faults import Aim, Fault, fault_names, fault_of
from swarmtest.faults.release import Release
from swarmtest.faults.scale import Scale
from swarmtest.faults.signal import Signal
from swarmtest.faults.switch_off import SwitchOff
from swarmtest.faults.unhealthy import Unhealthy
from tests.faults.deployment import task


@pytest.mark.parametrize("name", fault_names())
def test_a_fault_is_found_by_its_file_and_bears_the_file_s_name(name: str) -> None:
    fault = fault_of(name, {})
    assert fault.name == name
    assert fault.settings() == fault_of(name, fault.settings()).settings()
    assert not (fault.lasting and fault.replaces), "an update has its own end, and what lasts is healed"


@pytest.mark.parametrize(
    "fault",
    [
        Scale(-1),
        Signal("SIGUSR1"),
        SwitchOff("bank"),
        Unhealthy("late", after_seconds=9.0),
        Release(image="api:2", environment={"A": "1"}),
    ],
    ids=lambda fault: fault.name,
)
def test_settings_that_went_through_a_trace_make_the_same_fault_again(fault: Fault) -> None:
    assert fault_of(fault.name, json.loads(json.dumps(fault.settings()))) == fault


def test_a_fault_of_another_version_is_named() -> None:
    with pytest.raises(UsageError, match=r"no fault 'melt'; there are: crash, drain, .*later swarmtest"):
        fault_of("melt", {})
    with pytest.raises(UsageError, match=r"fault kill can't be made with \{'hard': True\}"):
        fault_of("kill", {"hard": True})


def test_an_aim_s_containers_are_those_of_its_instances() -> None:
    assert Aim("api", (task(2), task(1))).containers == ("c2", "c1")
    assert Aim("api").containers == ()
