"""The rollout happened and completed: every old task was replaced by a new one.

Judged by task IDs and by the ``UpdateStatus`` of this very update, never by the exit code of a
command or by the number of replicas, both of which are right after a rollback as well. A rollback
that was ordered is judged the same way, and its completion is a success; one that Swarm began by
itself, a pause and an update that's stuck are failures, with the versions that are left running.
"""

from __future__ import annotations

from swarmtest.checks import Findings, Judged, Verdict
from swarmtest.losses import missing
from swarmtest.losses.aftermath import TRAP, Trouble, both_ways, mend, tasks_said, trouble_of, versions_left
from swarmtest.losses.wording import each, label, many, since
from swarmtest.timeline import Timeline
from swarmtest.timeline.updates import Course, End, course_of, left_running, runs_new


def check(judged: Judged) -> Verdict:
    """Judges the update of this run."""
    findings = Findings()
    timeline, course = judged.timeline, course_of(judged.timeline)
    if course is None:
        return findings.verdict("", "", "No update was begun, so nothing was replaced.", missing.again(judged.timeline))
    _judge_act(timeline, course, findings)
    _judge_status(timeline, course, findings)
    _judge_tasks(judged, findings)
    if findings.failed:
        findings.failed += _aftermath(judged, course)
    if timeline.stopped_by_guard is not None:
        by_guard = f"the run's own guard stopped it: {timeline.stopped_by_guard}"
        findings.unproved = [by_guard, *findings.failed, *findings.unproved]
        findings.failed = []
    done = "rollback" if course.ordered_back else "update"
    return findings.verdict(
        f"{each(len(timeline.old), 'old instance')} was replaced, and the {done} completed.",
        _failure(judged, course),
        "It isn't proved that every instance was replaced.",
        _advice(judged, course) if findings.failed else _missing(timeline),
    )


def _judge_act(timeline: Timeline, course: Course, findings: Findings) -> None:
    for act in timeline.acts:
        ours = act.get("id") == course.act.get("id") and act.get("edge") == "ended"
        if ours and act.get("outcome") != "ok":
            findings.unproved.append(
                f"the command to {course.act.get('name')} ended {act.get('outcome')}: {act.get('error')}"
            )


def _judge_status(timeline: Timeline, course: Course, findings: Findings) -> None:
    last = course.last
    if last is None:
        findings.unproved.append("no UpdateStatus of this update was seen")
        return
    message = last.get("message") or ""
    line = f"UpdateStatus {last.get('state')} {since(last.t, timeline.t0)} from the beginning"
    line += f": {message}" if message else ""
    match course.end:
        case End.COMPLETED:
            findings.good.append(line)
        case End.UPDATING if timeline.outcome == "finished":
            findings.failed.append(f"{line}: still so at the end of the run")
        case End.UPDATING:
            findings.unproved.append(f"{line}: the run ended before the update did")
        case _:
            findings.failed.append(line)


def _judge_tasks(judged: Judged, findings: Findings) -> None:
    timeline = judged.timeline
    replaced = [life for life in timeline.old if life.stopping is not None or life.desired_stop is not None]
    left = [life for life in timeline.old if life not in replaced]
    if not timeline.old:
        findings.unproved.append("no instance of before the update was seen")
    if not timeline.new:
        findings.unproved.append("no new task was made: nothing was replaced")
    elif left:
        named = ", ".join(label(life) for life in left)
        which = findings.failed if timeline.outcome == "finished" else findings.unproved
        which.append(f"{many(len(left), 'old instance')} of {len(timeline.old)} never replaced: {named}")
    else:
        old, new = (", ".join(label(life) for life in some) for some in (timeline.old, timeline.new))
        findings.good.append(f"{old} replaced by {new}")


def _aftermath(judged: Judged, course: Course) -> list[str]:
    """What's left of an update that didn't come to its end."""
    timeline = judged.timeline
    lines = [versions_left(judged.promises, timeline, course)]
    if (apart := both_ways(judged.losses, timeline, course)) is not None:
        lines.append(apart)
    return [*lines, *tasks_said(timeline)]


def _failure(judged: Judged, course: Course) -> str:
    timeline = judged.timeline
    match course.end:
        case End.ROLLED_BACK:
            return "The update failed and was rolled back."
        case End.ROLLING_BACK:
            return "The update failed, and was still being rolled back when the run ended."
        case End.ROLLBACK_PAUSED:
            return "The update failed and was rolled back, and the rollback failed, too, and is paused."
        case End.PAUSED:
            done = "rollback" if course.ordered_back else "update"
            left = {runs_new(life, timeline, course) for life in left_running(timeline)}
            running = (
                "two versions" if len(left) == 2 else "only the new version" if left == {True} else "the old version"
            )
            return f"The {done} failed and is paused, with {running} running: it can't be graded for zero downtime."
        case End.UPDATING:
            return f"The update is stuck: {_why_stuck(judged)}."
        case _:
            return "The update didn't replace every instance."


def _why_stuck(judged: Judged) -> str:
    trouble, said = trouble_of(judged.timeline, judged.promises)
    if trouble is None:
        return "still updating at the end of the run"
    return f"{trouble.value} ({said})" if trouble in (Trouble.PLACE, Trouble.HEALTH) else trouble.value


def _advice(judged: Judged, course: Course) -> str:
    trouble, said = trouble_of(judged.timeline, judged.promises)
    advice = mend(trouble, said)
    return f"{advice}; know before you run it again: {TRAP}" if course.end is End.PAUSED else advice


def _missing(timeline: Timeline) -> str:
    if timeline.stopped_by_guard is not None:
        return (
            "mend first what lost the requests; or let more happen before the run is stopped (stop_at, a limit's abort)"
        )
    return missing.unseen(timeline)
