"""A deployment that keeps in mind what's done to it, as the real one does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from swarmtest.engine import Pace, TaskView, UpdateView
from swarmtest.engine.client import NotThere
from swarmtest.errors import UsageError


def task(slot: int, service: str = "api", *, grace: float | None = 30.0, node: str = "n1", up: bool = True) -> TaskView:
    return TaskView(
        id=f"t{slot}", service=service, slot=slot, node=node, container=f"c{slot}", desired="running",
        state="running" if up else "starting", message="", error=None, exit_code=None, addresses=(), host_ports={},
        grace_seconds=grace, image="demo:1", created=0.0, force_update=0,
    )  # fmt: skip


class FakeDeployment:
    """Three instances of ``api``, and a ``bank`` that they depend on.

    Attributes:
        done: each thing that was done, in words.
        gone: containers that aren't there any more.
        refused: nodes that don't say that they may be drained.
    """

    name = "ours"

    def __init__(self) -> None:
        self.done: list[tuple[Any, ...]] = []
        self.frozen: set[str] = set()
        self.gone: set[str] = set()
        self.refused: set[str] = set()
        self.asked = {"api": 3, "bank": 1}
        self.nodes = {"n1": "active", "n2": "pause"}
        self.listed = [task(slot) for slot in (3, 1, 2)]
        self.paced = Pace(3, 1, "start-first", 0.0, 5.0, 30.0, 2.5, ("CMD", "/app/healthy"))

    def tasks(self) -> list[TaskView]:
        return self.listed

    def update_status(self, service: str) -> UpdateView:
        return UpdateView(None, None, None, "")

    def pace(self, service: str) -> Pace:
        return self.paced

    def roll(self, service: str) -> None:
        self.done.append(("roll", service))

    def release(
        self,
        service: str,
        *,
        image: str | None,
        environment: Mapping[str, str],
        health: Mapping[str, Any] | None = None,
        command: Sequence[str] | None = None,
    ) -> None:
        self.done.append(("release", service, image, dict(environment), health, command))

    def rollback(self, service: str) -> None:
        self.done.append(("rollback", service))

    def replicas(self, service: str) -> int:
        return self.asked[service]

    def scale(self, service: str, replicas: int) -> None:
        self.asked[service] = replicas

    def kill(self, container: str, signal: str = "SIGKILL") -> None:
        self._must_be_there(container)
        self.done.append(("kill", container, signal))

    def stop(self, container: str, grace_seconds: float) -> None:
        self._must_be_there(container)
        self.done.append(("stop", container, grace_seconds))

    def pause(self, container: str) -> None:
        self._must_be_there(container)
        self.frozen.add(container)

    def unpause(self, container: str) -> None:
        self.frozen.discard(container)

    def availability(self, node: str) -> str:
        if node in self.refused:
            raise UsageError(f"the node {node} isn't touched")
        return self.nodes[node]

    def set_availability(self, node: str, availability: str) -> None:
        self.nodes[node] = availability

    def remove(self) -> None:
        pytest.fail("a fault removes nothing")

    def _must_be_there(self, container: str) -> None:
        if container in self.gone:
            raise NotThere(f"no container {container}", 404)
