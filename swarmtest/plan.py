"""What happens when, as plain data: a list of steps, made before anything happens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from swarmtest.faults import Fault


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a plan.

    Attributes:
        phase: what the trace and the live view call it.
        fault: what's done; None for time in which nothing is done.
        hold_seconds: how long it lasts. None means: for a fault, until the deployment is steady again and
            every replaced container has exited; without one, as long as the stack's own baseline.
    """

    phase: str
    fault: Fault | None = None
    hold_seconds: float | None = None

    def as_json(self, baseline_seconds: float) -> dict[str, Any]:
        """The step as it stands in ``plan.json``."""
        if self.fault is not None:
            return {"phase": self.phase, "fault": self.fault.name, "settings": self.fault.settings()}
        return {"phase": self.phase, "seconds": self.seconds(baseline_seconds)}

    def seconds(self, baseline_seconds: float) -> float:
        """Length of a step without a fault."""
        return baseline_seconds if self.hold_seconds is None else self.hold_seconds


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps in order."""

    steps: tuple[Step, ...]

    @property
    def replaces(self) -> bool:
        """Whether instances are meant to be replaced."""
        return any(step.fault is not None for step in self.steps)
