"""What a run set out to do, as ``plan.json`` says it: the promises that the checks hold it to.

It's the judging side's reading of the plan. Anything may be missing, since plans of older versions
are judged too; what's missing has the value that Swarm itself would use.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from swarmtest.errors import RunFolderError

SWARM_PAUSE_SECONDS = 2.0
"""Swarm takes a task out of DNS and VIP, and waits this long before it sends the stop signal."""

SWARM_GRACE_SECONDS = 10.0
"""Grace of a service that names none."""


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


class FrontDoorPromise(msgspec.Struct, frozen=True):
    """Who chooses the instance: ``mode`` is ``proxy``, ``direct`` or ``mesh``."""

    mode: str | None = "proxy"
    service: str | None = None
    detects: str | None = None
    within_seconds: float | None = None


class KindPromise(msgspec.Struct, frozen=True):
    """One kind of traffic, with its rate per second."""

    name: str
    rate: float = 0.0
    milliseconds: list[float] | None = None


class TrafficPromise(msgspec.Struct, frozen=True):
    """The traffic asked for."""

    timeout_seconds: float | None = 30.0
    kinds: list[KindPromise] = []
    fresh_share: float | None = 0.5
    longest_request_seconds: float | None = None


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
    steps: list[dict[str, Any]] = []
    checks: list[str] = []
    raw: dict[str, Any] = {}

    @property
    def replicas(self) -> int:
        """Replicas asked for; a global service on one node has one."""
        return 1 if self.stack.replicas is None else self.stack.replicas

    @property
    def start_first(self) -> bool:
        """Whether the new instance is started before the old one is stopped."""
        return self.stack.order == "start-first"

    @property
    def at_once(self) -> int:
        """How many instances an update may take at a time; 0 in the file means all."""
        parallelism = 1 if self.stack.parallelism is None else self.stack.parallelism
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
    def replaces(self) -> bool:
        """Whether the plan sets out to replace instances."""
        return any(step.get("fault") == "update" for step in self.steps)


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
