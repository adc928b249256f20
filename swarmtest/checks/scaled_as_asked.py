"""As many instances were ready as was asked for, new ones served, and those that went exited by themselves.

A number of replicas that Swarm was told is no number of instances that serve. So ready instances are
counted when there had been time to get there, and again when it was undone. A task that Swarm wants
gone and that runs on is an orphan: it's named, and counts as no capacity (moby/moby #41885).
"""

from __future__ import annotations

from swarmtest.checks import Findings, Judged, Verdict
from swarmtest.checks.exited_within_grace import ORPHAN_SLACK_SECONDS, ORPHANED
from swarmtest.events import Event
from swarmtest.losses import missing
from swarmtest.losses.advice import advise
from swarmtest.losses.aftermath import mend, tasks_said, trouble_of
from swarmtest.losses.mechanisms import Mechanism, ending_of
from swarmtest.losses.wording import label, many, number
from swarmtest.timeline import Lifespan, Timeline
from swarmtest.timeline.acts import began, end_of
from swarmtest.timeline.capacity import ready_at, spans_of
from swarmtest.timeline.endings import AS_ASKED


def check(judged: Judged) -> Verdict:
    """Judges each act that changed the number of instances, from its beginning until it was undone."""
    findings = Findings()
    timeline = judged.timeline
    acts = [act for act in began(timeline.acts) if act.get("name") == "scale" and not act.get("prepares")]
    if not acts:
        skipped = [act for act in timeline.skipped if act.get("name") == "scale"]
        findings.unproved += [f"scale (act {act.get('id')}) was skipped: {act.get('reason')}" for act in skipped]
        return findings.verdict("", "", "The number of instances wasn't changed.", missing.again(timeline))
    asked = [line for act in acts if (line := _judge_act(act, judged, findings)) is not None]
    stops = [life for life in timeline.stops if _stopped_after(life, acts[0].t)]
    for life in stops:
        _judge_stop(life, judged, findings)
    if findings.failed:
        findings.failed += tasks_said(timeline)
    return findings.verdict(
        f"Scaled as asked: {'; '.join(asked)}.",
        f"Not scaled as asked: {'; '.join(asked) or 'the act itself failed'}.",
        "It isn't proved that it was scaled as asked.",
        _advice(judged, stops) if findings.failed else missing.unseen(judged.timeline),
    )


def _judge_act(act: Event, judged: Judged, findings: Findings) -> str | None:
    """Adds what came of one act, and says what was asked; None where it was never done or doesn't say."""
    timeline, end = judged.timeline, end_of(judged.timeline.acts, act.get("id"))
    if end is None or end.get("outcome") != "ok":
        said = f"{end.get('outcome')}: {end.get('error')}" if end is not None else "never ended"
        findings.unproved.append(f"the act itself {said}")
        return None
    by = (act.get("settings") or {}).get("by")
    before = int((act.get("before") or {}).get("replicas") or judged.promises.replicas)
    if not by:
        findings.unproved.append("the act doesn't say how many instances it asked for")
        return None
    healing = _healing(timeline, act)
    last = timeline.ended if timeline.ended is not None else float("inf")
    _judge_count(timeline, act.t, healing.t if healing is not None else last, before + int(by), findings)
    if healing is not None:
        _judge_count(timeline, healing.t, last, before, findings)
    for life in timeline.lifespans:
        if _meant_to_serve(life, act.t, healing):
            _judge_new(life, act.t, findings)
    return f"{before} to {before + int(by)} instances{' and back' if healing is not None else ''}"


def _healing(timeline: Timeline, act: Event) -> Event | None:
    """When it was begun to undo the act."""
    undone = (one for one in began(timeline.acts) if one.get("name") == "heal" and one.get("heals") == act.get("id"))
    return next(undone, None)


