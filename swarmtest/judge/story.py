"""What was done in a run, what became of the update, and how soon the front door let go: for the document."""

from __future__ import annotations

from swarmtest.checks import Judged
from swarmtest.events import Event
from swarmtest.losses.aftermath import empty_slots, images_of, lost_each_way
from swarmtest.losses.letting_go import last_arrivals, measured_seconds, told
from swarmtest.reports import ActEntry, FrontDoorEntry, Hurt, UpdateEntry, VersionEntry
from swarmtest.timeline import Lifespan, Timeline, Victim
from swarmtest.timeline.acts import end_of
from swarmtest.timeline.capacity import SHORT_SECONDS, reached_at, spans_of, wanted_at
from swarmtest.timeline.updates import course_of, left_running, runs_new
from swarmtest.timeline.victims import ENDING


def acts_of(timeline: Timeline) -> list[ActEntry]:
    """All acts but the deploy, in the order in which they were begun or forbidden."""
    found = []
    for act in sorted(timeline.acts, key=lambda act: act.t):
        if act.get("name") != "deploy" and act.get("edge") in ("began", "skipped"):
            found.append(_act(act, timeline))
    return found


def _act(act: Event, timeline: Timeline) -> ActEntry:
    skipped = act.get("edge") == "skipped"
    end = None if skipped else end_of(timeline.acts, act.get("id"))
    outcome = "skipped" if skipped else str(end.get("outcome")) if end is not None else "unknown"
    reason = act.get("reason") if skipped else end.get("error") if end is not None else None
    return ActEntry(
        id=int(act.get("id") or 0),
        name=str(act.get("name")),
        target=str(act.get("target") or ""),
        outcome=outcome,
        began=None if skipped else act.t,
        ended=end.t if end is not None else None,
        instances=_victims(act, timeline),
        settings=dict(act.get("settings") or {}),
        heals=act.get("heals"),
        reason=str(reason) if reason is not None else None,
        prepares=bool(act.get("prepares")),
    )


def _victims(act: Event, timeline: Timeline) -> list[str]:
    """The instances that an act names, as the document calls them."""
    return [victim.task for victim in timeline.victims if victim.act == act.get("id")]


def hurt_of(victim: Victim, life: Lifespan, judged: Judged) -> Hurt:
    """What one act did to one instance, and when capacity was back after its end."""
    exited = life.mark("exited")
    back = None
    if exited is not None and victim.name in ENDING and exited.at >= victim.hurt_at and not victim.in_stop:
        wanted = wanted_at(judged.promises, judged.timeline, exited.at)
        gone = exited.at + exited.error + SHORT_SECONDS  # until then it may still count itself
        back = reached_at(spans_of(judged.timeline.lifespans), wanted, gone)
    return Hurt(victim.act, victim.name, victim.hurt_at, victim.hurt_by, victim.healed_at, victim.outcome, back)


def update_of(judged: Judged) -> UpdateEntry | None:
    """What became of the update that's judged; None where none was begun."""
    timeline, course = judged.timeline, course_of(judged.timeline)
    if course is None:
        return None
    left = left_running(timeline)
    versions = []
    for version, new in (("old", False), ("new", True)):
        lives = [life for life in left if runs_new(life, timeline, course) is new]
        if lives:
            versions.append(VersionEntry(version, [life.task for life in lives], images_of(lives)))
    before, after = lost_each_way(judged.losses, timeline, course)
    turned = course.turned_at is not None
    return UpdateEntry(
        act=str(course.act.get("name")),
        end=course.end.value,
        message=str(course.last.get("message")) if course.last is not None and course.last.get("message") else None,
        left=versions,
        empty_slots=empty_slots(judged.promises, left),
        lost_before=len(before) if turned else None,
        lost_after=len(after) if turned else None,
    )


def front_door_of(judged: Judged) -> FrontDoorEntry:
    """How soon the front door lets go, by its settings and as measured on all that went in order."""
    promises, timeline, door = judged.promises, judged.timeline, judged.promises.front_door
    arrivals = last_arrivals(promises, timeline, judged.losses)
    lives = [life for life in timeline.meant_to_stop if life.task in arrivals and told(life) is not None]
    measured = measured_seconds(promises, timeline, judged.losses, lives)
    return FrontDoorEntry(
        mode=door.mode,
        service=door.service,
        detects=door.detects,
        predicted=door.within_seconds,
        measured=round(measured, 3) if measured is not None else None,
        instances=len(lives),
    )
