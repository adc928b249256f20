"""Releases a version that ends as soon as it starts: a crash loop.

The same image is started with ``sh -c "exit 3"`` in place of its own command, so the image needs a
shell; one without fails as well, since its start is refused, but with another error and no exit code.
A failure before the new task was *running* counts for the update's ``failure_action``: it's paused,
rolled back, or goes on through all tasks. Swarm tries the broken task again and again meanwhile, each
time after the restart policy's delay.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from swarmtest.engine import Deployment
from swarmtest.faults import Aim

COMMAND = ("sh", "-c", "exit 3")


@dataclass(frozen=True, slots=True)
class Crash:
    """An update to a command that exits with 3 at once."""

    name: str = "crash"
    lasting: bool = False
    ends: bool = False
    replaces: bool = True

    def settings(self) -> dict[str, Any]:
        """Nothing to set."""
        return {}

    def before(self, deployment: Deployment, aim: Aim) -> dict[str, Any]:  # noqa: ARG002
        """Nothing: there's nothing to heal."""
        return {}

    def hurt(self, deployment: Deployment, aim: Aim) -> None:
        """Sends the update; what becomes of it shows in the service's update status."""
        deployment.release(aim.service, image=None, environment={}, command=COMMAND)

    def heal(self, deployment: Deployment, aim: Aim, before: Mapping[str, Any]) -> None:
        """Nothing to undo."""
