"""The runs of a tune, before any of them is made: what each is for, and what's put over the service's own keys.

Every run has a deployment of its own, so its tasks are made with the grace that's to be tried, and no rollout is needed
to arm it: a task is stopped under the spec that it was made with. Whether it really was is read from that spec.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, floor
from typing import Any

from swarmtest.errors import UsageError
from swarmtest.faults.update import Update
from swarmtest.plan import Plan, Step
from swarmtest.reports.tune import EDGE, MEASURE, PROOF, SIGNAL_PATH
from swarmtest.scenario import STREAMS, TRAFFIC, Scenario
from swarmtest.stack import Service, Stack
from swarmtest.stack.block.brief import Brief
from swarmtest.tune.bound import rollouts_needed, stops_needed

REPLICAS = 8
"""Three rollouts of so many give the 22 stops of the default."""

MOST_ROLLOUTS = 30
LEAST_GENEROUS_SECONDS = 60
HOURS_SECONDS = 3600.0
"""From so long a request, or a job, on a grace isn't the answer."""

CHECKS = (
    "answered_every_request",
    "replaced_every_instance",
    "announced_before_the_signal",
    "exited_within_grace",
    "drained_before_exit",
    "front_door_let_go_in_time",
    "nothing_arrived_after_close",
    "http2_told_to_go_away",
    *STREAMS,
    *TRAFFIC,
)
"""Of a rollout's checks those on how instances stop; whether the grace exceeds what a request needs is what's tuned."""

_PLAN = Plan(steps=(Step("baseline"), Step("rollout", fault=Update(force=True))))


@dataclass(frozen=True, slots=True)
class Trial:
    """One run of a tune, to be made."""

    purpose: str
    grace_seconds: int
    replicas: int
    keys: Mapping[str, Any]

    @property
    def scenario(self) -> Scenario:
        """The plan and the checks of it: a rollout like any other, but for an edge nothing is expected of."""
        destructive = self.purpose == EDGE
        return Scenario(
            story=f"tune, {self.purpose}: a rollout with a grace of {self.grace_seconds} s",
            plan=_PLAN,
            checks=("replaced_every_instance", "exited_within_grace", *TRAFFIC) if destructive else CHECKS,
            kind="destructive" if destructive else "orderly",
            deployed_with=self.keys,
        )


@dataclass(frozen=True, slots=True)
class Tuned:
    """What's to be tuned, and how surely.

    Attributes:
        replicas: of the measuring runs; None for eight, or the file's where that's more or can't be raised.
        generous_seconds: the grace of the measuring runs; None for one that's long enough for any drain.
        edge: whether to look for where the first SIGKILL appears.
    """

    stack: Stack
    brief: Brief
    coverage: float = 0.9
    confidence: float = 0.9
    replicas: int | None = None
    generous_seconds: int | None = None
    edge: bool = False
    seed: int = 42

    @property
    def service(self) -> Service:
        """The service, as the file has it."""
        return self.stack.services[self.brief.service]

    @property
    def declares_longest(self) -> bool:
        """Whether the file says how long a request may take."""
        return "longest_request" in self.stack.about or any(kind.milliseconds for kind in self.brief.kinds)

    @property
    def generous(self) -> int:
        """A grace that no drain in good order needs."""
        if self.generous_seconds is not None:
            return self.generous_seconds
        return max(LEAST_GENEROUS_SECONDS, floor(self.service.grace_seconds), ceil(2 * self.brief.longest_seconds + 30))

    @property
    def measuring_replicas(self) -> int:
        """How many instances a measuring run has: more of them give more stops."""
        service = self.service
        if service.mode != "replicated":
            return service.replicas
        if self.replicas is not None:
            return self.replicas
        fixed = any(port.published and port.mode == "host" for port in service.ports)
        return service.replicas if fixed else max(REPLICAS, service.replicas)

    @property
    def stops(self) -> int:
        """How many stops the coverage and the confidence need."""
        return stops_needed(self.coverage, self.confidence)

    @property
    def rollouts(self) -> int:
        """How many measuring runs that takes.

        Raises:
            UsageError: more than anybody would wait for.
        """
        count = rollouts_needed(self.stops, self.measuring_replicas)
        if count > MOST_ROLLOUTS:
            raise UsageError(
                f"{self.stops} stops are needed for a coverage of {self.coverage:g} at a confidence of"
                f" {self.confidence:g}, which is {count} rollouts of {self.measuring_replicas} instances, and"
                f" {MOST_ROLLOUTS} at most are made; give more --replicas, or a lower --coverage or --confidence"
            )
        return count


def signal_path(tuned: Tuned) -> Trial:
    """The first run: the service as the file has it, with room for a drain, and no waiting between its instances."""
    service = tuned.service
    grace = min(tuned.generous, max(floor(service.grace_seconds), ceil(tuned.brief.longest_seconds + 10)))
    keys = {"stop_grace_period": f"{grace}s", "deploy": {"update_config": _QUICK}}
    return Trial(SIGNAL_PATH, grace, service.replicas, keys)


def measuring(tuned: Tuned) -> Trial:
    """A rollout of many instances under the generous grace."""
    return _rollout(tuned, MEASURE, tuned.generous)


def proving(tuned: Tuned, grace_seconds: int) -> Trial:
    """The same with the recommended value."""
    return _rollout(tuned, PROOF, grace_seconds)


def edging(tuned: Tuned, grace_seconds: int) -> Trial:
    """The same with a value that may be too short; losses are no surprise."""
    return _rollout(tuned, EDGE, grace_seconds)


_QUICK = {"delay": "0s", "monitor": "1s"}
"""Nothing is waited for between instances: how they stop doesn't hang on it."""


def _rollout(tuned: Tuned, purpose: str, grace_seconds: int) -> Trial:
    replicas, service = tuned.measuring_replicas, tuned.service
    deploy: dict[str, Any] = {"update_config": {**_QUICK, "parallelism": 2 if replicas >= 4 else 1}}
    if service.mode == "replicated":
        deploy["replicas"] = replicas
    return Trial(purpose, grace_seconds, replicas, {"stop_grace_period": f"{grace_seconds}s", "deploy": deploy})


def trials(tuned: Tuned) -> list[Trial]:
    """All that's planned, but for the edge's, which depend on what's found."""
    return [signal_path(tuned), *[measuring(tuned)] * tuned.rollouts, proving(tuned, tuned.generous)]


def seconds_of(trial: Trial, tuned: Tuned) -> float:
    """About how long a run takes, from its beginning to its verdict, if its stops are no longer than they need."""
    service, longest = tuned.service, tuned.brief.longest_seconds
    health = service.health
    start = 3.0 + (health.interval_seconds if health is not None else 1.0)
    batches = ceil(trial.replicas / (2 if trial.replicas >= 4 and trial.purpose != SIGNAL_PATH else 1))
    each = start if service.update.order == "start-first" else start + longest
    return 25.0 + start + tuned.brief.baseline_seconds + batches * each + longest + 10.0
