"""Every lost request ran on an instance that was hurt, or was sent there before the front door could notice.

For runs in which losses are meant to happen: no fault loses more than what it must. What was sent to a
victim later than the front door's own time is the front door's loss; what was lost on an instance that
nobody had hurt is the stack's. Where nobody can say where a lost request went, it isn't proved to be the
fault's, unless the front door says that it had nowhere to send it.
"""

from __future__ import annotations

from swarmtest.checks import Findings, Judged, Outcome, Verdict, shortened
from swarmtest.losses import Accounted, Charge, Loss, missing
from swarmtest.losses.advice import advise
from swarmtest.losses.groups import loss_lines
from swarmtest.losses.letting_go import measured_seconds
from swarmtest.losses.mechanisms import mechanism_of, most_telling
from swarmtest.losses.reach import RACE_SECONDS, Reach, read_faults
from swarmtest.losses.starvation import read_starvation
from swarmtest.losses.wording import by_class, few, ids, label, many, number
from swarmtest.timeline import Lifespan, Timeline

_NAMES = {"grace": "end of the grace", "unhealthy": "bad health", "switch_off": "dependency off"}
TOGETHER_SECONDS = 0.1
"""A connection that ends this soon after an instance's exit ended with it."""

QUIET = "mend first what's lost while nothing is done: it shows by itself in the scenario baseline"
DECLARE = "say how long the front door may take to notice: x-swarmtest front_door.within"


def check(judged: Judged) -> Verdict:
    """Judges what each lost request belongs to; what was lost before anything was hurt surely isn't the fault's."""
    timeline = judged.timeline
    reaches = read_faults(judged.promises, timeline).reaches
    seen = list(judged.losses.seen)
    ours = [one for one in seen if one.loss is Loss.CLIENT_ERROR]
    lost = [one for one in seen if one not in ours]
    others = [one for one in lost if one.charge is not Charge.FAULT]
    if not others and not (reaches or timeline.victims):
        advice = missing.again(timeline, missing.NOBODY_HURT)
        return Verdict(Outcome.NOT_PROVED, "Nothing was hurt, so nothing could be lost to it.", (), advice)
    findings = Findings()
    starvation = read_starvation(judged.requests, timeline)
    sure = [one for one in others if not (_unsure(one, judged) or starvation.explains(one))]
    findings.failed = loss_lines(sure, timeline, judged.witness, judged.promises)
    if unsure := [one for one in others if one not in sure]:
        lines = loss_lines(unsure, timeline, judged.witness, judged.promises)
        why = "as the machine was full" if starvation.spans else "as its end wasn't seen"
        findings.unproved = [f"perhaps not the fault's, {why}: {line}" for line in lines]
    if off := sum(one.broken_off for one in judged.losses.lost):
        findings.unproved.append(f"{many(off, 'request')} lost as the run was broken off")
    if ours:
        findings.unproved.append(f"{many(len(ours), 'request')} lost by swarmtest's own client: {ours[0].why}")
    findings.unproved += _doubts(judged, lost)
    findings.good = [*_by_victim(judged, lost, reaches)] or ["nothing was lost"]
    if findings.failed:
        sentence = f"{many(len(sure), 'request')} of {number(len(lost))} lost weren't lost to the fault: "
        sentence += f"{by_class(sure)}."
        evidence = shortened([*findings.failed, *findings.unproved, *findings.good])
        return Verdict(Outcome.FAILED, sentence, evidence, _advice(judged, sure))
    return findings.verdict(
        _passed(lost),
        "",
        "It isn't proved that all that was lost was lost to the fault.",
        _missing(judged, lost),
    )


def _passed(lost: list[Accounted]) -> str:
    if not lost:
        return "Nothing was lost, though instances were hurt."
    count = "The only request that was lost" if len(lost) == 1 else f"All {number(len(lost))} requests that were lost"
    return f"{count} belonged to the fault: {by_class(lost)}."


def _doubts(judged: Judged, lost: list[Accounted]) -> list[str]:
    """Why what's taken for the fault's may be somebody else's, or may be no loss at all."""
    of_fault = [one for one in lost if one.charge is Charge.FAULT]
    lines = []
    if nowhere := [one for one in of_fault if _somewhere(one) and not _with_a_victim(one, judged.timeline)]:
        lines.append(
            f"{many(len(nowhere), 'request')} reached nobody known, perhaps one that wasn't hurt: {ids(nowhere)}"
        )
    if unclear := [one for one in of_fault if one.loss is Loss.UNKNOWN and not _about_to_commit(one)]:
        lines.append(f"{many(len(unclear), 'request')} can't be classed: {unclear[0].why}; {ids(unclear)}")
    if rough := [one for one in of_fault if one.fault is not None and one.fault.doubtful(one.request)]:
        lines.append(f"{many(len(rough), 'request')} sent within the error bars of the front door's time: {ids(rough)}")
    if judged.promises.front_door.within_seconds is None and not judged.promises.direct:
        late = [
            one for one in of_fault if one.fault is not None and one.fault.task and one.fault.unnoticed(one.request)
        ]
        if late:
            lines.append(
                f"{many(len(late), 'request')} sent after the hurt, and no detection time is declared to hold the front"
                f" door to: {ids(late)}"
            )
    unproved = [one.request.id for one in judged.losses.lost if one.unproved]
    if unproved:
        lines.append(f"{many(len(unproved), 'answer')} can't be proved to be whole: {few(unproved)}")
    if judged.timeline.broken:
        lines.append(f"the timeline has a hole: {judged.timeline.broken[0]}")
    return lines


