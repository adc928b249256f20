"""How far what swarmtest did reaches: which lost requests belong to it, and which are the stack's own.

To a fault belongs what ran on the instance that it hurt, and what was sent there before the front door
could notice: within its declared time from the moment at which there was something to notice. That's the
end of an instance that's killed (Swarm announces nothing, and takes it out of DNS when it's gone), the
beginning of a freeze, and the announcement of one that's stopped. What's sent later, the front door loses.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from swarmtest.events import Event
from swarmtest.evidence.promises import SWARM_PAUSE_SECONDS, Promises
from swarmtest.evidence.request import Request
from swarmtest.losses.classify import Loss
from swarmtest.losses.outages import DEATHS, dead_from, spoilt_from
from swarmtest.timeline import Lifespan, Mark, Timeline, Victim
from swarmtest.timeline.acts import began, end_of, healed_at
from swarmtest.timeline.capacity import Spans, ready_at, spans_of
from swarmtest.timeline.endings import BY_SWARMTEST, CRASHED, END_OF_GRACE, ENDED_ITSELF, HEALTH_CHECK
from swarmtest.timeline.endings import STOPPED_BY_SWARMTEST as STOPPED

SLACK_SECONDS = 0.5
"""Beyond the front door's time and the error bars: a request is on its way, a poll isn't to the instant."""

UNDECLARED_SECONDS = SWARM_PAUSE_SECONDS + 5.0
"""Where no detection time is declared, what's sent later than this after the hurt surely isn't the fault's."""

RACE_SECONDS = 0.05
"""Two things this close together may have happened in either order."""

JUST_SECONDS = 0.3
"""A request that ends this little before a SIGKILL was cut by it."""

BACK_SECONDS = 5.0
"""How long a service that depends on another may need, once that is back, until it answers again."""

NOBODY = (Loss.GATEWAY, Loss.REFUSED, Loss.UNSERVED, Loss.UNKNOWN, Loss.TIMED_OUT)
"""Classes of requests of which nobody need know where they went."""

WITHOUT = (Loss.ERROR, Loss.SHED, Loss.GATEWAY, Loss.TIMED_OUT, Loss.UNKNOWN)
"""Classes of answers, or of none, that a missing dependency makes."""

ANSWERED = (Loss.ERROR, Loss.SHED)
"""Those of them that an instance made itself, while it lived."""


@dataclass(frozen=True, slots=True)
class Reach:
    """One act's hurt of one instance, as far as it reaches.

    Attributes:
        name: the act's, or ``grace`` where a grace was made too short on purpose.
        task: the instance's; None for a hurt of all of them.
        began: what had ended before isn't its doing.
        told: when there was something to notice.
        noticed: what was sent later isn't its doing.
        over: what ended later isn't its doing.
        doubt: how much earlier ``told``, and with it ``noticed``, may be, by the error bars.
    """

    name: str
    task: str | None
    began: float
    told: float
    noticed: float
    over: float = float("inf")
    doubt: float = 0.0

    def touches(self, request: Request) -> bool:
        """Whether it was there while the request was, and the front door couldn't know yet."""
        within = self.began - RACE_SECONDS <= request.ended <= self.over
        return within and request.began <= self.noticed

    def doubtful(self, request: Request) -> bool:
        """Whether only the error bars make it the fault's: what was to be noticed may have been there earlier."""
        return request.began > self.noticed - self.doubt

    def unnoticed(self, request: Request) -> bool:
        """Whether the request was sent after the hurt, when only the front door could have kept it away."""
        return request.began > self.told + SLACK_SECONDS


@dataclass(frozen=True, slots=True)
class Faults:
    """All that swarmtest did that may lose requests.

    Attributes:
        spoilt_from: when the first instance of a version that isn't meant to stay went; infinity where none did.
        dead_from: from when on instances died of a missing dependency; infinity where none did.
        notice_seconds: how long the front door may take to find one that's ready.
    """

    reaches: tuple[Reach, ...] = ()
    spans: Spans | None = None
    spoilt_from: float = float("inf")
    dead_from: float = float("inf")
    notice_seconds: float = 0.0

    def of(self, request: Request, loss: Loss, life: Lifespan | None) -> Reach | None:
        """The hurt that a lost request belongs to; None where it belongs to none."""
        nobody_left = life is None and loss in NOBODY and self.spans is not None
        if nobody_left and request.began >= self.spoilt_from and not self._served_at(request.began):
            return Reach("unhealthy", None, self.spoilt_from, self.spoilt_from, float("inf"))
        for reach in self.reaches:
            if not reach.touches(request):
                continue
            if reach.task is None:
                if self._for_want_of_it(request, loss, life):
                    return reach
            elif life.task == reach.task if life is not None else loss in NOBODY:
                return reach
        return None

    def _served_at(self, t: float) -> bool:
        """Whether somebody was ready whom the front door had had the time to find."""
        return all(ready_at(self.spans or [], at) for at in (t, t - self.notice_seconds))

    def _for_want_of_it(self, request: Request, loss: Loss, life: Lifespan | None) -> bool:
        """Whether a missing dependency lost it by itself, and not by the death of instances that didn't survive it."""
        if loss in ANSWERED or loss not in WITHOUT:
            return loss in ANSWERED
        if life is not None:
            return life.cause not in DEATHS
        return request.began < self.dead_from or bool(ready_at(self.spans or [], request.began))