def _judge_count(timeline: Timeline, first: float, last: float, wanted: int, findings: Findings) -> None:
    """Whether as many as wanted were ready at the end of a time, and from when on."""
    lives = [life for life in timeline.lifespans if life.created < last]
    unseen = [life for life in lives if life.ready_from is None and not life.never_ready]
    most, least = (ready_at(spans_of(timeline.lifespans, surely=surely), last) for surely in (False, True))
    after = f"{last - first:.1f} s after {wanted} were asked for"
    if doubt := _doubt(timeline, unseen):
        findings.unproved.append(f"{number(most)} of {wanted} seen to be ready {after}: {doubt}")
    elif not least <= wanted <= most:
        findings.failed.append(f"{number(most)} of {wanted} ready {after}")
    elif least != most:
        findings.unproved.append(f"{number(least)} to {number(most)} of {wanted} ready {after}: within the error bars")
    else:
        since = _since(timeline, first, last, wanted) - first
        findings.good.append(f"{number(wanted)} ready {since:.1f} s after asking")


def _doubt(timeline: Timeline, unseen: list[Lifespan]) -> str | None:
    """Why instances may have been ready that nobody saw, or may have become it later; None where all was seen."""
    if timeline.broken:
        return timeline.broken[0]
    if timeline.outcome != "finished":
        return "the run ended before"
    return f"{many(len(unseen), 'instance')} never seen to be ready" if unseen else None


def _since(timeline: Timeline, first: float, last: float, wanted: int) -> float:
    """From when on there were so many, without a break until the end of that time."""
    spans = [
        (ready.at, until.at if (until := life.ready_until) is not None else float("inf"))
        for life in timeline.lifespans
        if (ready := life.ready_from) is not None
    ]
    since = last
    for edge in sorted({first, *(t for span in spans for t in span if first < t < last)}, reverse=True):
        if ready_at(spans, edge) != wanted:
            break
        since = edge
    return since


def _meant_to_serve(life: Lifespan, since: float, healing: Event | None) -> bool:
    """Whether it was made by the act, or by undoing it, and was there until it was undone."""
    stopping = life.stopping
    if life.created < since:
        return False
    return stopping is None or (healing is not None and stopping.at >= healing.t - 0.5)


def _judge_new(life: Lifespan, since: float, findings: Findings) -> None:
    served = life.mark("first_served")
    if life.served and served is not None:
        findings.good.append(
            f"{label(life)}: new, first request {served.at - since:.1f} s after asking, {number(life.served)} served"
        )
    else:
        findings.unproved.append(f"{label(life)}: new, and no request was seen to be served by it")


def _stopped_after(life: Lifespan, t: float) -> bool:
    stopping = life.stopping or life.desired_stop
    return stopping is not None and stopping.at >= t


def _judge_stop(life: Lifespan, judged: Judged, findings: Findings) -> None:
    signalled, exited = life.mark("signalled"), life.mark("exited")
    bad = ending_of(life, judged.witness)
    if bad is not None or life.exit_code == 137:
        code = f", exit code {life.exit_code}" if life.exit_code is not None else ""
        findings.failed.append(f"{label(life)}: {life.cause}{code}; {bad.value if bad is not None else 'killed'}")
    elif exited is None:
        _judge_unfinished(life, judged, findings)
    elif life.cause == AS_ASKED and signalled is not None:
        after = exited.at - signalled.at
        findings.good.append(f"{label(life)}: exit code {life.exit_code} {after:.2f} s after its signal")
    else:
        findings.unproved.append(f"{label(life)}: ended, {life.cause or 'and nobody saw by whose order'}")


def _judge_unfinished(life: Lifespan, judged: Judged, findings: Findings) -> None:
    told, ended = life.desired_stop or life.stopping, judged.timeline.ended
    if told is None or ended is None:
        return
    age = ended - told.at
    if age > life.grace_seconds + ORPHAN_SLACK_SECONDS and not judged.timeline.broken:
        where = f" on node {life.node}" if life.node else ""
        findings.failed.append(
            f"{label(life)}: orphan, told to stop {age:.0f} s before the end of the run and still {life.state}{where};"
            f" {many(life.served, 'request')} served by it"
        )
    else:
        findings.unproved.append(f"{label(life)}: still stopping when the run ended")


def _advice(judged: Judged, stops: list[Lifespan]) -> str:
    for life in stops:
        if (found := ending_of(life, judged.witness)) is not None:
            return advise(found, judged.promises, life)
        if life.mark("exited") is None:
            return ORPHANED
    trouble, said = trouble_of(judged.timeline, judged.promises)
    return mend(trouble, said) if trouble is not None else advise(Mechanism.COLD_START, judged.promises)
