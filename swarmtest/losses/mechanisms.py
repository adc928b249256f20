"""How a request came to be lost, and the one setting that mends that mechanism.

Losses that look alike have different cures: a longer grace does nothing for an app that never sees
the signal, exits at once, destroys its sockets or keeps its connections alive. So the mechanism is
read from what the instance did between its signal and its end, before any advice is given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from swarmtest.evidence.promises import SWARM_PAUSE_SECONDS, Promises
from swarmtest.losses import Accounted, Charge, Loss
from swarmtest.losses.charge import frozen
from swarmtest.losses.content import only_claimed
from swarmtest.losses.goodbyes import goodbye_of, reloaded_under
from swarmtest.losses.ways import Mechanism
from swarmtest.timeline import Lifespan, Timeline, Witness
from swarmtest.timeline.capacity import last_to_go, ready_at, spans_of, wanted_at
from swarmtest.timeline.endings import (
    BY_OTHERS,
    BY_SWARMTEST,
    CRASHED,
    END_OF_GRACE,
    HEALTH_CHECK,
    OUT_OF_MEMORY,
    STOPPED_BY_OTHERS,
)

__all__ = ["Mechanism", "ending_of", "mechanism_of", "most_telling", "open_at"]

AT_ONCE_SECONDS = 1.0
"""An end this soon after the signal is no drain."""

LONG_SECONDS = 5.0  # a front door that dials an instance this long after its end can't learn of it
_OF_THE_STACK = (Charge.SHUTDOWN, Charge.FRONT_DOOR, Charge.UNPLACED)
JUST_SECONDS = 0.3  # two things this close together are one


def mechanism_of(lost: Accounted, timeline: Timeline, witness: Witness, promises: Promises) -> Mechanism | None:
    """How one request was lost; None where nothing tells."""
    life = lost.life
    if (of_the_protocol := _of_the_protocol(lost, timeline)) is not None:
        return of_the_protocol
    match lost.charge:
        case Charge.FAULT:
            return _of_fault(lost, timeline, witness, promises)
        case Charge.START_UP:
            return Mechanism.COLD_START
        case owed if lost.loss is Loss.SHED or (owed is Charge.UNPLACED and _left_alone(lost, timeline, promises)):
            return Mechanism.OVERLOADED
        case Charge.SHUTDOWN | Charge.FRONT_DOOR:
            pass
        case _:
            return Mechanism.FRONT_DOOR_GIVES_UP if _gave_up(lost) else None
    if life is not None and frozen(life, lost.request, timeline):
        return Mechanism.FROZEN_UNNOTICED
    if lost.trail is not None and lost.trail.seen and life is not None:
        return Mechanism.FRONT_DOOR_GIVES_UP if _gave_up(lost) else _of_running(lost, life, witness)
    return _of_unheard(lost, timeline, witness, promises)


def _of_the_protocol(lost: Accounted, timeline: Timeline) -> Mechanism | None:
    """How it was lost, where the way in which it was sent tells, or a front door that began anew."""
    if lost.loss is Loss.SILENT_LOSS and lost.request.protocol in ("upload", "download"):
        return Mechanism.STORED_LATE if only_claimed(lost.request) else Mechanism.CONTENT_CHANGED
    if lost.charge not in _OF_THE_STACK:
        return None
    return goodbye_of(lost) or (Mechanism.RELOAD_CUTS if reloaded_under(lost, timeline) else None)


def _gave_up(lost: Accounted) -> bool:
    """Whether the front door answered 504 while a handler went on."""
    return lost.proxied is not None and lost.proxied.status == 504 and lost.trail is not None and lost.trail.seen


def ending_of(life: Lifespan, witness: Witness) -> Mechanism | None:
    """How an instance that was asked to stop failed to end well; None where it ended by itself."""
    match life.cause:
        case "out of memory":
            return Mechanism.OUT_OF_MEMORY
        case "health check":
            return Mechanism.HEALTH_KILL
        case "SIGKILL at the end of the grace":
            return _of_kill(life, witness)
        case "killed by swarmtest":
            return Mechanism.ON_PURPOSE
        case "killed by somebody else":
            return Mechanism.KILLED
        case "crashed by itself":
            return Mechanism.CRASHED
        case _:
            return None


def _of_running(lost: Accounted, life: Lifespan, witness: Witness) -> Mechanism | None:
    """How a request that had started was lost."""
    signalled, exited = life.at("signalled"), life.at("exited")
    end = life.at("killed") or exited
    lost_at = lost.request.ended
    if signalled is not None and (end is None or lost_at < end - JUST_SECONDS):
        if lost_at < signalled - JUST_SECONDS:
            return Mechanism.FRONT_DOOR_CUTS
        closed = life.at("closed")
        asked = max(signalled, closed) if closed is not None and closed <= lost_at + JUST_SECONDS else signalled
        return Mechanism.SOCKETS_DESTROYED if lost_at - asked < AT_ONCE_SECONDS else Mechanism.OWN_LIMIT
    if life.cause in (END_OF_GRACE, OUT_OF_MEMORY, HEALTH_CHECK, BY_SWARMTEST, BY_OTHERS, CRASHED):
        return ending_of(life, witness)
    if exited is None or signalled is None:
        return None
    return Mechanism.DRAIN_MISSING if exited - signalled < AT_ONCE_SECONDS else Mechanism.OWN_LIMIT


_UNANNOUNCED = {
    BY_SWARMTEST: Mechanism.DETECTION,
    BY_OTHERS: Mechanism.KILLED,
    CRASHED: Mechanism.CRASHED,
    OUT_OF_MEMORY: Mechanism.OUT_OF_MEMORY,
    HEALTH_CHECK: Mechanism.HEALTH_KILL,
}
"""Ends that Swarm learns of afterwards, and how what's sent there is lost until the front door can know."""

