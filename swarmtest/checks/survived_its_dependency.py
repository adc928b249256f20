"""No instance was ended by its health check, or by itself, while a service that it depends on was off.

Swarm has one probe, and it kills: a health check that asks a shared dependency turns a short blip into
the death of all replicas at once, and a new one can't get healthy before the blip is over (moby/moby
#26664). The dependency must have been off for as long as the check needs to notice.
"""

from __future__ import annotations

from dataclasses import dataclass

from swarmtest.checks import Findings, Judged, Verdict
from swarmtest.events import Event
from swarmtest.evidence.promises import Promises
from swarmtest.losses import missing
from swarmtest.losses.wording import by_class, each, label, many, number
from swarmtest.timeline import Lifespan, Mark
from swarmtest.timeline.acts import began, end_of, healed_at
from swarmtest.timeline.endings import CRASHED, ENDED_ITSELF, HEALTH_CHECK, OUT_OF_MEMORY
from swarmtest.timeline.neighbours import off_between

BY_ITSELF = (CRASHED, ENDED_ITSELF, OUT_OF_MEMORY)
LIVENESS = (
    "let the healthcheck only ask whether the process lives (liveness touches no dependency), and tell the front door"
    " by a readiness of its own (/readyz), which kills nobody"
)
CARRY_ON = "let the app carry on without its dependency, and answer what needs it with 503, rather than end"


@dataclass(frozen=True, slots=True)
class _Off:
    """The time in which the dependency was off."""

    dependency: str
    began: float
    ended: float

    @property
    def seconds(self) -> float:
        return self.ended - self.began


def check(judged: Judged) -> Verdict:
    """Judges who ended while the dependency was off, and as long after as a health check may need."""
    findings = Findings()
    acts = [act for act in began(judged.timeline.acts) if act.get("name") == "switch_off" and not act.get("prepares")]
    times = [off for act in acts if (off := _off(act, judged, findings)) is not None]
    if not times:
        return findings.verdict("", "", "No dependency was seen to be off.", _unseen(acts))
    dead: list[Lifespan] = []
    for off in times:
        dead += _judge(off, judged, findings)
    names = " and ".join(dict.fromkeys(off.dependency for off in times))
    there = len({life.task for off in times for life in _there(off, judged)})
    longest = max(off.seconds for off in times)
    return findings.verdict(
        f"{each(there, 'instance')} survived {longest:.1f} s without {names}.",
        _failure(dead, there, names),
        f"It isn't proved that each instance survives without {names}.",
        _advice(dead) if findings.failed else _longer(judged.promises, longest),
    )


def _off(act: Event, judged: Judged, findings: Findings) -> _Off | None:
    """From when until when the dependency had no container; None where that wasn't seen."""
    timeline, settings = judged.timeline, act.get("settings") or {}
    name = str(settings.get("service") or act.get("target"))
    end = end_of(timeline.acts, act.get("id"))
    if end is None or end.get("outcome") != "ok":
        findings.unproved.append(f"switching {name} off {end.get('outcome') if end is not None else 'never ended'}")
        return None
    last = timeline.ended if timeline.ended is not None else act.t
    spans = timeline.neighbours.get(name, ())
    gap = off_between(spans, act.t, last) if spans else None
    if gap is None:
        what = "was never without a container" if spans else "had no container that was seen"
        findings.unproved.append(f"{name} {what}")
        return None
    healed = healed_at(timeline.acts, act.get("id"))
    return _Off(name, gap[0], gap[1] if gap[1] is not None else max(last, healed or last))


