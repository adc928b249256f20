"""What happens when, as plain data: a list of steps, made before anything happens.

Whom a step hurts is a rank among the instances, not an ID, so that a plan exists, and can be printed,
before there is any instance. The same seed draws the same ranks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from swarmtest.faults import Fault


@dataclass(frozen=True, slots=True)
class Target:
    """Which of the service's instances a step hurts.

    Attributes:
        ranks: places in the list of running instances, ordered by slot; taken modulo their number.
        draw: so many ranks are drawn with the seed where none are given.
    """

    ranks: tuple[int, ...] = ()
    draw: int = 0

    @property
    def count(self) -> int:
        """How many instances it is."""
        return len(self.ranks) or self.draw

    def drawn(self, generator: Random, replicas: int) -> Target:
        """The same with its ranks drawn, no rank twice."""
        if self.ranks or not self.draw:
            return self
        order = sorted(range(replicas), key=lambda _rank: generator.random())
        return replace(self, ranks=tuple(sorted(order[: self.draw])))


@dataclass(frozen=True, slots=True)
class OnStop:
    """What's done to each instance that gets its stop signal during a step, and for how long."""

    fault: Fault
    seconds: float

    def as_json(self) -> dict[str, Any]:
        """As it stands in ``plan.json``."""
        return {"fault": self.fault.name, "settings": self.fault.settings(), "seconds": self.seconds}


@dataclass(frozen=True, slots=True)
class Burst:
    """More of the same traffic, from the moment of least capacity on.

    Attributes:
        factor: all that's sent meanwhile over the steady traffic alone; above 1.
    """

    factor: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the app contract that instances write about themselves, such as ``asked``.

    Attributes:
        ranks: whose next line of that name is meant; none: one of each that runs, whenever it was written.
    """

    name: str
    ranks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a plan.

    Attributes:
        phase: what the trace and the live view call it.
        fault: what's done; None for time in which nothing is done.
        target: the instances that are hurt; None for the service as a whole.
        hold_seconds: how long it lasts. None means: without a fault, as long as the stack's own baseline;
            with one, until the deployment is whole again. A lasting fault is healed after it, and
            without it, before that waiting.
        awaits: without a fault: it's over as soon as this was written; ``hold_seconds`` are the longest
            that's waited for it.
        prepares: only gets things ready for what's judged.
        on_stop: done to each instance that's told to stop meanwhile.
        burst: sent meanwhile.
    """

    phase: str
    fault: Fault | None = None
    target: Target | None = None
    hold_seconds: float | None = None
    awaits: Line | None = None
    prepares: bool = False
    on_stop: OnStop | None = None
    burst: Burst | None = None

    def as_json(self, baseline_seconds: float) -> dict[str, Any]:
        """The step as it stands in ``plan.json``."""
        if self.fault is None:
            quiet: dict[str, Any] = {"phase": self.phase, "seconds": self.seconds(baseline_seconds)}
            if self.awaits is not None:
                quiet["awaits"] = {"line": self.awaits.name, "ranks": list(self.awaits.ranks)}
            return quiet
        found: dict[str, Any] = {
            "phase": self.phase,
            "fault": self.fault.name,
            "settings": self.fault.settings(),
            "replaces": self.fault.replaces,
            "prepares": self.prepares,
            "target": None if self.target is None else {"ranks": list(self.target.ranks)},
        }
        if self.hold_seconds is not None:
            found["seconds"] = self.hold_seconds
        if self.on_stop is not None:
            found["on_stop"] = self.on_stop.as_json()
        if self.burst is not None:
            found["burst"] = {"factor": self.burst.factor, "seconds": self.burst.seconds}
        return found

    def seconds(self, baseline_seconds: float) -> float:
        """Length of a step without a fault."""
        return baseline_seconds if self.hold_seconds is None else self.hold_seconds


@dataclass(frozen=True, slots=True)
class Mix:
    """Steps of which a seeded plan is drawn.

    Attributes:
        steps: each with its weight and its nominal seconds, by which the plan's length is reckoned.
        rest_seconds: shortest and longest pause between two.
    """

    steps: tuple[tuple[Step, int, float], ...]
    rest_seconds: tuple[float, float] = (3.0, 8.0)
    minutes: float = 3.0


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps in order.

    Attributes:
        mix: what the rest of the steps is drawn from, with the seed; None where the steps are all.
        floor: so many instances must be up beside those that a step hurts, or it's skipped.
        most_hurts: so many instances are killed, stopped or frozen at most; later steps are skipped. A plan
            that's drawn from a mix has room for all that was drawn: its length was asked for.
    """

    steps: tuple[Step, ...]
    mix: Mix | None = None
    floor: int = 1
    most_hurts: int = 50

    @property
    def replaces(self) -> bool:
        """Whether every instance is meant to be replaced."""
        return any(step.fault is not None and step.fault.replaces and not step.prepares for step in self.steps)


@dataclass(frozen=True, slots=True)
class Draw:
    """What a plan is drawn with.

    Attributes:
        wishes: what the stack says of itself for faults that need it, such as the image to release.
        minutes: length of a mix; None for its own.
    """

    seed: int
    replicas: int
    minutes: float | None = None
    wishes: Mapping[str, Any] = field(default_factory=dict)
