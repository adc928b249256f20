"""Ready instances never fell below what the update order promises, nor to zero.

start-first promises all replicas, stop-first all but those updated at a time; where the service was
scaled, or instances were stopped by hand, so many less. An instance counts
from the later of healthy and warm to the earliest of unready, announced and exited. A dip that the
error bars can explain proves nothing, and one of a few rounds of polling can't be seen at all.
Processor and memory use are shown beside it, so that lost capacity and lost requests aren't taken
for each other.
"""

from __future__ import annotations

from swarmtest.checks import Findings, Judged, Verdict
from swarmtest.losses import Charge, Loss, missing
from swarmtest.losses.advice import advise
from swarmtest.losses.aftermath import Trouble, mend, trouble_of
from swarmtest.losses.charge import WARM_UP_SECONDS
from swarmtest.losses.mechanisms import Mechanism
from swarmtest.losses.whereabouts import unplaced
from swarmtest.losses.wording import label, many, since
from swarmtest.timeline import Lifespan
from swarmtest.timeline.capacity import dips, least, promised, spans_of
from swarmtest.timeline.machine import full_machine

SEEN_SECONDS = 0.3
"""Three rounds of polling: what may only be a dip of this length is the watch's own coarseness."""


def check(judged: Judged) -> Verdict:
    """Judges the number of ready instances from the beginning of the rollout, or of the traffic, to its end."""
    findings = Findings()
    timeline, wanted = judged.timeline, promised(judged.promises, judged.timeline)
    origin = timeline.t0 if timeline.t0 is not None else timeline.began
    if origin is None or timeline.ended is None:
        return findings.verdict(
            "", "", "There was no traffic, so capacity wasn't put to the test.", missing.unseen(judged.timeline)
        )
    unseen = [life for life in timeline.lifespans if life.ready_from is None and not life.never_ready]
    for life in unseen:
        findings.unproved.append(f"{label(life)}: neither a healthy state nor a line warm was seen of it")
    findings.unproved += _liars(judged)
    sure = spans_of(timeline.lifespans, surely=True)
    low = dips(spans_of(timeline.lifespans), origin, timeline.ended, wanted)
    lowest = min((ready for _, _, ready in low), default=None)
    if low and lowest is not None and lowest + len(unseen) < wanted:
        for began, ended, ready in low:
            findings.failed.append(
                f"{ready} ready of {wanted} promised for {ended - began:.2f} s, from {since(began, origin)}"
            )
    elif maybe := [dip for dip in dips(sure, origin, timeline.ended, wanted) if dip[1] - dip[0] > SEEN_SECONDS]:
        began, ended, ready = min(maybe, key=lambda dip: dip[2])
        findings.unproved.append(
            f"perhaps only {ready} ready of {wanted} promised for {ended - began:.2f} s,"
            f" from {since(began, origin)}: within the error bars"
        )
    if hole := _hole(judged):
        findings.unproved = [hole, *findings.failed, *findings.unproved]
        findings.failed = []
    findings.good.append(
        f"lowest number of ready instances {lowest_ready(judged)} of {judged.promises.replicas} replicas"
    )
    findings.good += _load(timeline.lifespans)
    return findings.verdict(
        f"At least {wanted} of {judged.promises.replicas} instances were ready all the time.",
        f"Only {lowest} of {wanted} promised instances were ready for a while.",
        "It isn't proved that enough instances were ready all the time.",
        _advice(judged, lowest) if findings.failed else _missing(judged),
    )


def lowest_ready(judged: Judged) -> int | None:
    """The fewest instances that were ready at once, from the beginning of what's judged on; None without traffic."""
    timeline = judged.timeline
    origin = timeline.t0 if timeline.t0 is not None else timeline.began
    if origin is None or timeline.ended is None:
        return None
    return least(spans_of(timeline.lifespans), origin, timeline.ended)


def _hole(judged: Judged) -> str | None:
    """Why instances may have been there that nobody saw; None where all were seen."""
    timeline = judged.timeline
    if timeline.broken:
        return f"the timeline has a hole: {timeline.broken[0]}"
    if timeline.t0 is None and (full := full_machine(timeline)) is not None and timeline.stops:
        return f"nobody was asked to stop, and {full}"
    before = timeline.old if timeline.t0 is not None else timeline.lifespans
    if len(before) < judged.promises.replicas:
        return f"only {len(before)} of {judged.promises.replicas} instances of before the rollout were seen"
    completed = any(event.get("state") == "completed" for event in timeline.update_status)
    return "the update completed, and no new instance was seen" if completed and not timeline.new else None


def _missing(judged: Judged) -> str:
    if judged.timeline.t0 is None and full_machine(judged.timeline) is not None:
        return missing.LIGHTER
    if _hole(judged) is not None:
        return missing.unseen(judged.timeline)
    rough = any(
        mark.error > missing.ROUGH_SECONDS for life in judged.timeline.lifespans for mark in life.marks.values()
    )
    shown = all(life.ready_from is not None or life.never_ready for life in judged.timeline.lifespans) and not _liars(
        judged
    )
    if not shown:
        return missing.readiness(judged.timeline)
    if any(life.stopping and life.mark("announced") is None for life in judged.timeline.old):
        return missing.unseen(judged.timeline)
    return missing.CLOCKS if rough else missing.unseen(judged.timeline)


def _liars(judged: Judged) -> list[str]:
    """Instances that were called healthy and perhaps weren't ready: requests were lost, and no line warm tells."""
    found = []
    for life in judged.timeline.new:
        cold = [one for one in judged.losses.seen if one.charge is Charge.START_UP and one.life is not None]
        count = sum(1 for one in cold if one.life is not None and one.life.task == life.task)
        if count and life.mark("warm") is None:
            found.append(f"{label(life)}: healthy, and yet {many(count, 'request')} to it were lost for its being cold")
        elif (ready := life.ready_from) is not None and life.mark("warm") is None:
            lost = unplaced(
                judged.losses, ready.at - ready.error, ready.at + ready.error + WARM_UP_SECONDS, tuple(Loss)
            )
            if lost:
                found.append(
                    f"{label(life)}: just healthy while {many(len(lost), 'request')} were lost at nobody known"
                )
    return found


def _load(lives: tuple[Lifespan, ...]) -> list[str]:
    """The most that any instance used, so that a busy one is told from a missing one."""
    lines = []
    if measured := [(life.cpu_max, label(life)) for life in lives if life.cpu_max is not None]:
        cores, name = max(measured)
        lines.append(f"most processor use of an instance: {cores:.2f} cores on {name}")
    if sizes := [(life.memory_max, label(life)) for life in lives if life.memory_max is not None]:
        size, name = max(sizes)
        lines.append(f"most memory of an instance: {size / 2**20:,.0f} MiB on {name}")
    return lines


def _advice(judged: Judged, lowest: int | None) -> str:
    if lowest == 0 and not judged.promises.start_first and judged.timeline.t0 is not None:
        return advise(Mechanism.NO_INSTANCE, judged.promises)
    trouble, said = trouble_of(judged.timeline, judged.promises)
    if trouble is Trouble.HEALTH:
        return mend(trouble, said)
    return advise(Mechanism.COLD_START, judged.promises)
