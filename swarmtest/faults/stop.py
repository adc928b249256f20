"""Stops instances in an orderly way: their stop signal, the service's own grace, then SIGKILL.

It's ``docker stop`` by hand, which by itself would use 10 s and not the service's grace (moby/moby
#36955). Swarm isn't asked, so nothing announces the stop: the address stays in DNS until the exit. Swarm
then puts a new task into the slot after the restart policy's delay, if its condition is ``any``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from swarmtest.engine import Deployment
from swarmtest.faults import Aim
from swarmtest.stack import DEFAULT_GRACE_SECONDS


@dataclass(frozen=True, slots=True)
class Stop:
    """An orderly stop of each chosen instance, with the grace that its task was made with."""

    name: str = "stop"
    lasting: bool = False
    ends: bool = True
    replaces: bool = False

    def settings(self) -> dict[str, Any]:
        """Nothing to set."""
        return {}

    def before(self, deployment: Deployment, aim: Aim) -> dict[str, Any]:  # noqa: ARG002
        """Nothing: Swarm replaces what was stopped."""
        return {}

    def hurt(self, deployment: Deployment, aim: Aim) -> None:
        """Sends the stop, and doesn't wait for the exit."""
        for task in aim.instances:
            if task.container is not None:
                grace = DEFAULT_GRACE_SECONDS if task.grace_seconds is None else task.grace_seconds
                deployment.stop(task.container, grace)

    def heal(self, deployment: Deployment, aim: Aim, before: Mapping[str, Any]) -> None:
        """Nothing to undo."""
