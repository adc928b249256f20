"""Whether a longer grace is the cure at all: the way from the stop signal to the exit, by what a run shows of it.

The findings and the advice are the judge's own. What's decided here is only which of them a grace can mend: an app that
never hears the signal, cuts its requests by itself, or is held by what nobody closes, would stop just as badly with
any grace, only later.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from swarmtest.losses.mechanisms import Mechanism
from swarmtest.reports import CheckEntry
from swarmtest.tune.seeing import Seen
from swarmtest.tune.stops import Stop

STOP_CHECKS = ("exited_within_grace", "drained_before_exit", "answered_every_request", "streams_closed_in_order")
"""What has to be right before the length of a stop means anything, causes first."""

OF_THE_GRACE = (Mechanism.GRACE_TOO_SHORT, Mechanism.SIGNAL_OR_GRACE)
"""What a longer grace may mend; the second of them shows under the generous one."""

OF_THE_STOP = (
    Mechanism.SIGNAL_IGNORED,
    Mechanism.SIGNAL_OR_GRACE,
    Mechanism.KEEP_ALIVE,
    Mechanism.STREAMS_HELD,
    Mechanism.HANGS,
    Mechanism.DRAIN_MISSING,
    Mechanism.OWN_LIMIT,
    Mechanism.SOCKETS_DESTROYED,
    Mechanism.GOAWAY_MISSING,
    Mechanism.GOAWAY_AT_ONCE,
)
"""What an app does on its way out. Under the generous grace, and on a machine that's full, only these end a tune: an
instance that dies of something else isn't counted, and the proof will show what's lost to it."""

AT_ONCE_SECONDS = 1.0
"""An end this soon after the signal is no drain."""

EARLY_SPREAD_SECONDS = 1.0
"""Stops that cut and end within so little of each other were ended by something that counts."""


def cures(seen: Seen, *, generous: bool) -> list[str]:
    """What to do instead of raising the grace; nothing where the grace may be the cure.

    Arguments:
        generous: whether the run had a grace that's long enough for any drain, so that one that ran out tells of
            something else.
    """
    found = {*seen.endings, *(way for way, _ in seen.ways)}
    if (generous or seen.full) and found and not found & {*OF_THE_STOP}:
        return []
    allowed = OF_THE_GRACE[:1] if generous else OF_THE_GRACE
    failed = [check for name in STOP_CHECKS if (check := seen.checks.get(name)) and check.outcome == "failed"]
    if found and found <= {*allowed}:
        failed = [check for check in failed if check.name == "streams_closed_in_order"]
    return list(dict.fromkeys(_cure(check) for check in failed))


def _cure(check: CheckEntry) -> str:
    return check.advice or check.sentence


def sentences(seen: Seen) -> Iterator[str]:
    """What the run tells of the way from the signal to the exit."""
    stops, count = seen.stops, len(seen.stops)
    if not stops:
        yield "no instance was stopped, so nothing is known of the way from the signal to the exit"
        return
    killed = [stop for stop in stops if stop.killed]
    own = [stop for stop in stops if stop.stop_seconds is not None and not stop.killed]
    if killed:
        grace = max(stop.grace_seconds for stop in killed)
        yield f"{len(killed)} of {count} stops ended in SIGKILL when the grace of {grace:g} s was over"
    if own:
        yield f"{len(own)} of {count} stops ended by themselves, {_span_of(own)} after the signal"
    if seen.told:
        yield f"the signal was heard on {seen.told} of {count}, by their own lines"
    cutting = [stop for stop in own if stop.lost]
    if cutting:
        yield _cut(cutting, seen)
    ways = ", ".join(f"{count} by {way.value}" for way, count in seen.ways)
    yield f"{seen.lost} of {seen.sent:,} requests were lost" + (f": {ways}" if ways else "")
    for name in STOP_CHECKS:
        if (check := seen.checks.get(name)) and check.outcome == "failed":
            yield f"{name}: {check.sentence}"


def _cut(cutting: Sequence[Stop], seen: Seen) -> str:
    seconds = [stop.stop_seconds or 0.0 for stop in cutting]
    lost = sum(stop.lost for stop in cutting)
    words = (
        f"{lost} requests were lost on {len(cutting)} stops that ended {_span(seconds)} after the signal, by no SIGKILL"
    )
    if max(seconds) < AT_ONCE_SECONDS:
        words += ": they end at once, and cut what runs"
    elif Mechanism.OWN_LIMIT in dict(seen.ways) and max(seconds) - min(seconds) <= EARLY_SPREAD_SECONDS:
        words += ": something inside the container ends the drain, at the same time on each"
    return words


def _span_of(stops: Sequence[Stop]) -> str:
    return _span([stop.stop_seconds or 0.0 for stop in stops])


def _span(seconds: Sequence[float]) -> str:
    low, high = f"{min(seconds):.1f}", f"{max(seconds):.1f}"
    return f"{low} s" if low == high else f"{low} to {high} s"
