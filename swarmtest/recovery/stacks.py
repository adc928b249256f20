"""Stacks of runs on the engine: whose they are, what they consist of, and which no run looks after.

The labels on a stack's services tell its run, and the host and folder that the run writes to.
"""

from __future__ import annotations

import enum
import socket
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swarmtest.engine.client import Client
from swarmtest.engine.labels import FOLDER_LABEL, HOST_LABEL, PROBE_SERVICE, RUN_LABEL, STACK_LABEL
from swarmtest.engine.removal import Leftover, leftovers
from swarmtest.engine.swarm import SwarmDeployment
from swarmtest.errors import UsageError
from swarmtest.events import is_still_written
from swarmtest.recovery.leavings import read_leavings
from swarmtest.recovery.orphans import is_open, orphans_of
from swarmtest.store import RunFolder

ORDER = ("services", "containers", "networks", "configs", "secrets", "volumes")


class Owner(enum.Enum):
    """Whose the stack of a run's name is now."""

    RUN = "run"
    OTHER = "other"
    NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class Stack:
    """A stack that a run deployed, by the labels of its services."""

    name: str
    run: str
    folder: Path | None
    host: str | None

    @property
    def here(self) -> bool:
        """Its run was begun on this host, as far as anybody knows."""
        return self.host in (None, socket.gethostname())

    def run_folder(self) -> RunFolder | None:
        """Its run's folder, if it's here and still there."""
        if self.folder is None or not self.here or not (self.folder / "plan.json").is_file():
            return None
        return RunFolder(self.folder)

    def may_go_on(self) -> bool:
        """Whether its run goes on, or nobody can tell; a folder deleted under a run is no sign that it ended."""
        if self.folder is None or not self.here:
            return True
        events = RunFolder(self.folder).events
        if not events.is_file():
            return is_open(events) or bool(orphans_of(self.folder))
        left = read_leavings(events)
        if left.outcome is None and not left.locked:
            return True
        try:
            return is_still_written(events)
        except OSError:
            return True


def owner_of(client: Client, name: str, run: str, *, by_label: bool = False) -> Owner:
    """Whose the stack ``name`` is; one whose deployment was cut short may have no service yet.

    Arguments:
        by_label: only a service with the run's label proves that it's the run's.
    """
    labels = [_labels(item) for item in client.get("/services", filters={"label": [f"{STACK_LABEL}={name}"]})]
    if not labels:
        return Owner.RUN if not by_label and leftovers(client, name) else Owner.NOBODY
    return Owner.RUN if any(found.get(RUN_LABEL) == run for found in labels) else Owner.OTHER


def stacks_of_runs(client: Client) -> list[Stack]:
    """All stacks on the engine that runs deployed."""
    found: dict[str, Stack] = {}
    for item in client.get("/services", filters={"label": [RUN_LABEL]}):
        labels = _labels(item)
        if (name := labels.get(STACK_LABEL)) is not None:
            folder = labels.get(FOLDER_LABEL)
            found[name] = Stack(name, labels[RUN_LABEL], Path(folder) if folder else None, labels.get(HOST_LABEL))
    return [found[name] for name in sorted(found)]


def counted(items: Iterable[Leftover]) -> str:
    """Objects by their kind: "3 services, 1 network"."""
    numbers = Counter(item.kind for item in items)
    return ", ".join(f"{n} {kind if n > 1 else kind.removesuffix('s')}" for kind in ORDER if (n := numbers[kind]))


def missing(deployment: SwarmDeployment) -> list[str]:
    """What's not up in a stack: "api has 2 of 3 instances up", one for each service that lacks some."""
    tasks, found = deployment.tasks(), []
    for service in sorted(deployment.services()):
        if service == PROBE_SERVICE:
            continue
        try:
            wanted = deployment.replicas(service)
        except UsageError:  # a global service asks for no number
            continue
        up = sum(task.service == service and task.up for task in tasks)
        if up != wanted:
            found.append(f"{service} has {up} of {wanted} instances up")
    return found


def longest_grace(client: Client, name: str) -> float:
    """The longest that an instance of the stack may take to stop, in seconds."""
    nanoseconds = [10_000_000_000]
    for item in client.get("/services", filters={"label": [f"{STACK_LABEL}={name}"]}):
        container = item["Spec"].get("TaskTemplate", {}).get("ContainerSpec") or {}
        nanoseconds.append(int(container.get("StopGracePeriod") or 0))
    return max(nanoseconds) / 1e9


def _labels(item: dict[str, Any]) -> dict[str, str]:
    return item["Spec"].get("Labels") or {}
