"""Each act that was planned was carried out, and took effect.

A run in which nothing was really hurt proves nothing: a step that a guard rail forbade, a kill that came
too late, a freeze that the instance didn't live to see the end of. The engine's own events say what took
effect, and the plan what should have.
"""

from __future__ import annotations

from collections import Counter

from swarmtest.checks import Findings, Judged, Verdict
from swarmtest.events import Event
from swarmtest.losses import missing
from swarmtest.losses.aftermath import mend, trouble_of
from swarmtest.losses.wording import label, many
from swarmtest.timeline import Lifespan, Timeline, Victim
from swarmtest.timeline.acts import began, end_of
from swarmtest.timeline.endings import BY_SWARMTEST, HEALTH_CHECK
from swarmtest.timeline.updates import UPDATES, End, course_after

MEANT_TO_STAY = ("update", "release", "rollback")
"""Updates that are to complete; what becomes of a version that doesn't work, another check says."""

SOON_SECONDS = 5.0
"""Within this an act shows its effect, where it isn't a stop that takes its own time."""

OTHERWISE = "see docker service ps --no-trunc and the instance's own log for what else ended it, or kept it from ending"


def check(judged: Judged) -> Verdict:
    """Judges each planned act, and each of its victims."""
    findings = Findings()
    timeline = judged.timeline
    acts = [act for act in began(timeline.acts) if act.get("name") not in ("deploy", "heal")]
    _judge_plan(judged, acts, findings)
    for act in acts:
        end = end_of(timeline.acts, act.get("id"))
        if end is None or end.get("outcome") != "ok":
            how = f"ended {end.get('outcome')}: {end.get('error')}" if end is not None else "never came to an end"
            findings.unproved.append(f"{_name(act)} {how}")
        elif act.get("instances"):
            continue
        elif not act.get("prepares"):
            _judge_whole(act, judged, findings)
    for victim in timeline.victims:
        if victim.outcome == "ok":
            _judge_victim(victim, judged, findings)
    _judge_reactions(judged, findings)
    if timeline.broken:  # what wasn't seen may have been there
        findings.unproved, findings.failed = [*findings.failed, *findings.unproved], []
    return findings.verdict(
        f"All that was planned was done, and took effect: {_told(acts)}.",
        f"{many(len(findings.failed), 'act')} took no effect, or another one than planned.",
        "It isn't proved that all that was planned was done.",
        _advice(judged) if findings.failed else missing.again(timeline),
    )


def _advice(judged: Judged) -> str:
    """What to do where an act took no effect: the stack's own doing, unless swarmtest came too late."""
    timeline = judged.timeline
    updates = [act for act in began(timeline.acts) if act.get("name") in MEANT_TO_STAY and not act.get("prepares")]
    if any(course_after(timeline, act).end not in (End.COMPLETED, End.UNSEEN) for act in updates):
        return mend(*trouble_of(timeline, judged.promises))
    return OTHERWISE


def _told(acts: list[Event]) -> str:
    counted = Counter(str(act.get("name")).replace("_", " ") for act in acts)
    return ", ".join(f"{name} ({count} times)" if count > 1 else name for name, count in counted.items())


def _name(act: Event) -> str:
    return f"{str(act.get('name')).replace('_', ' ')} (act {act.get('id')})"


def _judge_plan(judged: Judged, acts: list[Event], findings: Findings) -> None:
    """Whether there's an act for each step of the plan that has a fault."""
    timeline = judged.timeline
    planned = Counter(step.fault for step in judged.promises.steps if step.fault is not None)
    if not planned:
        findings.unproved.append("the plan hurts nothing")
    done = Counter(act.get("name") for act in acts)
    for act in timeline.skipped:
        findings.unproved.append(f"{_name(act)} was skipped: {act.get('reason')}")
        done[act.get("name")] += 1
    for name, count in planned.items():
        if done[name] < count:
            why = f": the guard stopped it, {timeline.stopped_by_guard}" if timeline.stopped_by_guard else ""
            findings.unproved.append(f"{name} was planned {count} times and begun {done[name]} times{why}")
    if timeline.stopped_by_guard and all(done[name] >= count for name, count in planned.items()):
        findings.unproved.append(f"the run's own guard broke it off: {timeline.stopped_by_guard}")


def _judge_victim(victim: Victim, judged: Judged, findings: Findings) -> None:
    life = next((one for one in judged.timeline.lifespans if one.task == victim.task), None)
    if life is None:
        findings.unproved.append(f"{victim.name} of {victim.task[:8]}: no such instance was seen")
        return
    match victim.name:
        case "freeze":
            _judge_freeze(victim, life, findings)
        case "kill" | "stop":
            _judge_end(victim, life, findings)
        case "signal":
            _judge_signal(victim, life, judged, findings)
        case _:
            findings.good.append(f"{victim.name} of {label(life)}")


