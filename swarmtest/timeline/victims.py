"""Whom swarmtest hurt, and whose stop is judged.

An instance that was killed, that crashed or froze says nothing of how the stack stops its instances;
one that was asked to stop does, whoever asked. Where a plan replaces every instance, all old ones are
meant to go; elsewhere only those that were asked to, and the others are no finding.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from swarmtest.events import Event
from swarmtest.evidence.promises import Promises
from swarmtest.timeline.acts import NOT_JUDGED, began, end_of, healed_at, skipped
from swarmtest.timeline.endings import AS_ASKED, END_OF_GRACE, STOPPED_BY_OTHERS, STOPPED_BY_SWARMTEST
from swarmtest.timeline.lifespan import Lifespan, Mark, Timeline, Victim

ASKED = (AS_ASKED, END_OF_GRACE, STOPPED_BY_OTHERS, STOPPED_BY_SWARMTEST, None)
"""Ends of one that was asked to stop; None while it's still stopping."""

ENDING = ("kill", "stop")
"""Acts after which each instance that they name is to be gone."""


def read_victims(acts: Sequence[Event], lives: Iterable[Lifespan], until: float) -> tuple[Victim, ...]:
    """A value for each act and each instance that it names, in the order of time."""
    by_task = {life.task: life for life in lives}
    by_container = {life.container: life for life in by_task.values() if life.container}
    found = []
    for act in began(acts, until):
        if act.get("name") in NOT_JUDGED:
            continue
        end, number = end_of(acts, act.get("id")), act.get("id")
        for named in act.get("instances") or ():
            life = by_task.get(named.get("task")) or by_container.get(named.get("container"))
            found.append(
                Victim(
                    act=int(number or 0),
                    name=str(act.get("name")),
                    task=life.task if life is not None else str(named.get("task") or named.get("container")),
                    container=named.get("container"),
                    slot=named.get("slot"),
                    hurt_at=act.t,
                    hurt_by=end.t if end is not None else None,
                    lasting=bool(act.get("lasting")),
                    healed_at=healed_at(acts, number),
                    outcome=end.get("outcome") if end is not None else None,
                    in_stop=life is not None and _stopping(life, act.t),
                )
            )
    return tuple(sorted(found, key=lambda one: (one.hurt_at, one.act, one.task)))


def took_effect(act: Event, timeline: Timeline) -> bool:
    """Whether an act was carried out; of one that ends instances, whether any of them ended after it."""
    end = end_of(timeline.acts, act.get("id"))
    done = end is not None and end.get("outcome") == "ok"
    if act.get("name") not in ENDING or not act.get("instances"):
        return done
    hurt = {victim.task for victim in timeline.victims if victim.act == act.get("id")}
    exits = [mark for life in timeline.lifespans if life.task in hurt and (mark := life.mark("exited")) is not None]
    return any(mark.at + mark.error >= act.t for mark in exits)


def to_stop(
    promises: Promises, lives: Sequence[Lifespan], acts: Sequence[Event], victims: Sequence[Victim], last_sent: float
) -> frozenset[str]:
    """Tasks of the instances whose stop is judged.

    Arguments:
        last_sent: when the last request was sent; a stop that began later was under no traffic.
    """
    taken = {victim.task for victim in victims if not victim.orderly and victim.outcome != "failed"}
    able = [life for life in lives if life.task not in taken]
    old = [life for life in able if life.generation == "old"]
    all_old = _goes_through(promises, acts)
    more = able if not all_old else able if len(promises.judged_steps) > 1 else []
    asked = [life for life in more if life.generation != "only" and _was_asked(life, last_sent)]
    return frozenset(life.task for life in (*(old if all_old else ()), *asked))


def _goes_through(promises: Promises, acts: Sequence[Event]) -> bool:
    """Whether the plan replaces every instance, and no guard forbade that or took it back."""
    planned = [step.fault for step in promises.judged_steps if step.replaces_all]
    taken_back = any(act.get("name") == "rollback" for act in began(acts)) and "rollback" not in planned
    if not promises.replaces_for_good or taken_back:
        return False
    forbidden = [act.get("name") for act in skipped(acts)]
    return any(planned.count(name) > forbidden.count(name) for name in planned)


def _was_asked(life: Lifespan, last_sent: float) -> bool:
    """Whether it was told to stop before it exited, while there was traffic."""
    told, exited = _told(life), life.mark("exited")
    if told is None or told.at > last_sent or life.cause not in ASKED:
        return False
    return exited is None or told.at <= exited.at


def _stopping(life: Lifespan, t: float) -> bool:
    """Whether it was surely on its way out at a time; what's polled happened before it was seen, never after."""
    told = _told(life)
    return told is not None and told.at <= t


def _told(life: Lifespan) -> Mark | None:
    """When it was told to stop, or was to be: by Swarm's decision, by DNS, by its signal."""
    told = [mark for mark in (life.mark("announced"), life.desired_stop, life.mark("signalled")) if mark is not None]
    return min(told, key=lambda mark: mark.at, default=None)
