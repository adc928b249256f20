"""Nothing new arrived at an old instance after it had stopped accepting.

What arrives then is refused, or comes over a kept connection that the drain should have wound down.
The close is the app's own line; without one, requests dialled in vain after the stop signal still
show it, and nothing shows that there were none.
"""

from __future__ import annotations

from swarmtest.checks import Findings, Judged, Verdict
from swarmtest.losses import Accounted, Loss, missing
from swarmtest.losses.advice import advise
from swarmtest.losses.letting_go import measured_seconds
from swarmtest.losses.mechanisms import Mechanism, most_telling
from swarmtest.losses.whereabouts import unplaced
from swarmtest.losses.wording import few, label, many, noun_of, number
from swarmtest.timeline import Lifespan, Mark

UNHEARD = (Loss.REFUSED, Loss.UNSERVED, Loss.GATEWAY)
"""Classes of requests that no handler saw, so that nobody accepted them where they were dialled."""

RACE_SECONDS = 0.05
"""A request on its way when the listener closes isn't new any more."""

READ_SECONDS = 0.15
"""An app that first reads what was sent before its close, and then ends connections that are idle, takes what comes on
them meanwhile. It's answered, and winding down a tenth of a second later is winding down."""


def check(judged: Judged) -> Verdict:
    """Judges what came to each old instance after its close."""
    findings = Findings()
    kept: list[str] = []
    lost: list[Accounted] = []
    going = [life for life in judged.timeline.meant_to_stop if life.stopping is not None]
    for life in going:
        arrived, dialled = _after(life, judged)
        lost += dialled
        kept += [one.request.id for one in arrived]
        _tell(life, judged, arrived, dialled, findings)
    if not going:
        return findings.verdict(
            "", "", "No instance was stopped, so none stopped accepting.", missing.a_stop(judged.timeline)
        )
    return findings.verdict(
        f"Nothing new arrived at {many(len(going), noun_of(going))} after the close.",
        f"{many(len(kept) + len(lost), 'new request')} came to {noun_of(going)}s after they had stopped accepting.",
        "It isn't proved that nothing arrived after the close.",
        _advice(judged, kept, lost, going),
    )


def _after(life: Lifespan, judged: Judged) -> tuple[list[Accounted], list[Accounted]]:
    """Requests that arrived over kept connections after the close, and those that were dialled in vain."""
    closed = life.mark("closed")
    since = closed or life.mark("signalled") or life.mark("exited") or life.mark("killed")
    arrived, dialled = [], []
    for one in judged.losses.telling:
        if one.life is None or one.life.task != life.task or since is None:
            continue
        after = one.request.began - since.at - since.error
        if one.trail is not None and one.trail.start:
            if after > READ_SECONDS and closed is not None and _here_after(one, life, closed):
                arrived.append(one)
        elif after > RACE_SECONDS and _in_vain(one, judged) and (closed is not None or one.loss in UNHEARD):
            dialled.append(one)
    return arrived, dialled


def _near(life: Lifespan, judged: Judged, closed: Mark) -> list[str]:
    """IDs of requests of which a rough clock can't tell whether they came before the close."""
    if closed.error <= RACE_SECONDS:
        return []
    return [
        one.request.id
        for one in judged.losses.telling
        if one.life is not None
        and one.life.task == life.task
        and abs(one.request.began - closed.at) <= closed.error + RACE_SECONDS
        and ((one.trail is not None and bool(one.trail.start)) or _in_vain(one, judged))
    ]


def _here_after(one: Accounted, life: Lifespan, closed: Mark) -> bool:
    steps = one.trail.start if one.trail is not None else []
    return any(step.container == life.container and step.t > closed.at for step in steps)


def _in_vain(one: Accounted, judged: Judged) -> bool:
    if one.unproved or one.loss not in (*UNHEARD, Loss.UNKNOWN, Loss.TIMED_OUT):
        return False
    return judged.promises.direct or (one.proxied is not None and one.proxied.server is not None)


def _tell(
    life: Lifespan, judged: Judged, arrived: list[Accounted], dialled: list[Accounted], findings: Findings
) -> None:
    closed = life.mark("closed")
    origin = closed or life.mark("signalled") or life.mark("exited") or life.mark("killed")
    direct = judged.promises.direct
    on_kept = [one for one in dialled if direct and one.request.reused]
    fresh = [one for one in dialled if not (direct and one.request.reused)]
    for what, some in (
        ("arrived over kept connections", arrived),
        ("sent over kept connections and never read", on_kept),
        ("dialled in vain", fresh),
    ):
        if some and origin is not None:
            after = max(one.request.began for one in some) - origin.at
            word = "its close" if closed is not None else "its stop signal"
            names = few([one.request.id for one in some])
            findings.failed.append(
                f"{label(life)}: {number(len(some))} {what} up to {after:.2f} s after {word}: {names}"
            )
    if arrived or dialled:
        return
    exited = life.mark("exited")
    until = exited.at + exited.error if exited is not None else float("inf")
    hidden = unplaced(judged.losses, origin.at - origin.error, until) if origin else []
    if hidden:
        findings.unproved.append(
            f"{label(life)}: {number(len(hidden))} reached nobody known after it, perhaps it: {few(hidden)}"
        )
    elif closed is not None and (near := _near(life, judged, closed)):
        findings.unproved.append(
            f"{label(life)}: {number(len(near))} came within {closed.error:.2f} s of its close, which is its error:"
            f" {few(near)}"
        )
    elif closed is None:
        findings.unproved.append(f"{label(life)}: {_unclosed(life, judged)}, so its close wasn't seen")
    else:
        findings.good.append(f"{label(life)}: closed, and nothing new came after it")


def _unclosed(life: Lifespan, judged: Judged) -> str:
    """Why its close isn't known: one that was still stopping may have been about to write its line."""
    if missing.broken_off(judged.timeline) and life.mark("exited") is None:
        return "the run was broken off before its end"
    return "writes no line closed_listener"


def _advice(judged: Judged, kept: list[str], lost: list[Accounted], going: list[Lifespan]) -> str | None:
    closes = [life.mark("closed") for life in going]
    closes_seen = all(mark is not None for mark in closes)
    rough = any(mark is not None and mark.error > RACE_SECONDS for mark in closes)
    telling = most_telling(lost, judged.timeline, judged.witness, judged.promises)
    promises = judged.promises
    measured = measured_seconds(promises, judged.timeline, judged.losses, judged.timeline.meant_to_stop)
    if telling and len(lost) >= len(kept):
        return advise(telling[0][0], promises, lost[0].life, measured)
    if kept:
        return advise(Mechanism.KEEP_ALIVE, judged.promises)
    if lost:
        return advise(Mechanism.CLOSED_TOO_EARLY, promises, lost[0].life, measured)
    if not closes_seen:
        return missing.a_close(judged.timeline, going)
    if rough:
        return missing.CLOCKS
    return missing.to_place(judged.losses, judged.witness, judged.promises, judged.timeline)
