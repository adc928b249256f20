"""A service as the rules see it: the values that hold, with Docker's defaults filled in.

None in a number or a choice means that it can't be known: it depends on an unset variable, or is nothing that Docker
takes (which the rules of legality say). Whether a value is written at all, :meth:`LintService.has` tells.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from swarmtest.lint import Place, Target
from swarmtest.lint.document import Document
from swarmtest.stack import Port


@dataclass(frozen=True, slots=True)
class Image:
    """``registry/path/name:tag@digest``, taken apart; all empty where no image is named.

    Attributes:
        name: the last part of the path, without tag and digest: ``nginx`` of ``library/nginx:1.27-alpine``.
        sure: False where an unset variable is a part of it.
    """

    text: str
    repository: str
    name: str
    tag: str
    digest: str
    sure: bool


@dataclass(frozen=True, slots=True)
class Policy:
    """``update_config`` or ``rollback_config``; ``monitor_seconds`` of zero is Swarm's default, as Swarm takes it."""

    given: bool
    order: str | None
    parallelism: int | None
    delay_seconds: float | None
    monitor_seconds: float | None
    failure_action: str | None


@dataclass(frozen=True, slots=True)
class Health:
    """A health check as written; Docker's defaults are 30 s, 30 s, 3 and 0 s.

    Attributes:
        test: its words, the first of which is ``CMD`` or ``CMD-SHELL``; empty where the file leaves it to the image.
    """

    test: tuple[str, ...]
    interval_seconds: float | None
    timeout_seconds: float | None
    retries: int | None
    start_period_seconds: float | None


@dataclass(frozen=True, slots=True)
class Mount:
    """Something mounted; ``kind`` is volume, bind, tmpfs, npipe or cluster."""

    kind: str
    source: str
    target: str
    read_only: bool


@dataclass(frozen=True, slots=True)
class Restart:
    """``deploy.restart_policy``, or ``restart`` where that's absent: any, 5 s and no end of attempts (0) by default.

    Attributes:
        window_seconds: the time in which attempts are counted; 0 is for ever.
    """

    given: bool
    condition: str | None
    delay_seconds: float | None
    max_attempts: int | None
    window_seconds: float | None


@dataclass(frozen=True, slots=True)
class LintService:
    """One service.

    Attributes:
        body: its keys as merged, for what has no attribute here.
        command: the words of ``command``, as Docker splits a text; None where the image decides.
        entrypoint: likewise.
        environment: None for a variable whose value comes from outside.
        grace_seconds: the 10 s that the engine takes where nothing is written.
        max_replicas_per_node: None where there's no limit.
    """

    name: str
    document: Document
    body: Mapping[str, Any]
    image: Image
    mode: str | None
    replicas: int | None
    update: Policy
    rollback: Policy
    restart: Restart
    health: Health | None
    health_disabled: bool
    grace_seconds: float | None
    stop_signal: str | None
    init: bool
    command: tuple[str, ...] | None
    entrypoint: tuple[str, ...] | None
    environment: Mapping[str, str | None]
    mounts: tuple[Mount, ...]
    ports: tuple[Port, ...]
    max_replicas_per_node: int | None

    def place(self, *key: str) -> Place:
        """Where a key of this service is written, or would be."""
        return self.document.place("services", self.name, *key)

    def has(self, *key: str) -> bool:
        """Whether a key of this service is written, with a value."""
        value: Any = self.body
        for part in key:
            if not isinstance(value, dict):
                return False
            value = value.get(part)
        return value is not None

    def value(self, *key: str) -> Any:
        """What's written at a key, None where nothing is."""
        value: Any = self.body
        for part in key:
            value = value.get(part) if isinstance(value, dict) else None
        return value

    @property
    def swarm(self) -> bool:
        """Whether this is read for Swarm."""
        return self.document.target is Target.SWARM

    @property
    def argv(self) -> tuple[str, ...] | None:
        """What PID 1 is started as, as far as the file says it; None where only the image knows.

        An entrypoint that's written makes the image's own command void (moby ``daemon/create.go`` merges them so).
        """
        if self.entrypoint is not None:
            return (*self.entrypoint, *(self.command or ()))
        return self.command