_LAST_ENDS = {
    BY_OTHERS: Mechanism.KILLED,
    STOPPED_BY_OTHERS: Mechanism.STOPPED,
    OUT_OF_MEMORY: Mechanism.OUT_OF_MEMORY,
    HEALTH_CHECK: Mechanism.HEALTH_KILL,
}
"""Ends of the last instance that served, of which no order of updates and no health check could have kept it."""


def _of_unheard(lost: Accounted, timeline: Timeline, witness: Witness, promises: Promises) -> Mechanism:
    """How a request that no handler saw was lost, on the way to an instance that was going, or to nobody."""
    life, t, kept = lost.life, lost.request.began, lost.request.reused and promises.direct
    if _outlasts(lost, promises):
        return Mechanism.FRONT_DOOR_STALE
    turned_away = life is None and lost.proxied is not None and lost.proxied.server is None
    if turned_away or not ready_at(spans_of(timeline.lifespans), t):
        last = last_to_go(timeline.lifespans, t)
        return _LAST_ENDS.get(last.cause or "", Mechanism.NO_INSTANCE) if last is not None else Mechanism.NO_INSTANCE
    if life is None:
        return _of_nobody(lost, timeline, promises)
    if life.cause in _UNANNOUNCED:
        return _UNANNOUNCED[life.cause]
    connected = lost.proxied.connected if lost.proxied is not None else lost.loss is not Loss.REFUSED
    if kept and life.cause == END_OF_GRACE:
        return _of_kill(life, witness)  # on its way at that very instant
    closed = life.at("closed") or life.at("exited")
    if connected and lost.loss in (Loss.UNSERVED, Loss.GATEWAY) and (closed is None or t < closed):
        return Mechanism.NOBODY_ACCEPTING
    return Mechanism.CLOSED_TOO_EARLY


def _outlasts(lost: Accounted, promises: Promises) -> bool:
    """Whether an address was still dialled when the front door should have let go long ago.

    Then it's no use to keep accepting for its detection time. One that resolves only once dials for
    ever; where no detection time is declared, some seconds beyond Swarm's own pause tell it.
    """
    announced = lost.life.mark("announced") if lost.life is not None else None
    if announced is None and lost.life is not None and lost.life.cause in _UNANNOUNCED:
        announced = lost.life.mark("exited")
    if announced is None or promises.direct:
        return False
    within = promises.front_door.within_seconds
    allowed = SWARM_PAUSE_SECONDS + LONG_SECONDS if within is None else within + announced.error
    return lost.request.began > announced.at + allowed


