"""Rolls a service: every task is replaced by the service's own update policy.

``force`` replaces tasks by ones of the same spec, so that nothing but the lifecycle is tried. There's
nothing to heal: the new tasks are as good as the old ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from swarmtest.engine import Deployment
from swarmtest.faults import Aim


@dataclass(frozen=True, slots=True)
class Update:
    """A forced update, as ``docker service update --force``."""

    force: bool = True
    name: str = "update"
    lasting: bool = False
    ends: bool = False
    replaces: bool = True

    def settings(self) -> dict[str, Any]:
        """As the trace shows it."""
        return {"force": self.force}

    def before(self, deployment: Deployment, aim: Aim) -> dict[str, Any]:  # noqa: ARG002
        """Nothing: there's nothing to heal."""
        return {}

    def hurt(self, deployment: Deployment, aim: Aim) -> None:
        """Sends the update; what becomes of it shows in the service's update status."""
        deployment.roll(aim.service)

    def heal(self, deployment: Deployment, aim: Aim, before: Mapping[str, Any]) -> None:
        """Nothing to undo."""