def _unsure(one: Accounted, judged: Judged) -> bool:
    """Whether more evidence might show that it was the fault's: of how its instance ended, or of who was ready."""
    timeline, life = judged.timeline, one.life
    if timeline.broken:
        return True
    if life is not None:
        exited = life.mark("exited")
        return exited is not None and not exited.source.startswith("engine") and one.charge is Charge.SHUTDOWN
    bad = any(act.get("name") in ("unhealthy", "crash") for act in timeline.acts)
    return bad and any(other.stopping and other.mark("announced") is None for other in timeline.lifespans)


def _before_all(one: Accounted, judged: Judged) -> bool:
    """Whether it was lost before anything was hurt."""
    t0 = judged.timeline.t0
    return t0 is not None and one.request.ended < t0


def _somewhere(one: Accounted) -> bool:
    """Whether it may have been sent to some instance that nobody can name."""
    reached_none = one.proxied is not None and one.proxied.server is None
    return one.life is None and not reached_none


def _with_a_victim(one: Accounted, timeline: Timeline) -> bool:
    """Whether its connection ended in the very moment in which a victim did, so that it surely led there.

    A proxy may close a client's kept connection without a word, in its log or to the client, when the
    instance's end takes the request along (HAProxy does, so that the client sends it again). Of several
    that were hurt at once it may be another one than the one whose reach it's in.
    """
    tasks = {victim.task for victim in timeline.victims}
    return any(_ended_together(one, life) for life in timeline.lifespans if life.task in tasks)


def _ended_together(one: Accounted, life: Lifespan) -> bool:
    exited = life.mark("exited")
    if exited is None:
        return False
    first = life.mark("killed") or exited
    return first.at - first.error - RACE_SECONDS <= one.request.ended <= exited.at + exited.error + TOGETHER_SECONDS


def _about_to_commit(one: Accounted) -> bool:
    """Whether its class is unknown as its instance was killed in the very commit, which is all that can be known."""
    return one.trail is not None and bool(one.trail.intent) and not (one.trail.commit or one.trail.finish)


def _by_victim(judged: Judged, lost: list[Accounted], reaches: tuple[Reach, ...]) -> list[str]:
    """What was lost to each hurt, and how long the front door went on sending to its victim."""
    lines = []
    for reach in reaches:
        mine = [one for one in lost if one.fault is reach or one.fault == reach]
        life = next((life for life in judged.timeline.lifespans if life.task == reach.task), None)
        name = _NAMES.get(reach.name, reach.name.replace("_", " "))
        what = f"{name} of {label(life)}" if reach.task else name
        sent = [one.request.began - reach.told for one in mine if reach.task and one.request.began > reach.told]
        after = f"; the last one sent {max(sent):.2f} s after it could be noticed" if sent else ""
        lines.append(f"{what}: {by_class(mine) + after if mine else 'nothing lost'}")
    rest = [one for one in lost if one.fault is not None and one.fault not in reaches]
    return [*lines, f"nobody was left to serve: {by_class(rest)}"] if rest else lines


def _advice(judged: Judged, others: list[Accounted]) -> str | None:
    telling = most_telling(others, judged.timeline, judged.witness, judged.promises)
    if not telling and others and all(_before_all(one, judged) for one in others):
        return QUIET
    if not telling:
        return (
            None
            if judged.losses.records.whole
            else missing.to_place(judged.losses, judged.witness, judged.promises, judged.timeline)
        )
    lives = [one.life for one in others if _how(one, judged) is telling[0][0]]
    victims = [life for life in judged.timeline.lifespans if judged.timeline.hurts(life)]
    measured = measured_seconds(judged.promises, judged.timeline, judged.losses, _known([*lives, *victims]))
    return advise(telling[0][0], judged.promises, lives[0] if lives else None, measured)


def _how(one: Accounted, judged: Judged) -> object:
    return mechanism_of(one, judged.timeline, judged.witness, judged.promises)


def _known(lives: list[Lifespan | None]) -> list[Lifespan]:
    return [life for life in lives if life is not None]


def _missing(judged: Judged, lost: list[Accounted]) -> str:
    if judged.timeline.broken:
        return missing.AGAIN
    if any(one.fault is not None and one.fault.doubt > missing.ROUGH_SECONDS for one in lost):
        return missing.CLOCKS
    if any((_somewhere(one) and not _with_a_victim(one, judged.timeline)) or one.loss is Loss.UNKNOWN for one in lost):
        return missing.to_place(judged.losses, judged.witness, judged.promises, judged.timeline)
    if any(one.unproved for one in judged.losses.lost):
        return missing.FRAMING if judged.losses.names_itself else missing.header(judged.promises)
    return DECLARE if judged.promises.front_door.within_seconds is None else missing.AGAIN
