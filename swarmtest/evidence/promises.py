"""What a run set out to do, as ``plan.json`` says it: the promises that the checks hold it to.

It's the judging side's reading of the plan. Anything may be missing, since plans of older versions
are judged too; what's missing has the value that Swarm itself would use.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from swarmtest.errors import RunFolderError
from swarmtest.evidence.traffic import ColdStartPromise, TrafficPromise
from swarmtest.limits import Limit

SWARM_PAUSE_SECONDS = 2.0
"""Swarm takes a task out of DNS and VIP, and waits this long before it sends the stop signal."""

SWARM_GRACE_SECONDS = 10.0
"""Grace of a service that names none."""

SWARM_RESTART_DELAY_SECONDS = 5.0
"""How long Swarm waits before it replaces a task that ended, where the service doesn't say."""

MEANT_TO_FAIL = ("unhealthy", "crash")
"""Faults that release a version which isn't meant to stay, so that not every instance has to go for it."""


class StackPromise(msgspec.Struct, frozen=True):
    """The service under test."""

    file: str = ""
    name: str = ""
    service: str = ""
    replicas: int | None = 1
    order: str | None = "stop-first"
    parallelism: int | None = 1
    grace_seconds: float | None = None
    stop_signal: str | int | None = None
    healthcheck: dict[str, Any] | None = None
    image: str | None = None
    mode: str | None = None
    endpoint_mode: str | None = None
    delay_seconds: float | None = None
    monitor_seconds: float | None = None
    failure_action: str | None = None
    rollback: dict[str, Any] = {}
    restart_condition: str | None = None
    restart_delay_seconds: float | None = None
    fixed_ports: list[int] = []

    @property
    def restarts(self) -> bool:
        """Whether Swarm replaces a task that failed."""
        return self.restart_condition != "none"

    @property
    def restarts_what_ended_well(self) -> bool:
        """Whether Swarm replaces a task that exited with code 0, too."""
        return self.restart_condition in (None, "any")


class FrontDoorPromise(msgspec.Struct, frozen=True):
    """Who chooses the instance: ``mode`` is ``proxy``, ``direct`` or ``mesh``."""

    mode: str | None = "proxy"
    service: str | None = None
    detects: str | None = None
    within_seconds: float | None = None


class OnStopPromise(msgspec.Struct, frozen=True):
    """What's done to each instance that's told to stop while a step goes on, and for how long."""

    fault: str = ""
    settings: dict[str, Any] = {}
    seconds: float = 0.0


class StepPromise(msgspec.Struct, frozen=True):
    """One step of the plan; without a fault it's time in which nothing is done.

    Attributes:
        replaces: it sets out to replace every instance; null in plans that knew one fault only.
        prepares: it only gets things ready for what's judged.
        target: ``{"ranks": [...]}`` of the instances that it hurts, null for the whole service.
    """

    phase: str = ""
    fault: str | None = None
    settings: dict[str, Any] = {}
    seconds: float | None = None
    replaces: bool | None = None
    prepares: bool | None = False
    target: dict[str, Any] | None = None
    on_stop: OnStopPromise | None = None
    burst: dict[str, Any] | None = None

    @property
    def replaces_all(self) -> bool:
        """Whether it sets out to replace every instance."""
        return self.fault == "update" if self.replaces is None else self.replaces


