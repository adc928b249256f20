"""Freezes instances: they answer nothing and close nothing until they're let go.

The kernel's freezer stops all processes of the container, as a swapping or stalled host would; no
handler notices. The engine suspends the health check of a paused container, so Swarm goes on taking it
for healthy: only the front door's own probes can notice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from swarmtest.engine import Deployment
from swarmtest.errors import SwarmtestError
from swarmtest.faults import Aim


@dataclass(frozen=True, slots=True)
class Freeze:
    """Pauses each chosen instance, and lets it go on at the end."""

    name: str = "freeze"
    lasting: bool = True
    ends: bool = False
    replaces: bool = False

    def settings(self) -> dict[str, Any]:
        """Nothing to set."""
        return {}

    def before(self, deployment: Deployment, aim: Aim) -> dict[str, Any]:  # noqa: ARG002
        """Which containers are to be let go on."""
        return {"containers": list(aim.containers)}

    def hurt(self, deployment: Deployment, aim: Aim) -> None:
        """Freezes them."""
        for container in aim.containers:
            deployment.pause(container)

    def heal(self, deployment: Deployment, aim: Aim, before: Mapping[str, Any]) -> None:  # noqa: ARG002
        """Lets them go on; harmless for those that are gone, or go on already. One that's stuck holds up no other."""
        errors: list[SwarmtestError] = []
        for container in before.get("containers", ()):
            try:
                deployment.unpause(container)
            except SwarmtestError as error:
                errors.append(error)
        if errors:
            raise errors[0]