def read_faults(promises: Promises, timeline: Timeline) -> Faults:
    """How far each act of a run reaches."""
    if timeline.t0 is None:
        return Faults()
    lives = {life.task: life for life in timeline.lifespans}
    found = [
        reach
        for victim in timeline.victims
        if victim.outcome != "failed"
        and (life := lives.get(victim.task)) is not None
        and (reach := _of_victim(victim, life, promises)) is not None
    ]
    acts = [act for act in began(timeline.acts) if not act.get("prepares")]
    for act in acts:
        if act.get("name") == "switch_off":
            found.append(_of_dependency(act, timeline, promises))
    bad = [act for act in acts if act.get("name") in ("unhealthy", "crash")]
    if bad:
        found += _of_version(bad[0], timeline, promises)
    if promises.destructive and "stop_grace_period" in promises.deployed_with:
        found += _of_graces(timeline, promises, {reach.task for reach in found})
    off = [act.t for act in acts if act.get("name") == "switch_off"]
    spoilt = spoilt_from(timeline) if bad else float("inf")
    dead = dead_from(timeline, off[0]) if off else float("inf")
    spans = spans_of(timeline.lifespans) if bad or off else None
    return Faults(tuple(found), spans, spoilt, dead, detection_seconds(promises))


def detection_seconds(promises: Promises) -> float:
    """How long the front door may take to notice, by its own word; generous where it has none."""
    within = promises.front_door.within_seconds
    return (UNDECLARED_SECONDS if within is None else within) + SLACK_SECONDS


def _of_victim(victim: Victim, life: Lifespan, promises: Promises) -> Reach | None:
    by = victim.hurt_by if victim.hurt_by is not None else victim.hurt_at
    window = detection_seconds(promises)
    if victim.name == "freeze" and victim.in_stop:
        if life.cause != END_OF_GRACE or _went_on(victim, life):
            return None  # its stop was slow, and no more
        return _reach(victim.name, victim.hurt_at, life, life.mark("announced") or Mark(by, 0.0, "act"), promises)
    if victim.name == "freeze":
        over = float("inf") if victim.healed_at is None else victim.healed_at + window
        return Reach(victim.name, victim.task, victim.hurt_at, by, by + window, over)
    if victim.name == "signal":
        return _of_order(victim, life, promises, by)
    if life.cause == BY_SWARMTEST or (victim.name in ("kill", "crash") and life.cause not in (CRASHED, ENDED_ITSELF)):
        gone, left = life.mark("exited") or Mark(by, 0.0, "act"), life.mark("announced")
        if left is not None and gone.at < left.at <= gone.at + UNDECLARED_SECONDS:
            gone = left
        return _reach(victim.name, victim.hurt_at, life, gone, promises)
    return None


def _reach(name: str, at: float, life: Lifespan, told: Mark, promises: Promises) -> Reach:
    """The reach of a hurt that the front door could notice from a mark on."""
    clock = max((mark.error for name in _ENGINES if (mark := life.mark(name)) is not None), default=0.0)
    error = told.error + (clock if told.source.startswith("DNS") else 0.0)  # its error is that of its polling
    latest = told.at + error
    return Reach(name, life.task, at, latest, latest + detection_seconds(promises), doubt=2 * error)


_ENGINES = ("started", "signalled", "killed", "exited")
"""Marks whose error is that of the engine's clock."""


def _went_on(victim: Victim, life: Lifespan) -> bool:
    """Whether it stood still no more when its grace was over, and so had the rest of it to end by itself."""
    killed = life.mark("killed") or life.mark("exited")
    return killed is not None and victim.healed_at is not None and victim.healed_at < killed.at - killed.error


def _of_order(victim: Victim, life: Lifespan, promises: Promises, by: float) -> Reach | None:
    """An instance that got a signal by hand: its losses are the order's only where losses are meant to be.

    One that's stopped with its own grace may lose nothing, in whatever run: it can drain as in a rollout.
    """
    signalled = life.mark("signalled")
    ended_by_it = signalled is None or signalled.at <= by + 1.0
    if not promises.destructive or life.cause not in (STOPPED, BY_SWARMTEST, END_OF_GRACE) or not ended_by_it:
        return None
    return Reach(victim.name, victim.task, victim.hurt_at, by, by + detection_seconds(promises))


def _of_graces(timeline: Timeline, promises: Promises, done: set[str | None]) -> list[Reach]:
    forced = (life for life in timeline.lifespans if life.cause == END_OF_GRACE and life.task not in done)
    return [reach for life in forced if (reach := _of_grace(life, promises)) is not None]


def _of_grace(life: Lifespan, promises: Promises) -> Reach | None:
    killed = life.mark("killed") or life.mark("exited")
    if killed is None:
        return None
    at = killed.at - killed.error - JUST_SECONDS
    return _reach("grace", at, life, life.mark("announced") or life.mark("signalled") or killed, promises)


def _of_version(act: Event, timeline: Timeline, promises: Promises) -> Iterable[Reach]:
    """Instances of a version that isn't meant to stay, which ended by what's wrong with it."""
    for life in timeline.lifespans:
        first = life.earliest("unhealthy", "announced", "signalled", "exited")
        told = life.mark("announced") or life.mark("signalled") or life.mark("exited")
        if life.generation != "new" or life.cause not in (HEALTH_CHECK, CRASHED, ENDED_ITSELF):
            continue
        if first is not None and told is not None:
            yield _reach(str(act.get("name")), first.at - first.error, life, told, promises)


def _of_dependency(act: Event, timeline: Timeline, promises: Promises) -> Reach:
    """A service that others need, from its switching off until they had time to take it up again."""
    healed = healed_at(timeline.acts, act.get("id"))
    name = str((act.get("settings") or {}).get("service") or "")
    starts = [first for first, _ in timeline.neighbours.get(name, ()) if healed is not None and first >= act.t]
    back = max([healed, *starts]) if healed is not None else float("inf")
    until = back + BACK_SECONDS + detection_seconds(promises)
    end = end_of(timeline.acts, act.get("id"))
    return Reach("switch_off", None, act.t, end.t if end is not None else act.t, until, until)
