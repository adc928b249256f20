"""Ready instances never fell below what the update order promises, nor to zero.

start-first promises all replicas, stop-first all but those updated at a time. An instance counts
from the later of healthy and warm to the earliest of unready, announced and exited. A dip that the
error bars can explain proves nothing, and one of a few rounds of polling can't be seen at all.
Processor and memory use are shown beside it, so that lost capacity and lost requests aren't taken
for each other.
"""

from __future__ import annotations

from itertools import pairwise

from swarmtest.checks import Findings, Judged, Verdict
from swarmtest.evidence.promises import SWARM_PAUSE_SECONDS
from swarmtest.losses import Charge, Loss, missing
from swarmtest.losses.advice import advise
from swarmtest.losses.charge import WARM_UP_SECONDS
from swarmtest.losses.mechanisms import Mechanism
from swarmtest.losses.whereabouts import unplaced
from swarmtest.losses.wording import label, many, since
from swarmtest.timeline import Lifespan
from swarmtest.timeline.endings import AS_ASKED, END_OF_GRACE

SEEN_SECONDS = 0.3
"""Three rounds of polling: what may only be a dip of this length is the watch's own coarseness."""

SHORT_SECONDS = 0.05
"""A dip shorter than this is the order in which two things were noticed."""


def check(judged: Judged) -> Verdict:
    """Judges the number of ready instances from the beginning of the rollout, or of the traffic, to its end."""
    findings = Findings()
    timeline, promised = judged.timeline, promise(judged)
    origin = timeline.t0 if timeline.t0 is not None else timeline.began
    if origin is None or timeline.ended is None:
        return findings.verdict("", "", "There was no traffic, so capacity wasn't put to the test.", missing.AGAIN)
    unseen = [life for life in timeline.lifespans if life.ready_from is None]
    for life in unseen:
        findings.unproved.append(f"{label(life)}: neither a healthy state nor a line warm was seen of it")
    findings.unproved += _liars(judged)
    sure = _spans(timeline.lifespans, surely=True)
    dips = _dips(_spans(timeline.lifespans), origin, timeline.ended, promised)
    lowest = min((ready for _, _, ready in dips), default=None)
    if dips and lowest is not None and lowest + len(unseen) < promised:
        for began, ended, ready in dips:
            findings.failed.append(
                f"{ready} ready of {promised} promised for {ended - began:.2f} s, from {since(began, origin)}"
            )
    elif maybe := [dip for dip in _dips(sure, origin, timeline.ended, promised) if dip[1] - dip[0] > SEEN_SECONDS]:
        began, ended, ready = min(maybe, key=lambda dip: dip[2])
        findings.unproved.append(
            f"perhaps only {ready} ready of {promised} promised for {ended - began:.2f} s,"
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
        f"At least {promised} of {judged.promises.replicas} instances were ready all the time.",
        f"Only {lowest} of {promised} promised instances were ready for a while.",
        "It isn't proved that enough instances were ready all the time.",
        _advice(judged, lowest) if findings.failed else _missing(judged),
    )


def lowest_ready(judged: Judged) -> int | None:
    """The fewest instances that were ready at once, from the beginning of what's judged on; None without traffic."""
    timeline = judged.timeline
    origin = timeline.t0 if timeline.t0 is not None else timeline.began
    if origin is None or timeline.ended is None:
        return None
    return _least(timeline.lifespans, origin, timeline.ended)


def _hole(judged: Judged) -> str | None:
    """Why instances may have been there that nobody saw; None where all were seen."""
    timeline = judged.timeline
    if timeline.broken:
        return f"the timeline has a hole: {timeline.broken[0]}"
    before = timeline.old if timeline.t0 is not None else timeline.lifespans
    if len(before) < judged.promises.replicas:
        return f"only {len(before)} of {judged.promises.replicas} instances of before the rollout were seen"
    completed = any(event.get("state") == "completed" for event in timeline.update_status)
    return "the update completed, and no new instance was seen" if completed and not timeline.new else None


def _missing(judged: Judged) -> str:
    if _hole(judged) is not None:
        return missing.AGAIN
    rough = any(
        mark.error > missing.ROUGH_SECONDS for life in judged.timeline.lifespans for mark in life.marks.values()
    )
    shown = all(life.ready_from is not None for life in judged.timeline.lifespans) and not _liars(judged)
    if not shown:
        return missing.READINESS
    if any(life.stopping and life.mark("announced") is None for life in judged.timeline.old):
        return missing.AGAIN
    return missing.CLOCKS if rough else missing.AGAIN


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


def promise(judged: Judged) -> int:
    """How many instances must be ready at any time."""
    promises = judged.promises
    if promises.start_first or judged.timeline.t0 is None:
        return max(1, promises.replicas)
    return max(1, promises.replicas - promises.at_once)


def _spans(lives: tuple[Lifespan, ...], *, surely: bool = False) -> list[tuple[float, float]]:
    """From when until when each was ready, at the most that the error bars allow, or at the least."""
    sign = -1 if surely else 1
    spans = []
    for life in lives:
        ready, until = life.ready_from, life.ready_until
        if ready is not None:
            last = float("inf") if until is None else until.at + sign * until.error
            if surely and life.cause in (AS_ASKED, END_OF_GRACE, None):
                last = min(last, _silently(life))
            spans.append((ready.at - sign * ready.error, last))
    return spans


def _silently(life: Lifespan) -> float:
    """When it was taken out of DNS at the latest, where that wasn't seen and its signal was."""
    signalled = life.mark("signalled")
    if signalled is None or life.mark("announced") is not None:
        return float("inf")
    return signalled.at - signalled.error - SWARM_PAUSE_SECONDS


def _dips(spans: list[tuple[float, float]], t0: float, ended: float, promised: int) -> list[tuple[float, float, int]]:
    """(began, ended, ready) of each time in which fewer were ready than promised."""
    edges = sorted({t0, ended, *(t for span in spans for t in span if t0 < t < ended)})
    dips: list[tuple[float, float, int]] = []
    for began, end in pairwise(edges):
        middle = (began + end) / 2
        ready = sum(1 for first, last in spans if first <= middle < last)
        if ready >= promised:
            continue
        if dips and dips[-1][1] == began and dips[-1][2] == ready:
            dips[-1] = (dips[-1][0], end, ready)
        else:
            dips.append((began, end, ready))
    return [dip for dip in dips if dip[1] - dip[0] > SHORT_SECONDS]


def _least(lives: tuple[Lifespan, ...], t0: float, ended: float) -> int:
    spans = _spans(lives)
    edges = sorted({t0, ended, *(t for span in spans for t in span if t0 < t < ended)})
    counts = [
        sum(1 for first, last in spans if first <= (a + b) / 2 < last)
        for a, b in pairwise(edges)
        if b - a > SHORT_SECONDS
    ]
    return min(counts, default=sum(1 for first, last in spans if first <= t0 < last))


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
    if not judged.promises.start_first and lowest == 0:
        return advise(Mechanism.NO_INSTANCE, judged.promises)
    return advise(Mechanism.COLD_START, judged.promises)
