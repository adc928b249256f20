"""New instances served only when they were ready.

Ready is what the app itself says (its line ``warm``), else Swarm's first *healthy*. A request that
started before it, an error that bears a new instance's ID, or one dialled there in vain is a fault
of start-up, however well the old instance shut down.
"""

from __future__ import annotations

from swarmtest.checks import Findings, Judged, Verdict
from swarmtest.losses import Accounted, Charge, Loss, missing
from swarmtest.losses.advice import advise
from swarmtest.losses.mechanisms import Mechanism
from swarmtest.losses.whereabouts import unplaced
from swarmtest.losses.wording import by_class, each, few, ids, label, many
from swarmtest.timeline import Lifespan, Mark


def check(judged: Judged) -> Verdict:
    """Judges what came to each new instance before it was ready."""
    findings = Findings()
    new = judged.timeline.new
    for life in new:
        mine = [one for one in judged.losses.telling if one.life and one.life.task == life.task]
        _judge(life, mine, judged, findings)
    if not new:
        return findings.verdict(
            "", "", "No new instance was made, so none could serve too early.", missing.a_stop(judged.timeline)
        )
    count = many(len(new), "new instance")
    return findings.verdict(
        f"{each(len(new), 'new instance')} served only when it was ready.",
        f"{len(findings.failed)} of {count} got requests before they were ready.",
        f"It isn't proved of {count} that each served only when it was ready.",
        advise(Mechanism.COLD_START, judged.promises) if findings.failed else _missing(judged, findings),
    )


def _judge(life: Lifespan, mine: list[Accounted], judged: Judged, findings: Findings) -> None:
    cold = [one for one in mine if one.charge is Charge.START_UP]
    ready = life.mark("warm") or life.mark("healthy")
    early = _early(life, mine, ready) if ready is not None else []
    if cold or early:
        parts = [f"{by_class(cold)} before it was ready or just after ({ids(cold)})"] if cold else []
        if early and ready is not None:
            first = ready.at - min(one.request.began for one in early)
            names = few([one.request.id for one in early])
            parts.append(f"{many(len(early), 'request')} started up to {first:.2f} s before it was ready ({names})")
        findings.failed.append(f"{label(life)}: {'; '.join(parts)}")
    elif life.never_ready and not mine and not _astray(life, judged):
        findings.good.append(f"{label(life)}: never got healthy, and nothing was sent to it")
    elif ready is None:
        findings.unproved.append(f"{label(life)}: neither a healthy state nor a line warm was seen of it")
    elif (served := life.mark("first_served")) is None:
        findings.unproved.append(f"{label(life)}: ready, but {_unserved(judged)}")
    elif perhaps := [
        *_perhaps_early(mine, ready),
        *unplaced(judged.losses, life.at("started") or life.created, ready.at, tuple(Loss)),
    ]:
        findings.unproved.append(
            f"{label(life)}: {many(len(perhaps), 'request')} sent before it was ready came to it, or to nobody known:"
            f" {few(perhaps)}"
        )
    else:
        after = served.at - ready.at
        findings.good.append(f"{label(life)}: first served {after:+.2f} s from ready ({ready.source})")


def _unserved(judged: Judged) -> str:
    """Why it isn't known when it first served; where nothing names an instance, it may have had many requests."""
    if missing.nameless(judged.losses) and not judged.witness.logs_starts:
        return "no answer and no start line names its instance, so nobody knows when it first served"
    return "no request was seen to reach it"


def _astray(life: Lifespan, judged: Judged) -> list[str]:
    """IDs of requests that were lost while it was there, and perhaps on it."""
    first, last = life.at("started") or life.created, life.at("exited") or float("inf")
    return unplaced(judged.losses, first, last, tuple(Loss))


def _early(life: Lifespan, mine: list[Accounted], ready: Mark) -> list[Accounted]:
    """Requests that a handler started, or that were answered, before it was ready."""
    found = []
    for one in mine:
        steps = [s for s in (one.trail.start if one.trail else []) if s.container == life.container]
        if steps:
            early = steps[0].t + steps[0].error < ready.at - ready.error
        else:
            early = one.request.instance is not None and one.request.ended < ready.at - ready.error
        if early:
            found.append(one)
    return found


def _perhaps_early(mine: list[Accounted], ready: Mark) -> list[str]:
    """IDs of requests sent before it was ready and answered by it after, with no record of when it began them."""
    return [
        one.request.id
        for one in mine
        if (one.trail is None or not one.trail.start)
        and one.request.instance is not None
        and one.request.began < ready.at - ready.error <= one.request.ended
    ]


def _missing(judged: Judged, findings: Findings) -> str:
    if any("neither" in line for line in findings.unproved):
        return missing.readiness(judged.timeline)
    if judged.losses.records.whole and any("no request was seen" in line for line in findings.unproved):
        return "let the front door send to each new instance while there's traffic (see exercised_every_instance)"
    if not judged.losses.names_itself and not judged.witness.logs_starts:
        return missing.header(judged.promises)
    return missing.to_place(judged.losses, judged.witness, judged.promises, judged.timeline)
