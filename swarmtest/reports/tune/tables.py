"""What all reports of a tune show, as text: the sum, the stops, the histogram."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor

from swarmtest.reports.tune import MEASURE, Recommendation, Setting, StopRow, Tune, TuneRun
from swarmtest.reports.wording import counted, number, percent

RUN_COLUMNS = ("run", "for", "grace", "instances", "stops", "killed", "sent", "lost", "verdict", "took")
STOP_COLUMNS = (
    "run",
    "instance",
    "grace",
    "propagation",
    "wait",
    "drain",
    "closing",
    "stop",
    "slack",
    "lost",
    "counts",
)
UNSEEN = "–"

MOST_BARS = 24
NICE_SECONDS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 60.0, 120.0, 600.0)


@dataclass(frozen=True, slots=True)
class Bar:
    """So many stops took from ``low`` to less than ``high`` seconds."""

    low: float
    high: float
    count: int

    @property
    def name(self) -> str:
        """``4.5–5.0``."""
        digits = 1 if self.high - self.low < 1 else 0
        return f"{self.low:.{digits}f}–{self.high:.{digits}f}"


def sentence(tune: Tune) -> str:
    """What came of it, in one line."""
    found = tune.recommendation
    if tune.cures:
        return "A longer grace isn't the cure."
    if found is None:
        return "No value is recommended: there isn't enough evidence for one."
    proof = {"passed": "proved", "failed": "and it doesn't hold"}.get(tune.outcome, "not proved")
    return f"stop_grace_period: {found.grace_seconds}s, {proof}."


def because(found: Recommendation) -> Iterator[str]:
    """How the value came about."""
    parts, bound = found.sum, found.bound
    yield (
        f"the mechanism's sum: {parts.wait:.1f} s wait ({parts.wait_source}) + {parts.longest:.1f} s longest request"
        f" ({parts.longest_source}) + {parts.closing:.1f} s closing + {parts.abort:.0f} s abort = {parts.total:.1f} s"
    )
    yield (
        f"the bound: the longest of {counted(bound.stops, 'stop')} in {counted(bound.rollouts, 'rollout')} took"
        f" {bound.longest:.1f} s, which covers {percent(bound.coverage)} of stops at a confidence of"
        f" {percent(bound.reached)} ({percent(bound.confidence)} asked for: {bound.needed} stops)"
    )
    now = found.now_seconds
    change = "as it is" if now == found.grace_seconds else f"the file says {now:g} s"
    yield f"{found.decided_by} decides; whole seconds, rounded up: {found.grace_seconds} s ({change})"


def setting_words(setting: Setting) -> str:
    """``deploy.update_config.delay: 8s (now 5s)``; what fits may stay."""
    more = " or more" if setting.seconds is not None else ""
    if setting.fits and setting.now is not None:
        return f"{setting.key}: {setting.now} may stay ({setting.wanted}{more})"
    return f"{setting.key}: {setting.wanted}" + (f" (now {setting.now})" if setting.now is not None else "")


def run_cells(run: TuneRun, place: int) -> tuple[str, ...]:
    """A row of the table of runs."""
    verdict = (run.outcome or UNSEEN).replace("_", " ") if run.ended in (None, "finished") else str(run.ended)
    took = UNSEEN if run.seconds is None else f"{run.seconds:.0f} s"
    lost = number(run.lost) + (f" (+{run.unproved} unproved)" if run.unproved else "")
    values = (run.replicas, run.stops, run.killed)
    return (
        str(place),
        run.purpose,
        f"{run.grace_seconds:g} s",
        *map(number, values),
        number(run.sent),
        lost,
        verdict,
        took,
    )


def stop_rows(tune: Tune) -> list[tuple[str, ...]]:
    """The table of stops: only those of the measuring runs count."""
    return [_stop_cells(stop, tune.runs[stop.run - 1].purpose) for stop in tune.stops]


def _stop_cells(stop: StopRow, purpose: str) -> tuple[str, ...]:
    times = (stop.propagation_seconds, stop.wait_seconds, stop.drain_seconds, stop.closing_seconds, stop.stop_seconds)
    slack = UNSEEN if stop.stop_seconds is None else f"{stop.grace_seconds - stop.stop_seconds:.2f}"
    return (
        str(stop.run),
        f"{stop.instance} ({stop.task[:8]})",
        f"{stop.grace_seconds:g}",
        *(UNSEEN if seconds is None else f"{seconds:.2f}" for seconds in times),
        slack,
        str(stop.lost),
        stop.why_not or ("yes" if purpose == MEASURE else f"no, {purpose}"),
    )


def measured_stops(tune: Tune) -> list[StopRow]:
    """The stops that count: those of the measuring runs that were seen whole."""
    runs = {place for place, run in enumerate(tune.runs, 1) if run.purpose == MEASURE}
    return [stop for stop in tune.stops if stop.run in runs and not stop.why_not]


def histogram(stops: Sequence[StopRow]) -> list[Bar]:
    """How long stops took, in bars of a nice width, without empty ones before the first and after the last."""
    seconds = [stop.stop_seconds for stop in stops if stop.stop_seconds is not None]
    if not seconds:
        return []
    low, high = min(seconds), max(seconds)
    width = next((width for width in NICE_SECONDS if (high - low) / width <= MOST_BARS / 2), NICE_SECONDS[-1])
    first, last = floor(low / width + 1e-9), floor(high / width + 1e-9)
    first = max(first, last - MOST_BARS + 1)
    counts = [0] * (last - first + 1)
    for value in seconds:
        counts[max(0, floor(value / width + 1e-9) - first)] += 1
    return [Bar((first + place) * width, (first + place + 1) * width, count) for place, count in enumerate(counts)]


def bar(count: int, most: int, width: int) -> str:
    """A bar of block characters, never empty where there's something."""
    return "█" * max(1, ceil(width * count / max(1, most))) if count else ""


def edge_words(tune: Tune) -> Iterator[str]:
    """The boundary, and what was tried for it."""
    found = tune.edge
    if found is None:
        return
    if found.killed_seconds is not None and found.safe_seconds is not None:
        yield f"an instance is killed with a grace of {found.killed_seconds} s, and none with {found.safe_seconds} s"
    elif found.killed_seconds is not None:
        yield f"an instance is killed with {found.killed_seconds} s; no value was found with which none is"
    else:
        yield f"none is killed with {found.safe_seconds} s, nor with any shorter grace that was tried"
    for tried in found.tried:
        yield f"{tried.grace_seconds} s: {tried.killed} of {counted(tried.stops, 'stop')} killed"
