"""What can be done to a deployment: one file a fault.

A fault is a frozen dataclass of its settings with one context manager, :meth:`Fault.during`: it hurts,
yields while the hurt lasts, and heals. It knows neither the time, nor who's chosen, nor the trace.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Protocol

from swarmtest.engine import Deployment


class Fault(Protocol):
    """What a file in this folder offers."""

    @property
    def name(self) -> str:
        """One word, a verb, as the trace and the reports show it."""

    def settings(self) -> dict[str, Any]:
        """What it does, as plain values for the plan and the trace."""

    def during(self, deployment: Deployment, service: str) -> AbstractContextManager[None]:
        """Hurts on entry, heals on exit; must heal however its body ends."""
