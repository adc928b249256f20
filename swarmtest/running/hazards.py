"""What makes a plan risky or impossible on this stack and this engine, said before anything is deployed.

What's *missing* ends the run before it begins. A *warning* is written into the trace as a note, so it's
seen before the first step and stays with the run.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from swarmtest.engine import EngineInfo
from swarmtest.engine.client import Client
from swarmtest.engine.images import is_here
from swarmtest.engine.labels import ALLOW_LABEL
from swarmtest.errors import UsageError
from swarmtest.faults.drain import Drain
from swarmtest.faults.kill import Kill
from swarmtest.faults.make_room import MakeRoom
from swarmtest.faults.release import Release
from swarmtest.faults.rollback import Rollback
from swarmtest.faults.scale import Scale
from swarmtest.faults.signal import Signal
from swarmtest.faults.unhealthy import LEAST_MONITOR_SECONDS, Unhealthy
from swarmtest.plan import Plan, Step
from swarmtest.running.finding import Finding
from swarmtest.running.order import Order
from swarmtest.stack import Service

DELAY_COUNTS_SINCE = (20, 10, 10)
"""From here on an update watches a task for the larger of monitor and delay (moby/moby #42875, swarmkit #3003)."""

SOON_SECONDS = 4.0
"""From a task's first pass to its *unhealthy*, at most, with the health check of a release that turns bad soon."""

ANNOUNCED_SECONDS = 2.0
"""From the announcement to the stop signal."""


def hazards(client: Client, info: EngineInfo, order: Order) -> list[Finding]:
    """All that's known to go wrong with this plan; the plan is drawn already."""
    plan, subject = order.plan, order.subject
    return [
        *_unreplaced(plan, subject),
        *_delay_over_monitor(info, plan, subject),
        *_no_time_to_fail(plan, subject),
        *_drained(client, info, plan),
        *_too_many(plan, subject),
        *_unreleasable(client, plan),
        *_nothing_to_go_back_to(plan),
        *_not_scalable(plan, subject),
    ]


def _unreplaced(plan: Plan, subject: Service) -> Iterator[Finding]:
    """Instances that end and that the restart policy won't replace."""
    ending = [step for step in plan.steps if step.fault is not None and step.fault.ends]
    hard = [step for step in ending if _kills(step)]
    soft = [step for step in ending if not _kills(step)]
    condition, most = subject.restart_condition, subject.restart_max_attempts
    if condition == "none" and ending:
        yield _restart(f"`condition: none` replaces nothing, so what {_named(ending)} stays away", "condition: any")
    if condition == "on-failure" and soft:
        yield _restart(
            f"`condition: on-failure` doesn't replace an instance that exits with 0, and that's how one ends that"
            f" {_named(soft)} in good order",
            "condition: any",
        )
    again = ending if condition == "any" else hard if condition == "on-failure" else []
    if most is not None and (often := _most_often(again)) > most:
        yield _restart(
            f"`max_attempts: {most}` replaces what ends in a slot {most} times and no more, and the plan ends one"
            f" in a slot {often} times",
            "no max_attempts",
        )


def _restart(text: str, advice: str) -> Finding:
    return Finding("restart policy", "warning", text, f"set `restart_policy` to {advice} if it's to be replaced")


def _kills(step: Step) -> bool:
    fault = step.fault
    return isinstance(fault, Kill) or (isinstance(fault, Signal) and fault.signal == "SIGKILL")


def _named(steps: list[Step]) -> str:
    names = dict.fromkeys(step.fault.name for step in steps if step.fault is not None)
    return " and ".join(f"{name} ends" for name in names)


def _most_often(steps: list[Step]) -> int:
    ranks = Counter(rank for step in steps if step.target is not None for rank in step.target.ranks)
    return max(ranks.values(), default=0)


def _delay_over_monitor(info: EngineInfo, plan: Plan, subject: Service) -> Iterator[Finding]:
    policy = subject.update
    if not plan.replaces or policy.failure_action == "continue":
        return
    if policy.delay_seconds == 0 or policy.delay_seconds < policy.monitor_seconds:
        return
    what = f"delay {policy.delay_seconds:g} s isn't below monitor {policy.monitor_seconds:g} s"
    acts = "rollback" if policy.failure_action == "rollback" else "pause"
    if version_of(info) < DELAY_COUNTS_SINCE:
        text = f"{what}: Docker {info.version} may miss a task that fails, and the {acts} may never happen"
    else:
        text = f"{what}: on this engine a failure is noticed all the same, only slower"
    yield Finding("update_config", "warning", text, "set `monitor` above `delay`")


def version_of(info: EngineInfo) -> tuple[int, ...]:
    """The engine's version in numbers, without what a distribution appends; one that can't be read counts as new."""
    found = re.match(r"(\d+)\.(\d+)(?:\.(\d+))?", info.version)
    return tuple(int(part or 0) for part in found.groups()) if found else (10**6,)


def _no_time_to_fail(plan: Plan, subject: Service) -> Iterator[Finding]:
    """A task that turns unhealthy fails when it has ended: Swarm's 2 s and the task's own shutdown later."""
    if not any(isinstance(step.fault, Unhealthy) and step.fault.way == "soon" for step in plan.steps):
        return
    monitor, needed = subject.update.monitor_seconds, SOON_SECONDS + ANNOUNCED_SECONDS + subject.grace_seconds
    if monitor < LEAST_MONITOR_SECONDS:
        yield Finding(
            "update_config",
            "missing",
            f"a new version can't get healthy and fail again within a monitor of {monitor:g} s",
            f"set `monitor` to {LEAST_MONITOR_SECONDS:g}s or more",
        )
    elif monitor < needed:
        yield Finding(
            "update_config",
            "warning",
            f"a task that turns unhealthy counts as failed only when it has ended, up to {needed:g} s after it got"
            f" healthy (the grace is {subject.grace_seconds:g} s); a monitor of {monitor:g} s may be over by then, and"
            " nothing is rolled back",
            f"set `monitor` to {needed:g}s, or to less if the shutdown is surely quicker than the grace",
        )


def _drained(client: Client, info: EngineInfo, plan: Plan) -> Iterator[Finding]:
    """A drain takes all tasks of a node at once, whosever they are, so it needs other nodes and an opt-in."""
    if not any(isinstance(step.fault, Drain) for step in plan.steps):
        return
    if info.nodes < 2:
        yield Finding(
            "drain",
            "missing",
            "this cluster has one node; if it's drained, no task has a place to go, and all services are down",
            "join a second node, or test what a lost instance does with the scenario kill",
        )
        return
    nodes = client.get("/nodes")
    if not any((node["Spec"].get("Labels") or {}).get(ALLOW_LABEL) == "true" for node in nodes):
        yield Finding(
            "drain",
            "missing",
            f"none of the {len(nodes)} nodes says that it may be drained, which takes all its tasks, others' too",
            f"`docker node update --label-add {ALLOW_LABEL}=true NODE`",
        )


def _too_many(plan: Plan, subject: Service) -> Iterator[Finding]:
    """Steps that a guard rail will forbid."""
    room = subject.replicas
    for step in plan.steps:
        if isinstance(step.fault, MakeRoom):
            room += step.fault.by
        does, count = ("hurts", step.target.count) if step.target is not None else ("takes away", _fewer(step))
        if count > max(0, room - plan.floor):
            yield Finding(
                "plan",
                "warning",
                f"{step.phase} {does} {count} of {room} instance{'s' if room > 1 else ''}, and {plan.floor} must be"
                " left, so it will be skipped, and nothing is proved of it",
                f"give {subject.name} {count + plan.floor} replicas or more"
                if subject.mode == "replicated"
                else f"use a swarm of {count + plan.floor} nodes or more",
            )


def _fewer(step: Step) -> int:
    return max(0, -step.fault.by) if isinstance(step.fault, Scale) else 0


def released_images(plan: Plan) -> list[str]:
    """The images that a plan releases, each once."""
    images = [step.fault.image for step in plan.steps if isinstance(step.fault, Release) and step.fault.image]
    return list(dict.fromkeys(images))


def _unreleasable(client: Client, plan: Plan) -> Iterator[Finding]:
    for image in released_images(plan):
        try:
            here = is_here(client, image)
        except UsageError as error:
            yield Finding("release", "missing", str(error), "correct `x-swarmtest: {release: …}` or --release")
            continue
        if not here:
            yield Finding("release", "warning", f"{image}, which is to be released, isn't here", "it will be pulled")


def _nothing_to_go_back_to(plan: Plan) -> Iterator[Finding]:
    back = next((place for place, step in enumerate(plan.steps) if isinstance(step.fault, Rollback)), None)
    if back is not None and not any(_changes(step) for step in plan.steps[:back]):
        yield Finding(
            "plan",
            "missing",
            "it rolls back before anything was released, and the engine has no previous spec then",
            "put a release before the rollback",
        )


def _changes(step: Step) -> bool:
    return step.fault is not None and (step.fault.replaces or isinstance(step.fault, (MakeRoom, Scale)))


def _not_scalable(plan: Plan, subject: Service) -> Iterator[Finding]:
    if subject.mode == "replicated":
        return
    scaling = [step for step in plan.steps if isinstance(step.fault, (MakeRoom, Scale))]
    if scaling:
        yield Finding(
            "plan",
            "missing",
            f"{subject.name} is {subject.mode}, with one instance on each node, and can't be scaled",
            "choose a scenario that doesn't scale, or a service with `mode: replicated`",
        )
