"""The first requests on each new instance were about as quick as its later ones.

A start that's slow and loses nothing is no loss, and no other check sees it. The first ten requests of a kind are
held against the later ones of the same instance: half of them, and the slowest. Where other instances were slow
at the same time, it isn't put down to a cold start.
"""

from __future__ import annotations

from swarmtest.checks import Findings, Judged, Verdict
from swarmtest.evidence.traffic import ColdStartPromise
from swarmtest.losses import missing
from swarmtest.losses.warming import LEAST_FIRST, LEAST_LATER, Warming, read_warming, slowness
from swarmtest.losses.wording import each, label, many

LEAST_MS = 100.0
"""Less than that isn't called slow, whatever it is a multiple of."""

ADVICE = (
    "let the healthcheck (and what the front door asks) fail until the app is really warm: pool open, caches filled,"
    " one request of each kind made; or allow for it (x-swarmtest cold_start)"
)
FEW = (
    "send more of one kind (at least a request a second for each instance), and let the run go on a little after the"
    " last start"
)


def check(judged: Judged) -> Verdict:
    """Judges each new instance by the kinds of which it had enough."""
    findings = Findings()
    if not judged.timeline.new:
        unmade = missing.a_stop(judged.timeline) if judged.promises.replaces else missing.broken_off(judged.timeline)
        return findings.verdict("", "", "No new instance was made, so none could start cold.", unmade)
    nameless = missing.nameless(judged.losses)
    warmings, too_few = read_warming(judged.requests, judged.timeline)
    limit = judged.promises.cold_start
    for warming in warmings:
        (findings.failed if _is_cold(warming, limit) else findings.good).append(_line(warming))
    known = {warming.life.task for warming in warmings}
    served = {life.task for life, _ in too_few} | known
    for life in judged.timeline.new:
        if life.task not in known and (life.task in served or life.ready_from is not None):
            findings.unproved.append(f"{label(life)} {_NAMELESS if nameless else _TOO_FEW}")
    cold = {line.split(":")[0].rpartition(" on ")[2] for line in findings.failed}
    return findings.verdict(
        f"{each(len(known), 'new instance')} was about as quick at first as later{_figures(warmings)}.",
        f"The first requests on {many(len(cold), 'new instance')} were slow beside later ones"
        f" (more than {_words(limit)}).",
        _unproved(nameless=nameless, some=bool(known)),
        ADVICE if findings.failed else _missing(judged, nameless=nameless),
    )


_TOO_FEW = (
    f"answered fewer than {LEAST_FIRST} + {LEAST_LATER} requests of any kind,"
    " so first and later ones can't be told apart"
)
_NAMELESS = "may have answered any of the requests: no answer names its instance"


def _unproved(*, nameless: bool, some: bool) -> str:
    if nameless:
        return "No answer names its instance, so nothing tells how quick the first ones of a new instance were."
    which = "Not every" if some else "No"
    return f"{which} new instance had enough requests to tell whether it started cold."


def _missing(judged: Judged, *, nameless: bool) -> str:
    """What would tell: more traffic is no help where nobody knows whose an answer is, or where the run broke off."""
    if nameless:
        return missing.header(judged.promises)
    return missing.broken_off(judged.timeline) or FEW


def _figures(warmings: list[Warming]) -> str:
    """The instance and kind that came closest to a cold start."""
    if not warmings:
        return ""
    worst = max(warmings, key=slowness)
    beside = f"half of the first requests within {worst.first_ms:,.0f} ms, usually {worst.usual_ms:,.0f}"
    return f": {beside} ({worst.kind} on {label(worst.life)})"


def _is_cold(warming: Warming, limit: ColdStartPromise) -> bool:
    pairs = ((warming.first_ms, warming.usual_ms), (warming.first_most_ms, warming.usual_most_ms))
    return any(first > _allowed(usual, limit) for first, usual in pairs)


def _allowed(usual: float, limit: ColdStartPromise) -> float:
    if limit.seconds is not None:
        return usual + limit.seconds * 1000
    return max(usual * (limit.times or 1.0), usual + LEAST_MS)


def _words(limit: ColdStartPromise) -> str:
    if limit.seconds is not None:
        return f"{limit.seconds * 1000:,.0f} ms longer"
    return f"{limit.times:g} times as long"


def _line(warming: Warming) -> str:
    return (
        f"{warming.kind} on {label(warming.life)}: half of the first {warming.first} within {warming.first_ms:,.0f} ms,"
        f" the slowest {warming.first_most_ms:,.0f}; usual {warming.usual_ms:,.0f} and {warming.usual_most_ms:,.0f}"
        f" ({warming.later:,} later ones)"
    )