def _judge_end(victim: Victim, life: Lifespan, findings: Findings) -> None:
    """Whether the instance got the signal, and exited by it; a kill does so at once."""
    soon = victim.name == "kill"
    sign, exited = life.mark("killed" if soon else "signalled"), life.mark("exited")
    line = f"{victim.name} of {label(life)}"
    if exited is None:
        told = f"{line}: it runs on, {life.state}" if life.state == "running" else f"{line}: its exit wasn't seen"
        (findings.failed if life.state == "running" and soon else findings.unproved).append(told)
    elif exited.at + exited.error < victim.hurt_at:
        findings.failed.append(f"{line}: it had exited {victim.hurt_at - exited.at:.2f} s before")
    elif sign is None:
        findings.unproved.append(f"{line}: it exited, and no signal was seen to be sent")
    elif soon and exited.at - exited.error > (victim.hurt_by or victim.hurt_at) + SOON_SECONDS:
        findings.failed.append(f"{line}: it exited only {exited.at - victim.hurt_at:.1f} s later")
    elif soon and life.cause not in (BY_SWARMTEST, HEALTH_CHECK):
        findings.failed.append(f"{line}: it was {life.cause} instead")
    else:
        what = "gone" if soon else "told to stop, and exited"
        findings.good.append(f"{line}: {what} {exited.at - victim.hurt_at:.2f} s later, exit code {life.exit_code}")


def _judge_signal(victim: Victim, life: Lifespan, judged: Judged, findings: Findings) -> None:
    """Whether the engine says that a signal was sent; whether it ends the process is the app's own matter."""
    until = (victim.hurt_by or victim.hurt_at) + SOON_SECONDS
    signs = [mark for name in ("signalled", "unready", "killed") if (mark := life.mark(name)) is not None]
    seen = [mark for mark in signs if victim.hurt_at - 0.5 - mark.error <= mark.at <= until]
    line = f"signal to {label(life)}"
    if seen:
        findings.good.append(f"{line}: {seen[0].source}")
    elif judged.timeline.broken or not life.marks:
        findings.unproved.append(f"{line}: no effect was seen")
    else:
        findings.unproved.append(f"{line}: neither the engine nor the instance says that it came")


def _judge_freeze(victim: Victim, life: Lifespan, findings: Findings) -> None:
    """Whether it stood still, and went on afterwards."""
    paused, unpaused, exited = life.mark("paused"), life.mark("unpaused"), life.mark("exited")
    line = f"freeze of {label(life)}"
    if paused is None:
        findings.unproved.append(f"{line}: it wasn't seen to be paused")
    elif exited is not None and (unpaused is None or exited.at <= unpaused.at) and victim.in_stop:
        findings.good.append(f"{line}: paused until its end {exited.at - paused.at:.1f} s later, {life.cause}")
    elif exited is not None and (unpaused is None or exited.at < unpaused.at):
        findings.failed.append(f"{line}: it didn't live to go on, {life.cause or 'and nobody saw why'}")
    elif unpaused is None:
        findings.unproved.append(f"{line}: it wasn't seen to go on")
    else:
        findings.good.append(f"{line}: paused for {unpaused.at - paused.at:.1f} s, then went on")


def _judge_whole(act: Event, judged: Judged, findings: Findings) -> None:
    """An act on a whole service: whether anything came of it."""
    timeline, line = judged.timeline, _name(act)
    made = [life for life in timeline.lifespans if life.created >= act.t - 1.0]
    match act.get("name"):
        case name if name in UPDATES:
            tasks = len(made) + len(timeline.failed_tasks)
            _seen(findings, f"{line}: {many(tasks, 'new task')}", bool(tasks))
            if name in MEANT_TO_STAY and not timeline.stopped_by_guard:
                _judge_update(act, timeline, findings)
        case "scale":
            by = int((act.get("settings") or {}).get("by") or 0)
            gone = [life for life in timeline.lifespans if (mark := life.stopping) is not None and mark.at >= act.t]
            _seen(findings, f"{line}: by {by:+d}", len(made if by > 0 else gone) >= abs(by))
        case "switch_off":
            name = str((act.get("settings") or {}).get("service"))
            ends = [last for _, last in timeline.neighbours.get(name, ()) if last is not None and last >= act.t - 1.0]
            _seen(findings, f"{line}: {name} was off", bool(ends))
        case _:
            findings.good.append(line)


def _judge_update(act: Event, timeline: Timeline, findings: Findings) -> None:
    """Whether an update that's meant to stay came to its end; Swarm's own word decides, as new tasks prove nothing."""
    course = course_after(timeline, act)
    if course.end is End.UNSEEN:
        findings.unproved.append(f"{_name(act)}: no UpdateStatus of it was seen")
    elif course.end is not End.COMPLETED:
        said = (course.last.get("message") if course.last is not None else None) or "Swarm says no more"
        whole = timeline.outcome == "finished" or course.end not in (End.UPDATING, End.ROLLING_BACK)
        (findings.failed if whole else findings.unproved).append(f"{_name(act)} didn't complete: {course.end} ({said})")


def _seen(findings: Findings, line: str, seen: bool) -> None:
    if seen:
        findings.good.append(line)
    else:
        findings.unproved.append(f"{line}: no effect was seen")


def _judge_reactions(judged: Judged, findings: Findings) -> None:
    """Whether each instance that stopped was hurt at its stop, where the plan says so."""
    wanted = {step.on_stop.fault for step in judged.promises.judged_steps if step.on_stop is not None}
    timeline = judged.timeline
    if len(judged.promises.judged_steps) != 1:
        return  # which of several steps a stop belongs to can't be told
    for name in wanted:
        hurt = {victim.task for victim in timeline.victims if victim.name == name and victim.in_stop}
        for life in timeline.old:
            if life.mark("signalled") is not None and life.task not in hurt:
                findings.unproved.append(f"{label(life)} was told to stop, and no {name} came")
