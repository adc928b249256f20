"""Whom a step hurts: from ranks to instances, within the guard rails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from swarmtest.engine import TaskView
from swarmtest.faults import Aim
from swarmtest.plan import Target


@dataclass(frozen=True, slots=True)
class Rails:
    """What keeps a run from hurting too much.

    Attributes:
        floor: so many instances must be left.
        most: so many may be hurt in a run.
        hurt: so many were, so far.
        node: the node that we talk to; containers elsewhere can't be reached from it.
    """

    floor: int = 1
    most: int = 50
    hurt: int = 0
    node: str = ""


def choose(target: Target | None, service: str, tasks: Sequence[TaskView], rails: Rails, fewer: int = 0) -> Aim | str:
    """The instances of a target, or why none may be hurt.

    Arguments:
        tasks: as they are now; those that run and are wanted count, in the order of their slots.
        fewer: so many go, of the service as a whole; which ones is Swarm's choice.
    """
    running = sorted((task for task in tasks if task.service == service and task.up and task.container), key=_place)
    if target is None:
        if fewer > 0 and len(running) - fewer < rails.floor:
            return f"{len(running)} of {service} run; {rails.floor} must be left, so it can't be {fewer} fewer"
        return Aim(service)
    if not running:
        return f"no instance of {service} runs"
    ranks = sorted({rank % len(running) for rank in target.ranks})
    chosen = tuple(running[rank] for rank in ranks)
    if len(chosen) < target.count:
        return f"{target.count} instances were to be hurt, and only {len(running)} run"
    if len(running) - len(chosen) < rails.floor:
        return f"{len(running)} of {service} run; {rails.floor} must be left, so {len(chosen)} can't be hurt"
    if rails.hurt + len(chosen) > rails.most:
        return f"{rails.hurt} instances were hurt already, and {rails.most} is the limit"
    away = [task for task in chosen if rails.node not in ("", task.node)]
    if away:
        return f"{service}.{away[0].slot} is on node {away[0].node}, which can't be reached from the engine we talk to"
    return Aim(service, chosen)


def _place(task: TaskView) -> tuple[int, float, str]:
    return (task.slot or 0, task.created, task.id)
