"""A release that never works was rolled back by Swarm itself, and the version of before served on.

Nobody ordered it: the status of this very update says *rollback_completed*, no instance of the new
version runs at the end, and each old instance that wasn't due yet really survived and served
afterwards. An update that pauses or completes instead has left a broken version behind. Swarm watches
a new task for ``monitor`` from its first *healthy* on: what fails later is only restarted, for ever.
"""

from __future__ import annotations

from math import ceil

from swarmtest.checks import Findings, Judged, Verdict
from swarmtest.evidence.promises import Promises
from swarmtest.losses import missing
from swarmtest.losses.aftermath import both_ways, mend, tasks_said, trouble_of, versions_left
from swarmtest.losses.wording import label, many, number, since
from swarmtest.timeline import Lifespan
from swarmtest.timeline.updates import Course, End, course_of, left_running, runs_new

MONITOR_SECONDS = 5.0
"""How long Swarm watches a new task where the file says nothing, or 0."""

JUST_SECONDS = 1.0
"""Two things this close together were decided at the same time."""


def check(judged: Judged) -> Verdict:
    """Judges the course of the release, and what it left behind."""
    findings = Findings()
    course = course_of(judged.timeline)
    if course is None or course.ordered_back:
        what = "A rollback was ordered" if course is not None else "No release was begun"
        return findings.verdict(
            "", "", f"{what}, so Swarm had none to roll back by itself.", missing.unseen(judged.timeline)
        )
    _judge_course(judged, course, findings)
    if course.end is End.ROLLED_BACK:
        _judge_new(judged, course, findings)
        _judge_old(judged, course, findings)
    _tell(judged, course, findings)
    if stopped := _stopped(judged, course):
        findings.unproved = [stopped, *findings.failed, *findings.unproved]
        findings.failed = []
    return findings.verdict(
        f"Swarm rolled the release back by itself, and {_survivors(judged, course)} served on.",
        _failure(judged, course),
        "It isn't proved that Swarm rolls such a release back by itself.",
        _advice(judged, course) if findings.failed else missing.unseen(judged.timeline),
    )


def _stopped(judged: Judged, course: Course) -> str | None:
    """Why what became of it isn't Swarm's doing alone."""
    if judged.timeline.stopped_by_guard is not None:
        return f"the run's own guard stopped it: {judged.timeline.stopped_by_guard}"
    return None if course.rollback is None else "swarmtest ordered the rollback"


def _judge_course(judged: Judged, course: Course, findings: Findings) -> None:
    timeline, last = judged.timeline, course.last
    if last is None:
        findings.unproved.append("no UpdateStatus of this release was seen")
        return
    line = f"UpdateStatus {last.get('state')} {since(last.t, timeline.t0)} from the beginning: {last.get('message')}"
    if course.end is End.ROLLED_BACK:
        findings.good.append(line)
    elif course.end in (End.UPDATING, End.ROLLING_BACK) and timeline.outcome != "finished":
        findings.unproved.append(f"{line}: the run ended before it did")
    else:
        findings.failed.append(line)


def _judge_new(judged: Judged, course: Course, findings: Findings) -> None:
    left = [life for life in left_running(judged.timeline) if runs_new(life, judged.timeline, course)]
    if left:
        findings.failed.append(f"the new version still runs on {', '.join(label(life) for life in left)}")
    if not judged.timeline.new:
        findings.unproved.append("no instance of the new version was seen")


def _judge_old(judged: Judged, course: Course, findings: Findings) -> None:
    """Each old instance is still there, or went in its turn; the ones that are there served after it."""
    timeline = judged.timeline
    if len(timeline.old) < judged.promises.replicas:
        findings.unproved.append(
            f"only {len(timeline.old)} of {many(judged.promises.replicas, 'instance')} of before the release were seen"
        )
    for life in timeline.old:
        gone = life.earliest("announced", "signalled", "exited") or life.desired_stop
        if gone is None:
            _judge_survivor(life, judged, course, findings)
        elif gone.at - gone.error > (course.turned_at or 0.0) + JUST_SECONDS:
            findings.failed.append(
                f"{label(life)}: stopped {since(gone.at, course.turned_at)} from the rollback's begin"
            )
        elif judged.promises.start_first and not _replaced(life, judged, course):
            findings.failed.append(
                f"{label(life)}: stopped {since(gone.at, timeline.t0)}, though no new instance in its slot was healthy"
            )
        else:
            findings.good.append(f"{label(life)}: stopped in its turn, {since(gone.at, timeline.t0)}")


def _judge_survivor(life: Lifespan, judged: Judged, course: Course, findings: Findings) -> None:
    back = course.statuses[-1].t
    after = judged.requests.count("loss = 'ok' AND task = $task AND began > $back", {"task": life.task, "back": back})
    if after:
        findings.good.append(f"{label(life)}: survived, and served {many(after, 'request')} after the rollback")
    else:
        findings.unproved.append(f"{label(life)}: survived, but no request was seen to be served by it afterwards")


def _replaced(life: Lifespan, judged: Judged, course: Course) -> bool:
    """Whether a new instance in its slot had been healthy, which is when start-first stops the old one."""
    new = [one for one in judged.timeline.new if one.slot == life.slot and runs_new(one, judged.timeline, course)]
    checked = judged.promises.stack.healthcheck is not None
    return any(one.mark("healthy" if checked else "started") is not None for one in new)


