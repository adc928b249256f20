"""What a lost request belongs to: a fault, a stop, a start, the front door, or nothing that was done.

A loss from a cold new instance isn't the shutdown's, and one with no lifecycle event nearby would
have happened without a rollout; to mix them up would send people to mend the wrong thing.
"""

from __future__ import annotations

from enum import StrEnum

from swarmtest.evidence.request import Request
from swarmtest.losses.classify import Loss
from swarmtest.losses.content import only_claimed
from swarmtest.timeline import Lifespan, Timeline
from swarmtest.timeline.endings import AS_ASKED, END_OF_GRACE, STOPPED_BY_OTHERS, STOPPED_BY_SWARMTEST

WARM_UP_SECONDS = 2.0
"""How long after it's ready an instance may still be called new."""

COLD_SECONDS = 30.0
"""The same where neither health nor warm-up of the instance was seen."""

NEARBY_SECONDS = 5.0
"""A lifecycle event this close to a loss is near it."""

FRONT_DOOR = (Loss.GATEWAY, Loss.REFUSED, Loss.UNSERVED, Loss.UNKNOWN, Loss.UNEXPECTED)
"""Classes that a front door can cause by itself."""


class Charge(StrEnum):
    """What a loss belongs to."""

    SHUTDOWN = "shutdown"
    START_UP = "start_up"
    FRONT_DOOR = "front_door"
    FAULT = "fault"
    BACKGROUND = "background"
    UNPLACED = "unplaced"


def charge(request: Request, loss: Loss, life: Lifespan | None, timeline: Timeline, mode: str | None = None) -> Charge:
    """What a lost request belongs to that belongs to no fault.

    Arguments:
        life: where it ran, or what was dialled with it; None where nobody knows.
        mode: of the front door; the routing mesh lets a connection time out that it can't make.
    """
    t0 = timeline.t0
    if t0 is not None and request.ended < t0:
        return Charge.BACKGROUND
    if life is not None:
        if loss is Loss.SILENT_LOSS and only_claimed(request) and life.stopping is not None:
            return Charge.SHUTDOWN  # it was lost when the instance ended without having stored it
        if life.generation == "new" and cold(life, request) and not _of_a_ready_one(life, request, loss):
            return Charge.START_UP
        if (_gone(life, request) and loss in FRONT_DOOR) or frozen(life, request, timeline):
            return Charge.FRONT_DOOR
        if _stopping(life, request):
            return Charge.SHUTDOWN
    elif t0 is not None and request.ended >= t0 and _reached_nobody(loss, mode) and _any_stopping(timeline, request):
        return Charge.FRONT_DOOR
    if reloading(request, timeline) and loss in (*FRONT_DOOR, Loss.CUT, Loss.CUT_FINISHED):
        return Charge.FRONT_DOOR
    return Charge.UNPLACED if t0 is not None and _nearby(timeline, request) else Charge.BACKGROUND


def broken_off(request: Request, loss: Loss, timeline: Timeline) -> bool:
    """Whether it was lost to the end of a run that was broken off: the stack was removed while it ran."""
    if loss is Loss.OK or timeline.outcome == "finished":
        return False
    return loss is Loss.UNRESOLVED or (timeline.ended is not None and request.ended >= timeline.ended)


def reloading(request: Request, timeline: Timeline) -> bool:
    """Whether it ended after the front door was told to begin anew, while none of the old process need be left."""
    reloads = (act.t for act in timeline.acts if act.get("name") == "reload" and act.get("edge") == "began")
    return any(t - 0.05 <= request.ended for t in reloads)


def cold(life: Lifespan, request: Request) -> bool:
    """Whether the instance was new, and not ready or only just, when it had the request."""
    if (stopping := life.stopping) is not None and stopping.at <= request.began:
        return False
    ready = life.ready_from
    if ready is not None and life.mark("warm") is not None:
        return request.began <= ready.at + ready.error + WARM_UP_SECONDS
    return request.began <= (life.at("started") or life.created) + COLD_SECONDS


def _of_a_ready_one(life: Lifespan, request: Request, loss: Loss) -> bool:
    """Whether a new instance that was ready lost it as any other would: by its own stop, or for want of room."""
    return _cut_in_its_stop(life, request, loss) or (loss is Loss.SHED and _warm(life, request))


def _cut_in_its_stop(life: Lifespan, request: Request, loss: Loss) -> bool:
    """Whether a new instance lost it by being stopped: it was ready, ran the request, and was asked to go."""
    ready = life.ready_from
    if ready is None or request.began < ready.at - ready.error or life.cause not in ASKED:
        return False
    return loss in (Loss.CUT, Loss.CUT_FINISHED) and _stopping(life, request)


ASKED = (AS_ASKED, END_OF_GRACE, STOPPED_BY_OTHERS, STOPPED_BY_SWARMTEST)
"""Ends of one that was asked to stop."""


def _warm(life: Lifespan, request: Request) -> bool:
    """Whether it had said that it's warm."""
    warm = life.at("warm")
    return warm is not None and warm <= request.began


def _reached_nobody(loss: Loss, mode: str | None) -> bool:
    return loss in FRONT_DOOR or (mode == "mesh" and loss is Loss.TIMED_OUT)


def frozen(life: Lifespan, request: Request, timeline: Timeline) -> bool:
    """Whether it was sent to an instance that stood still by a fault, and wasn't on its way out."""
    return any(
        victim.name == "freeze"
        and not victim.in_stop
        and victim.hurt_at <= request.began
        and (victim.healed_at is None or request.began <= victim.healed_at)
        for victim in timeline.hurts(life)
    )


def _gone(life: Lifespan, request: Request) -> bool:
    exited = life.mark("exited")
    return exited is not None and request.began > exited.at + exited.error


def _stopping(life: Lifespan, request: Request) -> bool:
    stopping = life.stopping
    return stopping is not None and request.ended >= stopping.at - stopping.error - 0.05


def _any_stopping(timeline: Timeline, request: Request) -> bool:
    return any(_stopping(life, request) for life in timeline.lifespans)


def _nearby(timeline: Timeline, request: Request) -> bool:
    times = [mark.at for life in timeline.lifespans for name, mark in life.marks.items() if name in _LIFECYCLE]
    times += [act.t for act in timeline.acts if act.get("name") != "deploy"]
    return any(request.began - NEARBY_SECONDS <= t <= request.ended + NEARBY_SECONDS for t in times)


_LIFECYCLE = ("started", "healthy", "warm", "announced", "unready", "signalled", "closed", "killed", "exited")
