"""Rolls a service: every task is replaced by the service's own update policy.

``force`` replaces tasks by ones of the same spec, so that nothing but the lifecycle is tried. There's
nothing to heal: the new tasks are as good as the old ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from swarmtest.engine import Deployment


@dataclass(frozen=True, slots=True)
class Update:
    """A forced update, as ``docker service update --force``."""

    force: bool = True
    name: str = "update"

    def settings(self) -> dict[str, Any]:
        """As the trace shows it."""
        return {"force": self.force}

    @contextmanager
    def during(self, deployment: Deployment, service: str) -> Iterator[None]:
        """Sends the update; what becomes of it shows in the service's update status."""
        deployment.roll(service)
        yield
