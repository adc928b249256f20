"""The grace of each stopped instance exceeds what its longest request may need.

Needed is the measured wait from the signal until it stopped accepting (of one that tells no close, at
most the time until its exit), the longest request that was planned or measured, and a margin. Had is the
grace of the task's own spec in whole seconds, since the engine cuts fractions, and a changed grace counts
from the next task on. A drain that happened to be short proves nothing: it's the longest one that must fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, isfinite

from swarmtest.checks import Findings, Judged, Verdict
from swarmtest.losses import missing
from swarmtest.losses.advice import MARGIN_SECONDS
from swarmtest.losses.mechanisms import Mechanism, ending_of
from swarmtest.losses.wording import each, label, many
from swarmtest.timeline import Lifespan, Timeline
from swarmtest.timeline.endings import AS_ASKED, END_OF_GRACE, STOPPED_BY_SWARMTEST


@dataclass(frozen=True, slots=True)
class _Longest:
    seconds: float
    source: str


def check(judged: Judged) -> Verdict:
    """Judges the numbers of each instance that was told to stop, whether or not it needed them."""
    findings = Findings()
    stopped = [life for life in judged.timeline.meant_to_stop if _asked(life, judged.timeline)]
    longest = _longest(judged)
    if not stopped:
        return findings.verdict(
            "", "", "No instance was told to stop, so no grace was tried.", missing.a_stop(judged.timeline)
        )
    if longest is None:
        return findings.verdict(
            "", "", "How long a request may take isn't known, so no grace is known to do.", _DECLARE
        )
    for life in stopped:
        _judge(life, longest, findings)
    findings.good += _cut(judged)
    count = many(len(stopped), "instance")
    return findings.verdict(
        f"{each(len(stopped), 'stopped instance')} had a grace that exceeds its longest request of"
        f" {longest.seconds:.1f} s with {MARGIN_SECONDS:g} s to spare.",
        f"The grace of {len(findings.failed)} of {count} is too short for the longest request of"
        f" {longest.seconds:.1f} s.",
        f"It isn't proved that the grace of {count} exceeds the longest request.",
        _advice(judged, stopped, longest) if findings.failed else _missing(judged.timeline, stopped),
    )


_DECLARE = "say how long a request may take: x-swarmtest longest_request, or milliseconds of each kind of traffic"


def _asked(life: Lifespan, timeline: Timeline) -> bool:
    """Whether it was asked to stop with its grace; a signal sent by hand knows of none."""
    signals = any(victim.name == "signal" and not victim.in_stop for victim in timeline.hurts(life))
    return life.mark("signalled") is not None and not signals and life.cause in _WITH_A_GRACE


_WITH_A_GRACE = (AS_ASKED, END_OF_GRACE, STOPPED_BY_SWARMTEST, None)


def _longest(judged: Judged) -> _Longest | None:
    """The longest request that was planned, or the longest one that was served where that's longer."""
    planned = judged.promises.longest_request_seconds
    measured = max(0.0, float(judged.requests.rows(_MEASURED)[0][0] or 0.0))
    if planned <= 0 and measured <= 0:
        return None
    if planned >= measured:
        return _Longest(planned, "planned")
    return _Longest(measured, "measured" + (f", {planned:g} s planned" if planned > 0 else ", none is declared"))


_MEASURED = """
SELECT max(coalesce(finished - started, ended - connected)) FROM accounted WHERE loss = 'ok'
"""
"""How long an instance had the longest request; where it keeps no records, how long the client waited for it once it
was connected.

The instance's own word comes first: a second that a connection took to be made is no work of the instance's
(moby/moby #35082).
"""


def _judge(life: Lifespan, longest: _Longest, findings: Findings) -> None:
    least, most, error = _wait(life)
    rest = longest.seconds + MARGIN_SECONDS
    grace = float(int(life.grace_seconds))
    line = (
        f"{label(life)}: grace {grace:g} s; needed {least + rest:.1f} s: {least:.1f} s until it stopped accepting,"
        f" {longest.seconds:.1f} s the longest request ({longest.source}), {MARGIN_SECONDS:g} s margin"
    )
    if most > least:
        upto = f"may have been up to {most:.1f} s" if isfinite(most) else "isn't known"
        line += f"; its close wasn't seen, so the wait {upto}"
    if grace <= least + rest - error or (grace <= least + rest and error < missing.ROUGH_SECONDS):
        findings.failed.append(line)
    elif grace > most + rest + error:
        findings.good.append(line)
    else:
        findings.unproved.append(line if most > least else f"{line}; give or take {error:.1f} s")


def _wait(life: Lifespan) -> tuple[float, float, float]:
    """Seconds from the signal until it stopped accepting, at least and at most, and their error.

    Where its close wasn't seen, it came some time before its exit.
    """
    signalled, closed, exited = life.mark("signalled"), life.mark("closed"), life.mark("exited")
    if signalled is None:
        return 0.0, float("inf"), 0.0
    if closed is not None:
        wait = max(0.0, closed.at - signalled.at)
        return wait, wait, closed.error + signalled.error
    if exited is None:
        return 0.0, float("inf"), signalled.error
    return 0.0, max(0.0, exited.at - signalled.at), exited.error + signalled.error


def _cut(judged: Judged) -> list[str]:
    """What the engine makes of a grace that isn't whole seconds."""
    grace = judged.promises.stack.grace_seconds
    if grace is None or grace == int(grace):
        return []
    return [f"stop_grace_period {grace:g} s acts as {int(grace)} s: the engine cuts fractions"]


def _missing(timeline: Timeline, stopped: list[Lifespan]) -> str:
    return missing.CLOCKS if all(life.mark("closed") for life in stopped) else missing.a_close(timeline, stopped)


_NO_GRACE_HELPS = (
    Mechanism.SIGNAL_IGNORED,
    Mechanism.SIGNAL_OR_GRACE,
    Mechanism.KEEP_ALIVE,
    Mechanism.HANGS,
    Mechanism.STREAMS_HELD,
)
"""Ends for which a longer grace only makes each rollout longer, until something else is mended."""


def _advice(judged: Judged, stopped: list[Lifespan], longest: _Longest) -> str:
    needed = max(ceil(_wait(life)[0] + longest.seconds + MARGIN_SECONDS) for life in stopped)
    least = min(int(life.grace_seconds) for life in stopped)
    needed = needed if needed > least else least + 1
    if any(ending_of(life, judged.witness) in _NO_GRACE_HELPS for life in stopped):
        return (
            "mend the shutdown first (exited_within_grace says how), since until then a longer grace only delays each"
            f" rollout; then a grace of {least} s is still too short: it has to be {needed} s at least"
        )
    return (
        f"raise stop_grace_period from {least} s to at least {needed} s"
        " (a changed grace counts from the next replacement on)"
    )
