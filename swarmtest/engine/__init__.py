"""What swarmtest asks of an engine, as protocols, and the values that come back.

Only the modules in this folder know the Docker SDK and the docker CLI; their exceptions are turned
into :class:`~swarmtest.errors.EngineError` here, once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """What kind of engine this is, as far as verdicts depend on it.

    Attributes:
        host: where published ports are reached: ``127.0.0.1`` for a local socket, else the host of
            ``DOCKER_HOST`` or of the CLI's current context.
        swarm: ``active``, ``inactive``, ``pending``, ``error`` or ``locked``.
        manager: this node is a manager that can be asked.
        node: this node's ID; events and logs of containers elsewhere aren't to be had from it.
        ipvs: whether the kernel has IPVS, which VIPs and the routing mesh need; None where it can't be known.
        cli: version of the docker CLI, None where there is none.
        offset_seconds: engine clock minus ours, with ``offset_error_seconds`` (half a round trip).
        identity, cluster: the engine's own ID and its swarm's, by which it's known again; empty where unknown.
    """

    version: str
    api: str
    least_api: str
    host: str
    local: bool
    swarm: str
    manager: bool
    nodes: int
    ipvs: bool | None
    kernel: str
    cli: str | None
    node: str = ""
    offset_seconds: float = 0.0
    offset_error_seconds: float = 0.0
    identity: str = ""
    cluster: str = ""

    def as_json(self) -> dict[str, Any]:
        """The part that goes into a run's plan."""
        return {
            "version": self.version,
            "api": self.api,
            "nodes": self.nodes,
            "ipvs": self.ipvs,
            "kernel": self.kernel,
            "cli": self.cli,
            "identity": self.identity,
            "cluster": self.cluster,
        }


@dataclass(frozen=True, slots=True)
class TaskView:
    """A task as the list of tasks shows it at one moment."""

    id: str
    service: str
    slot: int | None
    node: str
    container: str | None
    desired: str
    state: str
    message: str
    error: str | None
    exit_code: int | None
    addresses: tuple[str, ...]
    host_ports: Mapping[str, int]
    grace_seconds: float | None
    image: str
    created: float
    force_update: int

    @property
    def up(self) -> bool:
        """Wanted and running."""
        return self.desired == "running" and self.state == "running"

    def as_event(self) -> dict[str, Any]:
        """The fields of a ``task`` event."""
        return {
            "task": self.id,
            "service": self.service,
            "slot": self.slot,
            "node": self.node,
            "container": self.container,
            "desired": self.desired,
            "state": self.state,
            "message": self.message,
            "error": self.error,
            "exit_code": self.exit_code,
            "addresses": list(self.addresses),
            "host_ports": dict(self.host_ports),
            "grace_seconds": self.grace_seconds,
            "image": self.image,
            "created": self.created,
            "force_update": self.force_update,
        }


@dataclass(frozen=True, slots=True)
class UpdateView:
    """``UpdateStatus`` of a service; ``state`` is None where there has been no update."""

    state: str | None
    started: float | None
    completed: float | None
    message: str


class Deployment(Protocol):
    """A stack of ours that's deployed."""

    @property
    def name(self) -> str:
        """The stack's name on the engine."""

    def tasks(self) -> list[TaskView]:
        """All tasks of all services, old ones included as far as the engine remembers them."""

    def update_status(self, service: str) -> UpdateView:
        """How the last update of a service went."""

    def roll(self, service: str) -> None:
        """Replaces every task of a service with the same spec (a forced update)."""

    def remove(self) -> None:
        """Removes all that carries this stack's label, and waits until it's gone."""