def _tell(judged: Judged, course: Course, findings: Findings) -> None:
    """What's worth knowing whatever came of it."""
    lines = [versions_left(judged.promises, judged.timeline, course)]
    if (apart := both_ways(judged.losses, judged.timeline, course)) is not None:
        lines.append(apart)
    if (late := _after_healthy(judged)) is not None:
        lines.append(
            f"a new instance failed {late:.1f} s after it was healthy; monitor is {_monitor(judged.promises):g} s"
        )
    some = findings.failed or findings.good
    some += [*lines, *tasks_said(judged.timeline)]


def _survivors(judged: Judged, course: Course) -> str:
    old = sum(1 for life in left_running(judged.timeline) if not runs_new(life, judged.timeline, course))
    return f"{many(old, 'instance')} of the version of before"


def _after_healthy(judged: Judged) -> float | None:
    """Seconds from healthy to the end of the first new instance that ended though nobody asked it to."""
    spans = []
    for life in judged.timeline.new:
        healthy, ended = life.mark("healthy"), life.earliest("signalled", "killed", "exited")
        failed = life.state == "failed" or life.desired_stop is None
        if healthy is not None and ended is not None and ended.at > healthy.at and failed:
            spans.append((ended.at, ended.at - healthy.at))
    return min(spans)[1] if spans else None


def _failure(judged: Judged, course: Course) -> str:
    monitor = _monitor(judged.promises)
    match course.end:
        case End.ROLLED_BACK:
            return "The release was rolled back, but not to what was there before."
        case End.PAUSED:
            return f"The release failed and is paused instead of rolled back: {_running(judged, course)}."
        case End.ROLLBACK_PAUSED:
            return "The release failed, and its rollback failed, too, and is paused."
        case End.ROLLING_BACK:
            return "The release failed, and its rollback hadn't ended when the run did."
        case End.COMPLETED if (late := _after_healthy(judged)) is not None and late > monitor:
            return (
                f"The release completed and failed {late:.1f} s after it was healthy, when Swarm no longer watched it"
                f" (monitor {monitor:g} s): such a task is only restarted, and nothing is rolled back."
            )
        case End.COMPLETED:
            return f"The release completed, though it doesn't work: {_running(judged, course)}."
        case _:
            return "The release is stuck: neither completed nor rolled back at the end of the run."


def _running(judged: Judged, course: Course) -> str:
    left = [runs_new(life, judged.timeline, course) for life in left_running(judged.timeline)]
    return f"{number(sum(left))} new and {number(len(left) - sum(left))} old instances are left running"


def _monitor(promises: Promises) -> float:
    """``monitor`` as Swarm takes it; 0 means its default."""
    return promises.stack.monitor_seconds or MONITOR_SECONDS


def detection_seconds(promises: Promises) -> float | None:
    """Until a health check that fails from some moment on makes a task unhealthy; None without a check."""
    check = promises.stack.healthcheck
    if check is None:
        return None
    interval, timeout = (_setting(check, name, 30.0) for name in ("interval_seconds", "timeout_seconds"))
    return _setting(check, "retries", 3.0) * (interval + timeout)


def _setting(check: dict[str, object], name: str, default: float) -> float:
    """A setting of a health check; Docker takes 0 for its default."""
    value = check.get(name)
    return float(value) if isinstance(value, (int, float)) and value else default


def _advice(judged: Judged, course: Course) -> str:
    promises = judged.promises
    match course.end:
        case End.PAUSED:
            return "set update_config.failure_action: rollback (its default is pause)"
        case End.COMPLETED if promises.stack.failure_action == "continue":
            return "set update_config.failure_action: rollback (it's continue, which goes on whatever fails)"
        case End.COMPLETED:
            return _longer_monitor(judged)
        case End.ROLLBACK_PAUSED:
            return (
                "see why tasks of the old version failed; rollback_config has settings of its own, with a monitor of"
                f" {promises.stack.rollback.get('monitor_seconds') or MONITOR_SECONDS:g} s"
            )
        case End.ROLLED_BACK:
            return "see docker service ps --no-trunc for what stopped the instances of before"
        case _:
            return mend(*trouble_of(judged.timeline, promises))


def _longer_monitor(judged: Judged) -> str:
    """A window in which the failure would have been seen; a window of another length is no use.

    It begins with the first healthy, so that ``start_period`` isn't part of it (moby/moby #37972).
    """
    promises = judged.promises
    detection, late = detection_seconds(promises), _after_healthy(judged)
    if detection is None:
        return "give the service a healthcheck: without one Swarm notices only what ends by itself"
    delay = promises.stack.delay_seconds or 0.0  # older engines overlook a failure within it (moby/moby #37972)
    needed = ceil(max(detection, late or 0.0, delay)) + 1
    if needed <= _monitor(promises):
        return mend(*trouble_of(judged.timeline, promises))  # it watches for long enough
    least = f"above {detection:g} s, which is retries × (interval + timeout)"
    if late is not None and late > detection:
        least = f"above the {late:.1f} s after which it failed (and {least})"
    return (
        f"raise update_config.monitor from {_monitor(promises):g} s to {needed} s, {least}; start_period isn't part of"
        " it, and 0 means the default of 5 s"
    )