def _of_nobody(lost: Accounted, timeline: Timeline, promises: Promises) -> Mechanism:
    """How a request was lost that is known to have reached nobody in particular."""
    if promises.front_door.mode == "mesh" and not lost.request.reused and _over(lost, timeline, AT_ONCE_SECONDS):
        return Mechanism.INGRESS_BROKEN
    if lost.loss is Loss.UNSERVED and lost.request.ended - lost.request.began > AT_ONCE_SECONDS:
        return Mechanism.NOBODY_ACCEPTING  # it waited in the accept queue
    return Mechanism.FRONT_DOOR_STALE if _over(lost, timeline, LONG_SECONDS) else Mechanism.CLOSED_TOO_EARLY


def _over(lost: Accounted, timeline: Timeline, seconds: float) -> bool:
    """Whether it was sent that much after the last instance had gone."""
    exits = [mark.at for life in timeline.stops if (mark := life.mark("exited")) is not None]
    return bool(exits) and lost.request.began > max(exits) + seconds


def _of_fault(lost: Accounted, timeline: Timeline, witness: Witness, promises: Promises) -> Mechanism | None:
    """How a fault lost it: what ran there goes with the instance, what comes after isn't noticed in time."""
    life, fault = lost.life, lost.fault
    heard = lost.trail is not None and lost.trail.seen
    match fault.name if fault is not None else None:
        case "switch_off":
            return Mechanism.DEPENDENCY_OFF
        case "freeze":
            return Mechanism.FROZEN
        case "unhealthy" | "crash":
            return Mechanism.HEALTH_KILL if life is not None else Mechanism.NO_INSTANCE
        case "kill":
            return Mechanism.ON_PURPOSE if heard else Mechanism.DETECTION
        case _ if heard and life is not None:
            return _of_running(lost, life, witness)
        case _ if life is None and not ready_at(spans_of(timeline.lifespans), lost.request.began):
            return Mechanism.NO_INSTANCE
        case _ if promises.destructive:
            return Mechanism.DETECTION
        case _:
            return None


def _left_alone(lost: Accounted, timeline: Timeline, promises: Promises) -> bool:
    """Whether those that weren't hurt turned it away, or were too slow, while there were fewer than there should be."""
    t, life = lost.request.began, lost.life
    if lost.loss not in (Loss.TIMED_OUT, Loss.ERROR) or not timeline.victims:
        return False
    if life is not None and any(victim.hurt_at <= t for victim in timeline.hurts(life)):
        return False
    return ready_at(spans_of(timeline.lifespans), t) < wanted_at(promises, timeline, t)


def _of_kill(life: Lifespan, witness: Witness) -> Mechanism:
    """Why the grace ran out: of the causes a longer grace mends only one."""
    stream = witness.streams.get(life.container or "")
    lines = stream.lifecycle if stream is not None else {}
    closed, last_new, killed = life.at("closed"), life.at("last_new"), life.at("killed")
    if closed is None and not any(name in lines for name in ("signal", "unready", "drained")):
        # It would have said so, had it heard of it; or it took new work to the very end.
        ignored = bool(lines) or (last_new is not None and killed is not None and killed - last_new < AT_ONCE_SECONDS)
        return Mechanism.SIGNAL_IGNORED if ignored else Mechanism.SIGNAL_OR_GRACE
    if closed is not None and last_new is not None and last_new > closed + AT_ONCE_SECONDS:
        return Mechanism.KEEP_ALIVE
    idle = killed is not None and not open_at(life, killed, witness)
    if idle and life.container in witness.held:
        return Mechanism.STREAMS_HELD
    if idle and stream is not None and stream.finishes:
        return Mechanism.HANGS
    return Mechanism.GRACE_TOO_SHORT


def open_at(life: Lifespan, t: float, witness: Witness) -> list[str]:
    """IDs of requests that ran on an instance at a time, by its own records."""
    return sorted(
        name
        for name, trail in witness.trails.items()
        if any(step.container == life.container and step.t <= t for step in trail.start)
        and not any(step.container == life.container and step.t <= t for step in trail.finish)
    )


def most_telling(
    lost: Iterable[Accounted], timeline: Timeline, witness: Witness, promises: Promises
) -> list[tuple[Mechanism, int]]:
    """Mechanisms of lost requests with their counts, the one that lost most first."""
    counted = Counter(found for one in lost if (found := mechanism_of(one, timeline, witness, promises)) is not None)
    return sorted(counted.items(), key=lambda item: (-item[1], item[0].value))
