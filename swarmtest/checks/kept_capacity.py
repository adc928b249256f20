"""Ready instances never fell below what the update order promises, nor to zero.

start-first promises all replicas, stop-first all but those updated at a time. An instance counts
from the later of healthy and warm to the earliest of unready, announced and exited. A dip that the
error bars can explain isn't one. Processor use is shown beside it, so that lost capacity and lost
requests aren't taken for each other.
"""

from __future__ import annotations

from itertools import pairwise

from swarmtest.checks import Findings, Judged, Verdict
from swarmtest.losses.advice import advise
from swarmtest.losses.mechanisms import Mechanism
from swarmtest.losses.wording import label, since
from swarmtest.timeline import Lifespan

SHORT_SECONDS = 0.05
"""A dip shorter than this is the order in which two things were noticed."""


def check(judged: Judged) -> Verdict:
    """Judges the number of ready instances from the beginning of the rollout to its end."""
    findings = Findings()
    timeline, promised = judged.timeline, promise(judged)
    if timeline.t0 is None or timeline.ended is None:
        return findings.verdict("", "", "Nothing was done to the service, so its capacity wasn't put to the test.")
    unseen = [life for life in timeline.lifespans if life.ready_from is None]
    for life in unseen:
        findings.unproved.append(f"{label(life)}: neither a healthy state nor a line warm was seen of it")
    dips = _dips(timeline.lifespans, timeline.t0, timeline.ended, promised)
    lowest = min((ready for _, _, ready in dips), default=None)
    if dips and lowest is not None and lowest + len(unseen) < promised:
        for began, ended, ready in dips:
            findings.failed.append(
                f"{ready} ready of {promised} promised for {ended - began:.2f} s, from {since(began, timeline.t0)}"
            )
    least = _least(timeline.lifespans, timeline.t0, timeline.ended)
    findings.good.append(f"lowest number of ready instances {least} of {judged.promises.replicas} replicas")
    if (cpu := _busiest(timeline.lifespans)) is not None:
        findings.good.append(cpu)
    return findings.verdict(
        f"At least {promised} of {judged.promises.replicas} instances were ready all the time.",
        f"Only {lowest} of {promised} promised instances were ready for a while.",
        "Not every instance shows when it's ready, so the capacity isn't proved.",
        _advice(judged, lowest) if findings.failed else _SHOW_READINESS,
    )


_SHOW_READINESS = "give the service a healthcheck that fails until warm-up is done, or let the app write the line warm"


def promise(judged: Judged) -> int:
    """How many instances must be ready at any time."""
    promises = judged.promises
    if promises.start_first:
        return max(1, promises.replicas)
    return max(1, promises.replicas - promises.at_once)


def _spans(lives: tuple[Lifespan, ...]) -> list[tuple[float, float]]:
    """From when until when each was ready, at the most that the error bars allow."""
    spans = []
    for life in lives:
        ready, until = life.ready_from, life.ready_until
        if ready is not None:
            spans.append((ready.at - ready.error, float("inf") if until is None else until.at + until.error))
    return spans


def _dips(lives: tuple[Lifespan, ...], t0: float, ended: float, promised: int) -> list[tuple[float, float, int]]:
    """(began, ended, ready) of each time in which fewer were ready than promised."""
    spans = _spans(lives)
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


def _busiest(lives: tuple[Lifespan, ...]) -> str | None:
    measured = [life for life in lives if life.cpu_max is not None]
    if not measured:
        return None
    most = max(measured, key=lambda life: life.cpu_max or 0.0)
    return f"most processor use of an instance: {most.cpu_max:.2f} cores on {label(most)}"


def _advice(judged: Judged, lowest: int | None) -> str:
    if not judged.promises.start_first and lowest == 0:
        return advise(Mechanism.NO_INSTANCE, judged.promises)
    return advise(Mechanism.COLD_START, judged.promises)
