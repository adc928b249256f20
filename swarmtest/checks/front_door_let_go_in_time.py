"""The front door stopped sending to each old instance within its detection time.

Counted from the announcement (DNS, or between Swarm's decision and its signal where DNS wasn't
watched) to the last new request that it sent there, received or not; so the detection time of a front
door that only probes the app includes the 2 s that Swarm waits before the signal. Where none is
declared, letting go in those 2 s is soon enough, and only sending to an instance that's gone is surely
too late. A difference within the error bars proves nothing. On the direct front door swarmtest's own
client stands in for it: it leaves kept connections to the server, so only fresh ones count, and where
it's late that's no fault of the stack.
"""

from __future__ import annotations

from dataclasses import dataclass

from swarmtest.checks import Findings, Judged, Verdict
from swarmtest.evidence.promises import SWARM_PAUSE_SECONDS
from swarmtest.losses import missing
from swarmtest.losses.advice import advise
from swarmtest.losses.letting_go import last_arrivals, told
from swarmtest.losses.mechanisms import Mechanism
from swarmtest.losses.whereabouts import unplaced
from swarmtest.losses.wording import few, label, many, noun_of
from swarmtest.timeline import Lifespan, Mark
from swarmtest.timeline.endings import AS_ASKED, END_OF_GRACE, STOPPED_BY_SWARMTEST

_IN_ORDER = (AS_ASKED, END_OF_GRACE, STOPPED_BY_SWARMTEST, None)


@dataclass(frozen=True, slots=True)
class _Limit:
    seconds: float
    declared: bool

    @property
    def late(self) -> str:
        return f"later than {self.seconds:g} s after" if self.declared else "after it was gone, long after"


def check(judged: Judged) -> Verdict:
    """Judges the time from announcement to the last new request of each old instance."""
    findings = Findings()
    limit = _limit(judged)
    last_sent = max((one.request.began for one in judged.losses.telling), default=0.0)
    arrivals = last_arrivals(judged.promises, judged.timeline, judged.losses)
    stopped = [life for life in judged.timeline.meant_to_stop if life.cause in _IN_ORDER]
    count = many(len(stopped), noun_of(stopped))
    for life in stopped:
        _judge(life, arrivals.get(life.task), limit, last_sent, findings)
        _judge_unplaced(life, judged, limit, findings)
    if judged.promises.direct:
        findings.unproved, findings.failed = [*findings.failed, *findings.unproved], []
    if not stopped:
        none = "No instance was stopped in order, so the front door had nothing to notice."
        return findings.verdict("", "", none, missing.a_stop(judged.timeline))
    within = f"within {limit.seconds:g} s" + ("" if limit.declared else ", Swarm's own pause (no limit is declared)")
    return findings.verdict(
        f"The front door let go of {count} {within}.",
        f"The front door sent to {len(findings.failed)} of {count} {limit.late} it could know.",
        f"It isn't proved that the front door let go of {many(len(findings.unproved), noun_of(stopped))} {within}.",
        advise(Mechanism.FRONT_DOOR_STALE, judged.promises)
        if findings.failed
        else _missing(judged, stopped, arrivals, limit, last_sent),
    )


def _missing(
    judged: Judged, stopped: list[Lifespan], arrivals: dict[str, Mark], limit: _Limit, last_sent: float
) -> str:
    """What would prove it."""
    known = [mark for life in stopped if (mark := told(life)) is not None]
    if len(known) < len(stopped):
        return missing.a_stop(judged.timeline)
    cut_short = missing.broken_off(judged.timeline)
    if cut_short is not None and any(last_sent < mark.at + limit.seconds for mark in known):
        return cut_short
    if any(life.listed is None and "DNS wasn't watched" in mark.source for life in stopped if (mark := told(life))):
        return missing.NAMES
    if missing.rough_clocks(stopped):
        return missing.CLOCKS
    late = [life for life in stopped if life.task in arrivals and _after(life, arrivals[life.task]) > limit.seconds]
    if late and not limit.declared:
        return "say how long the front door may take to let go: x-swarmtest front_door.within"
    return missing.to_place(judged.losses, judged.witness, judged.promises, judged.timeline)


def _after(life: Lifespan, last: Mark) -> float:
    known = told(life)
    return last.at - known.at if known is not None else 0.0


def _limit(judged: Judged) -> _Limit:
    door = judged.promises.front_door
    declared = door.within_seconds is not None
    seconds = door.within_seconds if door.within_seconds is not None else SWARM_PAUSE_SECONDS
    return _Limit(seconds, declared)


def _judge_unplaced(life: Lifespan, judged: Judged, limit: _Limit, findings: Findings) -> None:
    """Requests that reached nobody known, while this one was going: they may have been sent to it."""
    known, exited = told(life), life.mark("exited")
    if known is None:
        return
    until = exited.at + exited.error if exited is not None else float("inf")
    lost = unplaced(judged.losses, known.at - known.error + limit.seconds, until)
    if lost:
        findings.unproved.append(
            f"{label(life)}: {many(len(lost), 'request')} later than that reached nobody known, perhaps it: {few(lost)}"
        )


def _judge(life: Lifespan, last: Mark | None, limit: _Limit, last_sent: float, findings: Findings) -> None:
    known = told(life)
    if known is None:
        findings.unproved.append(f"{label(life)}: when it was announced as stopping wasn't seen")
        return
    if last is None:
        findings.unproved.append(f"{label(life)}: no request was seen to arrive at it, so its last one is unknown")
        return
    if last_sent < known.at + limit.seconds:
        findings.unproved.append(f"{label(life)}: the traffic ended before the front door's {limit.seconds:g} s did")
        return
    seconds, error = last.at - known.at, last.error + known.error
    line = (
        f"{label(life)}: last new request {seconds:+.2f} s ± {error:.2f} s from {_what(life)}"
        f" (limit {limit.seconds:g} s; {known.source}; {last.source})"
    )
    exited = life.mark("exited")
    gone = exited is not None and last.at - last.error > exited.at + exited.error
    if seconds - error > limit.seconds and (limit.declared or gone):
        findings.failed.append(line)
    elif seconds - error > limit.seconds:
        findings.unproved.append(f"{line}: no limit is declared to hold it to")
    elif seconds + error > limit.seconds:
        findings.unproved.append(f"{line}: within the error bar of the limit")
    else:
        findings.good.append(line)


def _what(life: Lifespan) -> str:
    """What the front door could notice first."""
    return "announced" if told(life) is life.mark("announced") else "its first sign of going"