def _judge(off: _Off, judged: Judged, findings: Findings) -> list[Lifespan]:
    """Adds what became of each instance that was there, and hands back those that died of it."""
    promises, timeline = judged.promises, judged.timeline
    there = _there(off, judged)
    dead = [life for life in there if life.cause in (HEALTH_CHECK, *BY_ITSELF) and _within(life, off, promises)]
    for life in there:
        end = _end(life)
        if life in dead and end is not None:
            after = f"{end.at - off.began:.1f} s after {off.dependency} was off"
            findings.failed.append(f"{label(life)}: {life.cause}, {after}")
        elif end is None or not _within(life, off, promises):
            findings.good.append(f"{label(life)}: ran on")
        else:
            findings.unproved.append(f"{label(life)}: ended, {life.cause or 'and nobody saw why'}")
    needed = _shortest(promises)
    if needed is not None and off.seconds < needed and not dead:
        findings.unproved.append(
            f"{off.dependency} was off for {off.seconds:.1f} s, and the health check needs {needed:g} s to notice"
        )
    if not there or timeline.broken:
        findings.unproved.append(timeline.broken[0] if timeline.broken else "no instance was there to survive it")
    findings.good += _lost(off, judged)
    return dead


def _there(off: _Off, judged: Judged) -> list[Lifespan]:
    """Instances that were there when it went off."""
    found = []
    for life in judged.timeline.lifespans:
        going = life.earliest("announced", "signalled", "killed", "exited")
        if life.created < off.began and (going is None or going.at > off.began):
            found.append(life)
    return found


def _end(life: Lifespan) -> Mark | None:
    return life.earliest("signalled", "killed", "exited")


def _within(life: Lifespan, off: _Off, promises: Promises) -> bool:
    """Whether it ended while the dependency was off, or as long after as a check that had failed may need."""
    end = _end(life)
    return end is not None and off.began <= end.at <= off.ended + (_longest(promises) or 0.0) + 1.0


def _check_settings(promises: Promises) -> tuple[float, float, float] | None:
    """Retries, interval and time-out; None without a health check. Docker takes 0 for its defaults."""
    check = promises.stack.healthcheck
    if check is None:
        return None
    defaults = (("retries", 3.0), ("interval_seconds", 30.0), ("timeout_seconds", 30.0))
    retries, interval, timeout = (float(check.get(name) or default) for name, default in defaults)
    return retries, interval, timeout


def _shortest(promises: Promises) -> float | None:
    """Until a check that fails at once has failed often enough; None without one."""
    found = _check_settings(promises)
    return None if found is None else found[0] * found[1]


def _longest(promises: Promises) -> float | None:
    """The same for a check that fails by its time-out."""
    found = _check_settings(promises)
    return None if found is None else found[0] * (found[1] + found[2])


def _lost(off: _Off, judged: Judged) -> list[str]:
    lost = [one for one in judged.losses.seen if off.began <= one.request.ended and one.request.began <= off.ended]
    return [f"{many(len(lost), 'request')} lost while {off.dependency} was off: {by_class(lost)}"] if lost else []


def _failure(dead: list[Lifespan], there: int, names: str) -> str:
    by_health = [life for life in dead if life.cause == HEALTH_CHECK]
    ends = [end.at for life in by_health if (end := _end(life)) is not None]
    if len(by_health) > 1:
        return (
            f"Correlated health failure: {number(len(by_health))} of {many(there, 'instance')} were killed by their"
            f" health check within {max(ends) - min(ends):.1f} s of each other while {names} was off;"
            " the probe amplifies the outage."
        )
    if by_health:
        return f"1 of {many(there, 'instance')} was killed by its health check while {names} was off."
    return f"{number(len(dead))} of {many(there, 'instance')} ended by themselves while {names} was off."


def _advice(dead: list[Lifespan]) -> str:
    return LIVENESS if any(life.cause == HEALTH_CHECK for life in dead) else CARRY_ON


def _longer(promises: Promises, seconds: float) -> str:
    needed = _shortest(promises)
    if needed is not None and seconds < needed:
        return (
            f"let the health check notice within {seconds:.0f} s (interval × retries), or the dependency be off longer"
        )
    return missing.AGAIN


def _unseen(acts: list[Event]) -> str:
    if not acts:
        return "name a service that may be switched off: x-swarmtest dependency"
    return missing.AGAIN