class Promises(msgspec.Struct, frozen=True):
    """A plan, read for judging; ``raw`` is the whole of it."""

    run: str = ""
    scenario: str = ""
    seed: int | None = None
    stack: StackPromise = StackPromise()
    front_door: FrontDoorPromise = FrontDoorPromise()
    traffic: TrafficPromise = TrafficPromise()
    instance_header: str | None = "X-Instance-ID"
    request_id_header: str | None = "X-Request-ID"
    engine: dict[str, Any] = {}
    images: dict[str, dict[str, Any]] = {}
    steps: list[StepPromise] = []
    checks: list[str] = []
    limits: list[Limit] = []
    not_asked: list[str] = []
    kind: str | None = "orderly"
    guards: dict[str, Any] = {}
    deployed_with: dict[str, Any] = {}
    cold_start: ColdStartPromise = ColdStartPromise()
    raw: dict[str, Any] = {}

    @property
    def replicas(self) -> int:
        """Replicas asked for; a global service on one node has one."""
        return 1 if self.stack.replicas is None else self.stack.replicas

    @property
    def way_back(self) -> bool:
        """Whether it's a rollback by order that's judged: it goes by ``rollback_config``."""
        return any(step.fault == "rollback" for step in self.judged_steps)

    @property
    def start_first(self) -> bool:
        """Whether the new instance is started before the old one is stopped."""
        order = self.stack.rollback.get("order", "stop-first") if self.way_back else self.stack.order
        return order == "start-first"

    @property
    def at_once(self) -> int:
        """How many instances an update may take at a time; 0 in the file means all."""
        return self._most(self.stack.rollback.get("parallelism") if self.way_back else self.stack.parallelism)

    @property
    def taken(self) -> int:
        """How many instances an update takes away at a time before it has started others."""
        return 0 if self.start_first or not self.replaces else self.at_once

    @property
    def taken_back(self) -> int:
        """How many instances a rollback takes away at a time before it has started others."""
        stop_first = self.stack.rollback.get("order", "stop-first") != "start-first"
        return self._most(self.stack.rollback.get("parallelism")) if stop_first else 0

    def _most(self, parallelism: int | None) -> int:
        parallelism = 1 if parallelism is None else parallelism
        return self.replicas if parallelism == 0 else min(parallelism, self.replicas)

    @property
    def grace_seconds(self) -> float:
        """Grace of the service; the engine cuts it to whole seconds."""
        grace = self.stack.grace_seconds
        return float(int(SWARM_GRACE_SECONDS if grace is None else grace))

    @property
    def stop_signal(self) -> str | int | None:
        """The stack's stop signal, else the image's; None for SIGTERM, which is Docker's own."""
        image = self.images.get(self.stack.service) or {}
        return self.stack.stop_signal if self.stack.stop_signal is not None else image.get("stop_signal")

    @property
    def longest_request_seconds(self) -> float:
        """Longest request of the traffic, 0 where it isn't known."""
        if self.traffic.longest_request_seconds is not None:
            return self.traffic.longest_request_seconds
        return max((max(kind.milliseconds or [0.0]) / 1000 for kind in self.traffic.kinds), default=0.0)

    @property
    def direct(self) -> bool:
        """Whether the client dials the instances themselves."""
        return self.front_door.mode == "direct"

    @property
    def judged_steps(self) -> tuple[StepPromise, ...]:
        """The steps that do something and don't only prepare."""
        return tuple(step for step in self.steps if step.fault is not None and not step.prepares)

    @property
    def replaces(self) -> bool:
        """Whether the plan sets out to replace instances."""
        return any(step.replaces_all for step in self.judged_steps)

    @property
    def replaces_for_good(self) -> bool:
        """Whether every old instance has gone at the end, if all goes by plan."""
        return any(step.replaces_all and step.fault not in MEANT_TO_FAIL for step in self.judged_steps)

    @property
    def destructive(self) -> bool:
        """Whether losses are meant to happen, to those that are hurt and to nobody else."""
        return self.kind == "destructive"

    @property
    def restart_delay_seconds(self) -> float:
        """How long Swarm waits before it replaces a task that ended."""
        delay = self.stack.restart_delay_seconds
        return SWARM_RESTART_DELAY_SECONDS if delay is None else delay


def read_promises(plan: Mapping[str, Any]) -> Promises:
    """The promises of a plan as it was read from ``plan.json``.

    Raises:
        RunFolderError: a field has a type that no version ever wrote.
    """
    try:
        promises = msgspec.convert({**plan, "raw": dict(plan)}, type=Promises, strict=False)
    except msgspec.ValidationError as error:
        raise RunFolderError(f"plan.json: {error}; make the run again") from error
    return promises
