"""Makes room: one more instance than there was, so that one can be stopped by hand without a gap.

It's what ``start-first`` does for an update of Swarm's own. It isn't healed: the room is there for all
that comes after it, and goes with the stack.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from swarmtest.engine import Deployment
from swarmtest.faults import Aim


@dataclass(frozen=True, slots=True)
class MakeRoom:
    """So many replicas more, for good."""

    by: int = 1
    name: str = "make_room"
    lasting: bool = False
    ends: bool = False
    replaces: bool = False

    def settings(self) -> dict[str, Any]:
        """As the trace shows it."""
        return {"by": self.by}

    def before(self, deployment: Deployment, aim: Aim) -> dict[str, Any]:
        """How many there were, for whoever reads the trace."""
        return {"replicas": deployment.replicas(aim.service)}

    def hurt(self, deployment: Deployment, aim: Aim) -> None:
        """Asks for more."""
        deployment.scale(aim.service, deployment.replicas(aim.service) + self.by)

    def heal(self, deployment: Deployment, aim: Aim, before: Mapping[str, Any]) -> None:
        """Nothing to undo."""
