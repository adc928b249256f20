"""The forced update as a fault: it hurts once, and leaves nothing to heal."""

from __future__ import annotations

import pytest

from swarmtest.engine import TaskView, UpdateView
from swarmtest.errors import Interrupted
from swarmtest.faults import Fault
from swarmtest.faults.update import Update


class FakeDeployment:
    name = "ours"

    def __init__(self) -> None:
        self.rolled: list[str] = []

    def tasks(self) -> list[TaskView]:
        return []

    def update_status(self, service: str) -> UpdateView:
        return UpdateView(None, None, None, "")

    def roll(self, service: str) -> None:
        self.rolled.append(service)

    def remove(self) -> None:
        pytest.fail("a fault removes nothing")


def test_it_rolls_the_service_once_when_it_begins() -> None:
    deployment, fault = FakeDeployment(), Update()
    with fault.during(deployment, "api"):
        assert deployment.rolled == ["api"]
    assert deployment.rolled == ["api"]


def test_there_is_nothing_to_heal_when_it_is_interrupted() -> None:
    deployment = FakeDeployment()
    with pytest.raises(Interrupted), Update().during(deployment, "api"):
        raise Interrupted("SIGINT")
    assert deployment.rolled == ["api"]


def test_it_shows_in_the_trace_by_a_verb_and_plain_settings() -> None:
    fault: Fault = Update()
    assert (fault.name, fault.settings()) == ("update", {"force": True})
