"""The rollout happened and completed: every old task was replaced by a new one.

Judged by task IDs and by the ``UpdateStatus`` of this very update, never by the exit code of a
command or by the number of replicas, both of which are right after a rollback as well. A status
left over from an earlier update says nothing of this one.
"""

from __future__ import annotations

from datetime import datetime

from swarmtest.checks import Findings, Judged, Verdict
from swarmtest.events import Event
from swarmtest.losses import missing
from swarmtest.losses.wording import each, label, many, since
from swarmtest.timeline import Timeline

STALE_SECONDS = 1.0
"""An update that began this much before ours is another one, whatever the clocks' errors."""

ROLLED_BACK = ("rollback_started", "rollback_completed", "rollback_paused")


def check(judged: Judged) -> Verdict:
    """Judges the update of this run."""
    findings = Findings()
    timeline = judged.timeline
    if timeline.t0 is None:
        return findings.verdict("", "", "No update was begun, so nothing was replaced.", missing.AGAIN)
    _judge_act(timeline, findings)
    _judge_status(timeline, findings)
    _judge_tasks(judged, findings)
    state = _last_state(timeline)
    return findings.verdict(
        f"{each(len(timeline.old), 'old instance')} was replaced, and the update completed.",
        _failure(state),
        "It isn't proved that every instance was replaced.",
        _advice(state, timeline) if findings.failed else missing.AGAIN,
    )


def own_statuses(timeline: Timeline) -> list[Event]:
    """Statuses that belong to the update of this run, in order."""
    t0 = timeline.t0 if timeline.t0 is not None else float("inf")
    own = []
    for event in timeline.update_status:
        started = _epoch(event.get("started"))
        if event.get("state") and (event.t if started is None else started) >= t0 - STALE_SECONDS and event.t >= t0:
            own.append(event)
    return own


def _last_state(timeline: Timeline) -> str | None:
    own = own_statuses(timeline)
    return str(own[-1].get("state")) if own else None


def _judge_act(timeline: Timeline, findings: Findings) -> None:
    for act in timeline.acts:
        if act.get("name") == "update" and act.get("edge") == "ended" and act.get("outcome") != "ok":
            findings.unproved.append(f"the command to update ended {act.get('outcome')}: {act.get('error')}")


def _judge_status(timeline: Timeline, findings: Findings) -> None:
    own = own_statuses(timeline)
    if not own:
        findings.unproved.append("no UpdateStatus of this update was seen")
        return
    state, message = own[-1].get("state"), own[-1].get("message") or ""
    line = f"UpdateStatus {state} {since(own[-1].t, timeline.t0)} from the beginning{f': {message}' if message else ''}"
    rolled_back = [event for event in own if event.get("state") in ROLLED_BACK]
    if rolled_back or state == "paused":
        findings.failed.append(line)
    elif state == "completed":
        findings.good.append(line)
    elif timeline.outcome == "finished":
        findings.failed.append(f"{line}: still so at the end of the run")
    else:
        findings.unproved.append(f"{line}: the run ended before the update did")


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
    if findings.failed and timeline.failed_tasks:
        findings.failed.append("failed tasks: " + "; ".join(timeline.failed_tasks[:3]))


def _failure(state: str | None) -> str:
    if state in ROLLED_BACK:
        return "The update failed and was rolled back."
    if state == "paused":
        return "The update failed and is paused, with two versions running."
    if state == "updating":
        return "The update is stuck: still updating at the end of the run."
    return "The update didn't replace every instance."


def _advice(state: str | None, timeline: Timeline) -> str:
    if timeline.failed_tasks:
        return f"mend why the new tasks fail: {timeline.failed_tasks[0]}"
    if state == "updating":
        return "see why no new task gets healthy or scheduled: docker service ps --no-trunc, and the health log"
    return "see why the new tasks failed: docker service ps --no-trunc, and the health log"


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
