"""What became of an update: Swarm's own word about this very one, and which version each instance runs.

A status left over from an earlier update says nothing of this one: Swarm keeps it until the next
begins. So a status counts from the act on, and only where the update that it tells of began with it.
A rollback by itself keeps the time at which the update began; one that a person orders begins anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from swarmtest.events import Event
from swarmtest.timeline.acts import began
from swarmtest.timeline.lifespan import Lifespan, Timeline

STALE_SECONDS = 1.0
"""An update that began this much before ours is another one, whatever the clocks' errors."""

UPDATES = ("update", "release", "rollback", "unhealthy", "crash")
"""Acts that Swarm carries out as an update of the service, with a status of its own."""

TURNED = ("rollback_started", "rollback_completed", "rollback_paused")


class End(StrEnum):
    """How far an update came."""

    COMPLETED = "completed"
    ROLLED_BACK = "rolled back"
    ROLLING_BACK = "rolling back"
    ROLLBACK_PAUSED = "rollback paused"
    PAUSED = "paused"
    UPDATING = "updating"
    UNSEEN = "unseen"


@dataclass(frozen=True, slots=True)
class Course:
    """One update.

    Attributes:
        act: what began it.
        statuses: Swarm's own words about it, in order.
        rollback: the act by which it was rolled back on order before it had come to its end; None where
            nobody ordered that.
    """

    act: Event
    statuses: tuple[Event, ...]
    rollback: Event | None = None

    @property
    def ordered_back(self) -> bool:
        """Whether it is itself a rollback that was ordered, which is no failure of anything."""
        return str(self.act.get("name")) == "rollback"

    @property
    def turn(self) -> Event | None:
        """The first status that tells of a rollback."""
        return next((event for event in self.statuses if event.get("state") in TURNED), None)

    @property
    def turned_at(self) -> float | None:
        """When its rollback began, at the earliest; None where it went on in its own direction."""
        if self.ordered_back or self.turn is None:
            return None
        seen = _epoch(self.turn.get("since")) or self.turn.t
        return seen if self.rollback is None else max(self.rollback.t, self.act.t)

    @property
    def last(self) -> Event | None:
        """The last status that was seen."""
        return self.statuses[-1] if self.statuses else None

    @property
    def end(self) -> End:
        """How far it came; a rollback that was seen counts, whatever came after it."""
        states = [str(event.get("state")) for event in self.statuses]
        if not states:
            return End.UNSEEN
        if self.ordered_back:
            return _ORDERED.get(states[-1], End.UPDATING)
        turned = [state for state in states if state in TURNED]
        return _ENDS.get(turned[-1] if turned else states[-1], End.UPDATING)


_ENDS = {
    "completed": End.COMPLETED,
    "paused": End.PAUSED,
    "updating": End.UPDATING,
    "rollback_started": End.ROLLING_BACK,
    "rollback_completed": End.ROLLED_BACK,
    "rollback_paused": End.ROLLBACK_PAUSED,
}

_ORDERED = {
    "completed": End.COMPLETED,
    "rollback_completed": End.COMPLETED,
    "rollback_paused": End.PAUSED,
    "paused": End.PAUSED,
}


def course_of(timeline: Timeline) -> Course | None:
    """The update that's judged: the first after the beginning; None where none was begun."""
    acts = [act for act in began(timeline.acts) if act.get("name") in UPDATES]
    begun = [act for act in acts if timeline.t0 is not None and act.t >= timeline.t0 and not act.get("prepares")]
    if not begun:
        return None
    return _course(timeline, begun[0], begun[1:])


def course_after(timeline: Timeline, act: Event) -> Course:
    """The update that an act began, whichever of several it is."""
    later = [one for one in began(timeline.acts) if one.get("name") in UPDATES and one.t > act.t]
    return _course(timeline, act, later)


def _course(timeline: Timeline, act: Event, later: Sequence[Event]) -> Course:
    rollback = _rollback_on_order(timeline, later)
    after = [one for one in later if one is not rollback]
    until = min((one.t for one in after), default=float("inf"))
    return Course(act, tuple(own_statuses(timeline.update_status, act.t, until)), rollback)


def _rollback_on_order(timeline: Timeline, later: Sequence[Event]) -> Event | None:
    """The rollback that the guard ordered; one that the plan orders is an update of its own."""
    first = later[0] if later else None
    stopped = timeline.stopped_by_guard is not None
    return first if stopped and first is not None and first.get("name") == "rollback" else None


def own_statuses(statuses: Iterable[Event], began: float, until: float = float("inf")) -> list[Event]:
    """Statuses that belong to an update that began then, in order."""
    own = []
    for event in statuses:
        started = _epoch(event.get("started"))
        mine = (event.t if started is None else started) >= began - STALE_SECONDS
        if event.get("state") and mine and began <= event.t < until:
            own.append(event)
    return own


def left_running(timeline: Timeline) -> tuple[Lifespan, ...]:
    """Instances that ran at the end of the run, and weren't told to stop."""
    return tuple(life for life in timeline.lifespans if runs_on(life))


def runs_on(life: Lifespan) -> bool:
    """Whether it ran at the end of the run, and wasn't on its way out."""
    ended = life.mark("exited") is not None or life.desired_stop is not None
    return not ended and life.state not in ("complete", "shutdown", "failed", "rejected", "orphaned")


def runs_new(life: Lifespan, timeline: Timeline, course: Course) -> bool:
    """Whether an instance runs the version that the update brings.

    What's made after the update began is new, until Swarm turns back: from then on it makes tasks of
    the version of before. Where the specs themselves differ, they decide about those made meanwhile.
    """
    if life.generation != "new":
        return False
    if course.turned_at is None or life.created < course.turned_at:
        return True
    before = {_spec(one) for one in timeline.old}
    return _spec(life) not in before if _told_apart(timeline, course) else False


def _spec(life: Lifespan) -> tuple[str | None, int | None]:
    return life.image, life.force_update


def _told_apart(timeline: Timeline, course: Course) -> bool:
    """Whether image and count of forced updates tell the new version from the old one."""
    before = {_spec(life) for life in timeline.old}
    forward = {_spec(life) for life in timeline.new if life.created < (course.turned_at or float("inf"))}
    return bool(before and forward) and not before & forward


def _epoch(value: object) -> float | None:
    """Epoch seconds of a time that's written as a number or as Docker writes it; None for anything else."""
    if isinstance(value, (int, float)):
        return float(value)
    if not isinstance(value, str) or not value:
        return None
    text = value.replace("Z", "+00:00")
    if "." in text:  # Docker writes nanoseconds
        head, _, rest = text.partition(".")
        digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
        text = f"{head}.{digits[:6]:0<6}{rest[len(digits) :]}"
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return None
