"""Scales a service out or in.

Which instances go when it's scaled in is Swarm's choice. They're stopped as in an update: announced,
then signalled. The engine keeps no status of it, and forgets that of the last update.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from swarmtest.engine import Deployment
from swarmtest.faults import Aim


@dataclass(frozen=True, slots=True)
class Scale:
    """So many replicas more, or with a negative number less."""

    by: int = 1
    name: str = "scale"
    lasting: bool = True
    ends: bool = False
    replaces: bool = False

    def settings(self) -> dict[str, Any]:
        """As the trace shows it."""
        return {"by": self.by}

    def before(self, deployment: Deployment, aim: Aim) -> dict[str, Any]:
        """How many there were."""
        return {"replicas": deployment.replicas(aim.service)}

    def hurt(self, deployment: Deployment, aim: Aim) -> None:
        """Asks for the new number; the tasks come and go after it."""
        deployment.scale(aim.service, max(0, deployment.replicas(aim.service) + self.by))

    def heal(self, deployment: Deployment, aim: Aim, before: Mapping[str, Any]) -> None:
        """Asks for as many as there were."""
        deployment.scale(aim.service, int(before["replicas"]))
