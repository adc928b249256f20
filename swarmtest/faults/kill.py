"""Kills instances: SIGKILL at once, as a crash or the kernel's out-of-memory killer would.

Nothing announces it: the address stays in DNS until Swarm has noticed the exit, and what the instance
was doing is cut. Swarm puts a new task into the slot after the restart policy's delay.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from swarmtest.engine import Deployment
from swarmtest.faults import Aim


@dataclass(frozen=True, slots=True)
class Kill:
    """SIGKILL to each chosen instance."""

    name: str = "kill"
    lasting: bool = False
    ends: bool = True
    replaces: bool = False

    def settings(self) -> dict[str, Any]:
        """Nothing to set."""
        return {}

    def before(self, deployment: Deployment, aim: Aim) -> dict[str, Any]:  # noqa: ARG002
        """Nothing: Swarm replaces what was killed."""
        return {}

    def hurt(self, deployment: Deployment, aim: Aim) -> None:
        """Sends the signal."""
        for container in aim.containers:
            deployment.kill(container, "SIGKILL")

    def heal(self, deployment: Deployment, aim: Aim, before: Mapping[str, Any]) -> None:
        """Nothing to undo."""
