"""Limits that a stack is held to, as in ``p99 of short in rollout < 800ms``: what one says, as a value.

Both sides know them: the judging side makes a verdict of each, and a running rollout may be stopped by
one. So they're below the wall, and know neither a request nor a trace.
"""

from __future__ import annotations

from dataclasses import dataclass

CLASSES = (
    "refused",
    "unserved",
    "cut",
    "cut_finished",
    "unknown",
    "gateway",
    "error",
    "shed",
    "unexpected",
    "silent_loss",
    "timed_out",
    "unresolved",
)
"""What may become of a request that isn't answered; each may have a limit of its own."""

LOST, LOST_TO_FAULT, SUCCESS, SLOWEST, DUPLICATES = "lost", "lost to fault", "success", "max", "duplicates"
RUN, ROLLOUT = "run", "rollout"
"""All of a run, which is what a limit is for that names no phase; and what's from T0 until the plan's last step is
over, whatever is done in it."""


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit.

    Attributes:
        text: as it was written, with single spaces.
        measure: ``p99`` and its like or ``max`` (answer times), ``success``, ``lost``, ``lost to fault``, one of
            :data:`CLASSES`, or ``duplicates``.
        sign: ``<``, ``<=``, ``=``, ``>=`` or ``>``.
        value: in ``unit``: ``ms``, ``requests`` or ``share`` (from 0 to 1).
        per_second: each second is held to it.
        kind: of traffic; None for all of it.
        phase: the trace's name of a phase, or ``rollout``; None for the whole run.
        each: each act in the phase begins a new count.
        abort: a run that breaks it is stopped at once.
        scenarios: names of the scenarios that it's for, or ``orderly``, ``destructive``; none for all.
    """

    text: str
    measure: str
    sign: str
    value: float
    unit: str
    per_second: bool = False
    kind: str | None = None
    phase: str | None = None
    each: bool = False
    abort: bool = False
    scenarios: tuple[str, ...] = ()

    @property
    def share(self) -> float | None:
        """The share of a percentile, 0.99 for ``p99``; 1 for ``max``; None for what isn't a time."""
        if self.measure == SLOWEST:
            return 1.0
        return float(self.measure[1:]) / 100 if self.unit == "ms" else None

    def holds(self, found: float) -> bool:
        """Whether a value is within the limit; a billionth is no difference."""
        slack = 1e-9 * max(1.0, abs(self.value))
        match self.sign:
            case "<":
                return found < self.value - slack
            case "<=":
                return found <= self.value + slack
            case ">":
                return found > self.value + slack
            case ">=":
                return found >= self.value - slack
            case _:
                return abs(found - self.value) <= slack

    def meant_for(self, scenario: str, way: str) -> bool:
        """Whether it's for a scenario, by its name or by its way (``orderly``, ``destructive``)."""
        return not self.scenarios or scenario in self.scenarios or way in self.scenarios
