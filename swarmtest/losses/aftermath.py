"""What an update leaves behind, in words: which version each instance runs, and what was lost on which way.

Two versions side by side, a slot with nothing in it, tasks that wait for a node: none of it shows in
the number of replicas or in an exit code.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum

from swarmtest.evidence.promises import Promises
from swarmtest.losses import Accounted, Losses
from swarmtest.losses.wording import by_class, few, label, many, number
from swarmtest.timeline import Lifespan, Timeline
from swarmtest.timeline.updates import Course, left_running, runs_new


class Trouble(StrEnum):
    """Why new tasks don't run."""

    IMAGE = "the image can't be pulled"
    PLACE = "no node takes the task"
    HEALTH = "it never got healthy"
    TURNED_BAD = "its health check killed it"
    START = "its container can't be started"
    ENDED = "its process ended"


_SIGNS = {
    Trouble.IMAGE: ("no such image", "pull access denied", "manifest", "toomanyrequests", "unauthorized", "registry"),
    Trouble.PLACE: ("no suitable node", "host-mode port already in use", "insufficient resources", "constraints"),
    Trouble.TURNED_BAD: ("unhealthy",),
    Trouble.START: ("starting container failed", "executable file not found", "oci runtime", "mount"),
    Trouble.ENDED: ("non-zero exit", "task: "),
}
"""Swarm's own words for each, in lower case; the first kind that's found counts."""

REGISTRY = (
    "let each node pull the very same image: --with-registry-auth on each deploy, and the image pinned by its digest"
)

TRAP = (
    "deploying the same file again resumes the update, but overwrites the previous spec with the same new one, so that"
    " a later rollback goes nowhere"
)


def versions_left(judged_by: Promises, timeline: Timeline, course: Course) -> str:
    """Which versions were left running, by instance, and which slots have none."""
    left = left_running(timeline)
    parts = []
    for version, new in (("new", True), ("old", False)):
        lives = [life for life in left if runs_new(life, timeline, course) is new]
        if lives:
            parts.append(f"{number(len(lives))} {version}{_images(lives)}: {few([label(life) for life in lives], 6)}")
    empty = empty_slots(judged_by, left)
    if empty:
        parts.append(f"nothing in {'slot' if len(empty) == 1 else 'slots'} {', '.join(map(str, empty))}")
    return "left running: " + ("; ".join(parts) or "nothing")


def _images(lives: Sequence[Lifespan]) -> str:
    images = images_of(lives)
    return f" ({', '.join(images)})" if images else ""


def images_of(lives: Iterable[Lifespan]) -> list[str]:
    """The images that these instances run."""
    return sorted({life.image for life in lives if life.image})


def empty_slots(promises: Promises, left: Iterable[Lifespan]) -> list[int]:
    """Slots in which nothing was left running; none of a global service, which has no slots."""
    if promises.stack.mode not in (None, "replicated"):
        return []
    taken = {life.slot for life in left}
    return [slot for slot in range(1, promises.replicas + 1) if slot not in taken]


def both_ways(losses: Losses, timeline: Timeline, course: Course) -> str | None:
    """Losses on the way there and on the way back, apart; None where Swarm didn't turn back."""
    if course.turned_at is None:
        return None
    there, back = lost_each_way(losses, timeline, course)
    return f"lost before the rollback began: {_counted(there)}; after: {_counted(back)}"


def lost_each_way(losses: Losses, timeline: Timeline, course: Course) -> tuple[list[Accounted], list[Accounted]]:
    """What was lost from the beginning of the update on, before Swarm turned back and after."""
    turned = course.turned_at if course.turned_at is not None else float("inf")
    lost = [one for one in losses.seen if one.request.ended >= max(timeline.t0 or 0.0, course.act.t)]
    return [one for one in lost if one.request.ended < turned], [one for one in lost if one.request.ended >= turned]


def _counted(lost: Sequence[Accounted]) -> str:
    return f"{number(len(lost))} ({by_class(lost)})" if lost else "0"


def trouble_of(timeline: Timeline, promises: Promises) -> tuple[Trouble | None, str | None]:
    """Why new tasks don't run, and Swarm's own words or the instances that it's seen by."""
    for trouble, signs in _SIGNS.items():
        for said in (*timeline.waiting, *timeline.failed_tasks):
            if any(sign in said.lower() for sign in signs):
                return trouble, said
    cold = [life for life in timeline.new if life.mark("healthy") is None]
    if cold and promises.stack.healthcheck is not None:
        return Trouble.HEALTH, f"{few([label(life) for life in cold])} never healthy"
    return None, None


def mend(trouble: Trouble | None, said: str | None) -> str:
    """What to change so that new tasks run."""
    match trouble:
        case Trouble.IMAGE:
            return REGISTRY
        case Trouble.PLACE:
            return _room(said or "")
        case Trouble.HEALTH | Trouble.TURNED_BAD:
            return (
                "see the health log of a new task (docker inspect, State.Health): its health check fails, so the"
                " release or the check is to be mended before it's rolled out"
            )
        case Trouble.START | Trouble.ENDED:
            return f"mend why the new tasks fail: {said}"
        case _:
            return "see why no new task gets healthy or scheduled: docker service ps --no-trunc, and the health log"


def _room(said: str) -> str:
    if "host-mode port" in said:
        return (
            "set update_config.order: stop-first, or publish in ingress mode: a fixed host port leaves no room for a"
            " second task on its node"
        )
    if "max replicas" in said:
        return "leave room for one more task: raise max_replicas_per_node, add a node, or set order: stop-first"
    return (
        f"leave room for one more task while it's replaced (resources, constraints), or set order: stop-first: {said}"
    )


def tasks_said(timeline: Timeline) -> list[str]:
    """What Swarm said of tasks that failed or wait, as evidence."""
    found = []
    if timeline.failed_tasks:
        found.append("failed tasks: " + "; ".join(timeline.failed_tasks[:3]))
    if timeline.waiting:
        words = f"{many(len(timeline.waiting), 'task')} waiting: " + "; ".join(timeline.waiting[:3])
        found.append(f"{words}; that counts as no failure, so Swarm neither pauses nor rolls back")
    return found
