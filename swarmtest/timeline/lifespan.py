"""The life of one instance, and of all of them: what the timeline is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from swarmtest.events import Event


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment by our clock, plus or minus ``error`` seconds, and who saw it."""

    at: float
    error: float
    source: str


@dataclass(frozen=True, slots=True)
class Lifespan:
    """One task of the service under test.

    Attributes:
        generation: ``old`` lived when the rollout began, ``new`` came after, ``only`` is neither.
        marks: by name; a mark that wasn't seen isn't in it.
        desired_stop: when Swarm decided to stop it, beside the ``announced`` mark that DNS proves.
        grace_seconds: of the task's own spec, since a changed grace counts from the next task on.
        state: last task state seen.
        cause: what ended it, in words; null while it lives.
        served: requests answered by it, rightly and wholly.
        ran: whether it was seen to run; a task may be made and dropped before its process is started.
        image: of the task's own spec, by which versions are told apart.
        force_update: counts forced updates in the task's spec; with the image, it's the spec's generation.
        never_ready: it has a health check, and is known never to have passed it.
        listed: whether DNS was seen to list it; null where nobody watched DNS.
    """

    task: str
    service: str
    slot: int | None
    node: str | None
    container: str | None
    container_name: str | None
    generation: str
    created: float
    marks: Mapping[str, Mark]
    desired_stop: Mark | None
    addresses: tuple[str, ...]
    host_ports: tuple[int, ...]
    grace_seconds: float
    state: str
    problem: str | None
    exit_code: int | None
    signal: int | None
    cause: str | None = None
    served: int = 0
    ran: bool = True
    cpu_max: float | None = None
    memory_max: int | None = None
    image: str | None = None
    force_update: int | None = None
    never_ready: bool = False
    listed: bool | None = None

    @property
    def name(self) -> str:
        """Docker's own name of the place: service and slot."""
        return self.service if self.slot is None else f"{self.service}.{self.slot}"

    def mark(self, name: str) -> Mark | None:
        """A mark, or None where it wasn't seen."""
        return self.marks.get(name)

    def at(self, name: str) -> float | None:
        """Time of a mark, or None where it wasn't seen."""
        mark = self.marks.get(name)
        return None if mark is None else mark.at

    @property
    def ready_from(self) -> Mark | None:
        """From when on it was ready: the later of healthy and warm; None where neither was seen, or it never was."""
        if self.never_ready:
            return None
        return max(
            (mark for name in ("healthy", "warm") if (mark := self.mark(name))), key=lambda m: m.at, default=None
        )

    @property
    def ready_until(self) -> Mark | None:
        """Until when it counted: the earliest of unready, announced and exited; None while it does."""
        return self.earliest("unready", "announced", "exited")

    @property
    def stopping(self) -> Mark | None:
        """The first sign that it was going."""
        return self.earliest("announced", "unready", "signalled", "closed", "killed", "exited")

    @property
    def stopped_unlisted(self) -> bool:
        """Whether it was told to stop before it was up, and so was never in DNS, which somebody watched."""
        if self.listed is not False or self.desired_stop is None:
            return False
        up = None if self.never_ready else self.mark("healthy") or self.mark("started")
        return up is None or up.at > self.desired_stop.at

    def earliest(self, *names: str) -> Mark | None:
        """The earliest of these marks, or None where none was seen."""
        return min((mark for name in names if (mark := self.mark(name))), key=lambda m: m.at, default=None)


@dataclass(frozen=True, slots=True)
class Victim:
    """An instance that an act hurt: one value for each act and each of its instances.

    Attributes:
        act: the act's ID.
        name: the act's name: ``kill``, ``freeze`` …
        task: the instance's task.
        hurt_at: when the act began; nothing of it happened before.
        hurt_by: when the act had been carried out; None where that isn't written down.
        lasting: it lasts until it's healed.
        healed_at: when its healing had been carried out; None where nothing was healed.
        outcome: of the act: ``ok``, ``failed``, ``unknown``, or None where it never ended.
        in_stop: it was on its way out already, by somebody else's order.
    """

    act: int
    name: str
    task: str
    container: str | None
    slot: int | None
    hurt_at: float
    hurt_by: float | None = None
    lasting: bool = False
    healed_at: float | None = None
    outcome: str | None = None
    in_stop: bool = False

    @property
    def orderly(self) -> bool:
        """Whether it was asked to stop, or slowed down while it did, so that its stop is judged as any other."""
        return self.name in ORDERLY or (self.in_stop and self.name not in ("kill", "crash"))


ORDERLY = ("stop", "signal", "drain", "scale")
"""Acts that ask an instance to stop, or to do something else by itself, and take nothing from it."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """All lives of a run, with what surrounds them.

    Attributes:
        t0: when the rollout began; None where nothing was done.
        began, ended: from the first request planned to the end of what counts as the run.
        phases: name to (began, ended).
        broken: streams that broke; from there on marks may be missing, never made up.
        failed_tasks: tasks that failed or were rejected by themselves, with Swarm's own words.
        waiting: tasks that should run and have no container at the end of the run, with Swarm's own words.
        neighbours: of each other service, from when until when each of its containers ran.
        full: from when until when the client's machine had nothing left, for some seconds at least.
        outcome: how the run itself ended: ``finished``, ``interrupted``, ``failed``, or None.
        acts: began, ended and skipped, as the trace has them.
        victims: who was hurt by which act, in order.
        skipped: acts that a guard rail forbade; each says its ``reason``.
        stopped_by_guard: why the run's own guard stopped it; None where it didn't.
        to_stop: tasks of the instances whose stop is judged; see :attr:`meant_to_stop`.
    """

    lifespans: tuple[Lifespan, ...] = ()
    t0: float | None = None
    began: float | None = None
    ended: float | None = None
    phases: Mapping[str, tuple[float, float | None]] = field(default_factory=dict)
    acts: tuple[Event, ...] = ()
    update_status: tuple[Event, ...] = ()
    broken: tuple[str, ...] = ()
    failed_tasks: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    neighbours: Mapping[str, tuple[tuple[float, float | None], ...]] = field(default_factory=dict)
    traffic: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    full: tuple[tuple[float, float], ...] = ()
    outcome: str | None = None
    outcome_error: str | None = None
    victims: tuple[Victim, ...] = ()
    skipped: tuple[Event, ...] = ()
    stopped_by_guard: str | None = None
    to_stop: frozenset[str] = frozenset()

    @property
    def old(self) -> tuple[Lifespan, ...]:
        """Instances that lived when the rollout began."""
        return tuple(life for life in self.lifespans if life.generation == "old")

    @property
    def new(self) -> tuple[Lifespan, ...]:
        """Instances made after it began."""
        return tuple(life for life in self.lifespans if life.generation == "new")

    @property
    def stops(self) -> tuple[Lifespan, ...]:
        """Instances that went during the run, whatever made them go."""
        return tuple(life for life in self.lifespans if life.stopping is not None)

    @property
    def meant_to_stop(self) -> tuple[Lifespan, ...]:
        """Instances whose stop is judged: all old ones where the plan replaces them, else those asked to stop.

        One that was killed, crashed or froze isn't among them, nor is one that was meant to stay.
        """
        return tuple(life for life in self.lifespans if life.task in self.to_stop)

    def hurts(self, life: Lifespan) -> tuple[Victim, ...]:
        """What was done to an instance, in order."""
        return tuple(victim for victim in self.victims if victim.task == life.task)
