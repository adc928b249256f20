"""Rolls a service back to its previous spec, ordered by a person and not by a failure.

It goes by the rollback's settings, not the update's, and replaces every task whose spec isn't the
previous one. The engine keeps one previous spec: a second rollback undoes the first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from swarmtest.engine import Deployment
from swarmtest.faults import Aim


@dataclass(frozen=True, slots=True)
class Rollback:
    """As ``docker service rollback``; the engine refuses it where there has been no update."""

    name: str = "rollback"
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
        """Sends the rollback; what becomes of it shows in the service's update status."""
        deployment.rollback(aim.service)

    def heal(self, deployment: Deployment, aim: Aim, before: Mapping[str, Any]) -> None:
        """Nothing to undo."""
