"""Carries out the steps of a plan under traffic, and waits until each has come to its end."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from swarmtest.engine.diagnosis import why_not_up
from swarmtest.errors import TrafficError
from swarmtest.faults import Aim
from swarmtest.plan import Step
from swarmtest.running import Run, act, list_targets, up
from swarmtest.running.order import Order
from swarmtest.traffic.process import TrafficProcess

TARGETS_SECONDS = 0.05


def hold(work: Run, traffic: TrafficProcess, seconds: float) -> None:
    """Lets time pass under traffic; notices a dead child and a lost engine."""
    until(work, traffic, lambda: False, time.monotonic() + seconds)


def until(work: Run, traffic: TrafficProcess, done: Callable[[], bool], deadline: float) -> bool:
    """Waits for a condition or a deadline, whichever is first; says whether it was the condition."""
    while time.monotonic() < deadline:
        if done():
            return True
        if traffic.exit_code is not None:
            raise TrafficError(
                f"the traffic child ended in mid-run (exit code {traffic.exit_code});"
                f" see {work.folder.path / 'traffic.log'}"
            )
        if work.order.brief.front_door.mode == "direct":
            list_targets(work)
        else:
            work.watch.tasks()
        time.sleep(TARGETS_SECONDS)
    return done()


def take_step(work: Run, traffic: TrafficProcess, step: Step) -> None:
    """Does what a step says, and waits until it\'s over: for its time, or until the deployment is steady."""
    order = work.order
    if step.fault is None:
        hold(work, traffic, step.seconds(order.brief.baseline_seconds))
        return
    subject = order.subject
    old = {task.container for task in work.watch.tasks() if task.service == subject.name and task.container and task.up}
    work.acts += 1
    number, began = work.acts, time.time() + work.info.offset_seconds  # by the engine's clock
    fields: dict[str, Any] = {
        "id": number,
        "name": step.fault.name,
        "target": subject.name,
        "settings": step.fault.settings(),
    }
    with ExitStack():
        with act(work.trace, **fields):
            step.fault.hurt(work.deployment, Aim(subject.name))
        if step.hold_seconds is not None:
            hold(work, traffic, step.hold_seconds)
        elif not until(work, traffic, lambda: _steady(work, old, began), time.monotonic() + _patience(order)):
            work.trace.add("note", text=_still_going(work, old))


def _steady(work: Run, old: set[str], began: float) -> bool:
    """The update has come to an end of its own, the old containers have exited, all tasks are up.

    A paused one doesn't go on by itself, and may well leave fewer tasks up than there should be.
    """
    status, tasks, subject = work.watch.status(), work.watch.tasks(), work.order.subject
    if status.state in (None, "updating", "rollback_started") or (status.started or 0.0) < began - 2.0:
        return False
    kept = {task.container for task in tasks if task.service == subject.name and task.up}
    gone = all(work.watch.has_exited(container) or container in kept for container in old)
    return gone and (status.state in _PAUSED or up(tasks, subject.name) >= subject.replicas)


_PAUSED = ("paused", "rollback_paused")


def _patience(order: Order) -> float:
    """How long a rollout may take before it counts as stuck: the sum of all that the file allows for, and half more."""
    subject = order.subject
    policy = subject.update
    health = subject.health
    start = 15.0 + (health.start_period_seconds + health.interval_seconds * (health.retries + 1) if health else 0.0)
    batches = -(-subject.replicas // max(1, policy.parallelism or subject.replicas))
    each = start + min(subject.grace_seconds, 600.0) + 2.0 + policy.delay_seconds + policy.monitor_seconds
    return 30.0 + 1.5 * batches * each


def _still_going(work: Run, old: set[str]) -> str:
    status, subject = work.watch.status(), work.order.subject
    lives = [container[:12] for container in old if not work.watch.has_exited(container)]
    return (
        f"the rollout hadn't ended after {_patience(work.order):.0f} s: update status {status.state}"
        f" ({status.message}), old containers still there: {', '.join(lives) or 'none'};"
        f" {why_not_up(work.client, subject.name, work.watch.tasks())}"
    )
