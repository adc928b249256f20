"""Making room as a fault: one more than there was, for good."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from swarmtest.faults import Aim, Fault
from swarmtest.faults.make_room import MakeRoom


@dataclass
class FakeDeployment:
    asked: int = 2
    calls: list[tuple[str, int]] = field(default_factory=list)

    def replicas(self, service: str) -> int:
        assert service == "api"
        return self.asked

    def scale(self, service: str, replicas: int) -> None:
        self.calls.append((service, replicas))
        self.asked = replicas


@pytest.mark.parametrize(("by", "expected"), [(1, 3), (2, 4)])
def test_it_asks_for_so_many_more_than_there_were(by: int, expected: int) -> None:
    deployment, fault = FakeDeployment(), MakeRoom(by)
    assert fault.before(deployment, Aim("api")) == {"replicas": 2}  # type: ignore[arg-type]
    fault.hurt(deployment, Aim("api"))  # type: ignore[arg-type]
    assert deployment.calls == [("api", expected)]


def test_the_room_stays_when_it_is_healed_or_interrupted() -> None:
    deployment, fault = FakeDeployment(), MakeRoom()
    fault.hurt(deployment, Aim("api"))  # type: ignore[arg-type]
    fault.heal(deployment, Aim("api"), {"replicas": 2})  # type: ignore[arg-type]
    assert deployment.asked == 3
    assert not fault.lasting


def test_it_shows_in_the_trace_by_a_verb_and_plain_settings() -> None:
    fault: Fault = MakeRoom()
    assert (fault.name, fault.settings()) == ("make_room", {"by": 1})
