"""What a stack file promises: replicas, order, grace, health check, ports, of each service.

Defaults are Swarm's own, with the source of each: parallelism 1, stop-first, failure action pause,
monitor 5 s (swarmkit ``api/defaults/service.go``), grace 10 s (``stopGracePeriod`` in
``daemon/cluster/executor/container/container.go`` of moby falls back to the engine's 10 s).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swarmtest.stack.composefile import ComposeFile

DEFAULT_GRACE_SECONDS = 10.0

DEFAULT_MONITOR_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class UpdatePolicy:
    """``update_config`` or ``rollback_config``, with Swarm's defaults filled in."""

    order: str = "stop-first"
    parallelism: int = 1
    delay_seconds: float = 0.0
    monitor_seconds: float = DEFAULT_MONITOR_SECONDS
    failure_action: str = "pause"


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """A health check as the file states it; Docker's defaults are 30 s, 30 s, 3 and 0 s."""

    test: tuple[str, ...]
    interval_seconds: float = 30.0
    timeout_seconds: float = 30.0
    retries: int = 3
    start_period_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Port:
    """A published port; ``published`` is None where the engine chooses one."""

    target: int
    published: int | None
    mode: str = "ingress"
    protocol: str = "tcp"


@dataclass(frozen=True, slots=True)
class Build:
    """How to make a missing image; paths are absolute."""

    context: Path
    dockerfile: Path
    args: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Service:
    """One service of a stack.

    Attributes:
        health: None where the file says nothing: the image may have one.
        restart_max_attempts: so often what ends in a slot is replaced; None, and 0 in the file, is without end.
    """

    name: str
    image: str
    replicas: int = 1
    mode: str = "replicated"
    endpoint_mode: str = "vip"
    grace_seconds: float = DEFAULT_GRACE_SECONDS
    stop_signal: str | None = None
    health: HealthCheck | None = None
    health_disabled: bool = False
    update: UpdatePolicy = UpdatePolicy()
    rollback: UpdatePolicy = UpdatePolicy()
    restart_condition: str = "any"
    restart_delay_seconds: float = 5.0
    restart_max_attempts: int | None = None
    ports: tuple[Port, ...] = ()
    networks: tuple[str, ...] = ()
    build: Build | None = None


@dataclass(frozen=True, slots=True)
class Stack:
    """A stack file: its services, and the raw ``x-swarmtest`` block.

    Attributes:
        source: the parsed file, for errors that point at a line.
        services: by name, in the order of the file.
        about: the ``x-swarmtest`` block, empty where there's none.
    """

    source: ComposeFile
    services: Mapping[str, Service]
    about: Mapping[str, Any]

    @property
    def file(self) -> Path:
        """The file, as the person named it."""
        return self.source.path
