"""What swarmtest asks of an engine, as protocols, and the values that come back.

Only the modules in this folder know the Docker SDK and the docker CLI; their exceptions are turned
into :class:`~swarmtest.errors.EngineError` here, once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


@dataclass(frozen=True, slots=True)
class Pace:
    """How a rollout goes on: the update's settings as the engine has them, and how long a start takes here.

    Attributes:
        parallelism: 0 is all at once.
        start_seconds: the longest that a task which runs now took to get there; 0 where none runs.
        health_test: the service's own health check, in words; empty where only the image may have one.
    """

    replicas: int
    parallelism: int
    order: str
    delay_seconds: float
    monitor_seconds: float
    grace_seconds: float
    start_seconds: float
    health_test: tuple[str, ...] = ()

    @property
    def rollout_seconds(self) -> float:
        """How long a rollout without a failure takes at most, its last monitoring included.

        A stop-first update waits for each old task, and 60 s at most; the last tasks are watched for the
        larger of monitor and delay (swarmkit ``manager/orchestrator/update/updater.go``).
        """
        batches = -(-self.replicas // (self.parallelism or self.replicas or 1))
        stop = min(self.grace_seconds + 2.0, 60.0) if self.order == "stop-first" else 0.0
        each = self.start_seconds + 1.0 + stop + self.delay_seconds
        return batches * each + max(self.monitor_seconds, self.delay_seconds) + 1.0


class Deployment(Protocol):
    """A stack of ours that's deployed, and what can be done to it.

    What isn't of the stack is refused with :class:`~swarmtest.errors.UsageError` before anything is sent,
    unless it carries the opt-in label ``swarmtest.allow=true``. A refusal of the engine is a
    :class:`~swarmtest.engine.client.Refused`: nothing happened then.
    """

    @property
    def name(self) -> str:
        """The stack's name on the engine."""

    def tasks(self) -> list[TaskView]:
        """All tasks of all services, old ones included as far as the engine remembers them."""

    def update_status(self, service: str) -> UpdateView:
        """How the last update of a service went."""

    def pace(self, service: str) -> Pace:
        """How a rollout of a service goes on."""

    def roll(self, service: str) -> None:
        """Replaces every task of a service with the same spec (a forced update)."""

    def release(
        self,
        service: str,
        *,
        image: str | None,
        environment: Mapping[str, str],
        health: Mapping[str, Any] | None = None,
        command: Sequence[str] | None = None,
    ) -> None:
        """Replaces every task by one of a changed spec; what isn't given, and other variables, stay as they are."""

    def rollback(self, service: str) -> None:
        """Back to the previous spec."""

    def replicas(self, service: str) -> int:
        """How many replicas a service asks for."""

    def scale(self, service: str, replicas: int) -> None:
        """Asks for another number of replicas."""

    def kill(self, container: str, signal: str = "SIGKILL") -> None:
        """Sends a signal to a container's main process."""

    def stop(self, container: str, grace_seconds: float) -> None:
        """Stops a container with a grace, and doesn't wait for its exit."""

    def pause(self, container: str) -> None:
        """Freezes a container."""

    def unpause(self, container: str) -> None:
        """Lets a container go on; harmless where it's gone or isn't frozen."""

    def availability(self, node: str) -> str:
        """``active``, ``pause`` or ``drain``, of a node with the opt-in label."""

    def set_availability(self, node: str, availability: str) -> None:
        """Changes whether a node gets tasks; it needs the opt-in label."""

    def remove(self) -> None:
        """Removes all that carries this stack's label, and waits until it's gone."""
