"""Every instance that was there to serve got requests, on kept and on fresh connections.

Kept connections alone leave the traffic on the oldest instances, and what nobody asked proves
nothing. It fails only where the front door is to blame: it was given fresh connections all the while,
and sent none of their requests to an instance that was ready. On the direct front door the client keeps
its connections where they are, so there both kinds are asked of each generation, not of each instance.
"""

from __future__ import annotations

import math
from collections import Counter

from swarmtest.checks import Findings, Judged, Verdict
from swarmtest.losses import Accounted, missing
from swarmtest.losses.advice import advise
from swarmtest.losses.mechanisms import Mechanism
from swarmtest.losses.wording import each, few, label, many, number
from swarmtest.timeline import Lifespan

LONG_ENOUGH_SECONDS = 5.0
"""An instance that was ready for less under traffic may have got nothing by chance."""


def check(judged: Judged) -> Verdict:
    """Judges how many requests each instance had, by kind of connection."""
    findings = Findings()
    had: Counter[tuple[str, bool]] = Counter()
    strangers: Counter[str] = Counter()
    for group in judged.losses.groups:
        had[group.task, group.reused] += group.count
    for one in judged.losses.telling:
        if one.life is not None and _reached(one):
            had[one.life.task, one.request.reused] += 1
        elif one.request.instance is not None and one.life is None:
            strangers[one.request.instance] += 1
    for life in judged.timeline.lifespans:
        _judge(life, had[life.task, True], had[life.task, False], judged, findings)
    _judge_generations(judged, had, findings)
    if doubts := _doubts(judged, strangers):
        findings.unproved = [*findings.failed, *findings.unproved, *doubts]
        findings.failed = []
    return findings.verdict(
        f"{each(len(judged.timeline.lifespans), 'instance')} was exercised, on kept and on fresh connections.",
        f"The front door never sent a request to {many(len(findings.failed), 'instance')} that could serve.",
        "Not every instance was exercised." if findings.unproved else "No instance was seen.",
        advise(Mechanism.FRONT_DOOR_STALE, judged.promises) if findings.failed else _advice(judged, strangers),
    )


def _doubts(judged: Judged, strangers: Counter[str]) -> list[str]:
    """Why an instance of which no request is known may have had some, or may not be known at all."""
    doubts = [
        f"{many(count, 'answer')} by {name}, which is no known instance of the service"
        for name, count in sorted(strangers.items())
    ]
    nobody = sum(1 for o in judged.losses.telling if o.life is None and o.request.instance is None and _by_some(o))
    if nobody:
        doubts.append(f"{many(nobody, 'answer')} by an instance that nobody can name")
    if judged.timeline.broken:
        doubts.append(f"there may be instances that weren't seen: {judged.timeline.broken[0]}")
    elif judged.promises.replaces and not judged.timeline.new:
        doubts.append("no new instance was seen")
    return doubts


def _reached(one: Accounted) -> bool:
    """Whether it's known that the instance had it: by its own word, or by the proxy's of a whole answer."""
    if one.request.instance is not None or (one.trail is not None and one.trail.seen):
        return True
    return _answered(one) and one.proxied is not None and one.proxied.connected is not False


def _by_some(one: Accounted) -> bool:
    """Whether an instance may have made the answer, whatever it says: all but what's a proxy's own."""
    return one.request.answered and one.request.status not in (502, 503, 504)


def _answered(one: Accounted) -> bool:
    return one.request.answered and 200 <= (one.request.status or 0) < 300


def _judge(life: Lifespan, kept: int, fresh: int, judged: Judged, findings: Findings) -> None:
    line = f"{label(life)}, {life.generation}: {number(kept)} on kept connections, {number(fresh)} on fresh ones"
    seconds = _under_traffic(life, judged)
    share = judged.promises.traffic.fresh_share
    wants_kept, wants_fresh = share is None or share < 1, share != 0
    lacking = (wants_kept and not kept) or (wants_fresh and not fresh)
    if judged.promises.direct:  # the client moves a kept connection only when the server ends it
        lacking = not kept and not fresh
    if life.never_ready and not kept and not fresh:
        findings.good.append(f"{label(life)}, {life.generation}: never got healthy, so nothing was to be sent to it")
    elif not lacking:
        findings.good.append(line)
    elif math.isinf(seconds):
        findings.unproved.append(f"{line}: not exercised")
    elif seconds > LONG_ENOUGH_SECONDS and not kept and not fresh and not judged.promises.direct and wants_fresh:
        findings.failed.append(f"{line}, though it was ready for {seconds:.1f} s under traffic")
    elif seconds > LONG_ENOUGH_SECONDS:
        findings.unproved.append(f"{line}, though it was ready for {seconds:.1f} s under traffic: not exercised")
    else:
        findings.good.append(f"{line}; ready for only {seconds:.1f} s under traffic")


def _judge_generations(judged: Judged, had: Counter[tuple[str, bool]], findings: Findings) -> None:
    """Both kinds of connection, for each generation as a whole; what only takes a victim's place may get but one."""
    share = judged.promises.traffic.fresh_share
    wanted = [reused for reused in (True, False) if share is None or (share < 1 if reused else share > 0)]
    for generation in ("old", "new"):
        lives = [life for life in judged.timeline.lifespans if life.generation == generation and not life.never_ready]
        if generation == "new" and not judged.promises.replaces:
            continue
        counts = {reused: sum(had[life.task, reused] for life in lives) for reused in (True, False)}
        said = findings.failed and not any(counts.values())  # of each of them already
        for reused in wanted if lives and not said else ():
            if not counts[reused]:
                kind = "kept" if reused else "fresh"
                findings.unproved.append(f"no {generation} instance had a request on a {kind} connection")


def _under_traffic(life: Lifespan, judged: Judged) -> float:
    """Seconds for which it was ready while requests were sent."""
    began = [one.request.began for one in judged.losses.telling]
    if not began:
        return float("inf")
    ready = life.ready_from or life.mark("started")
    until = life.ready_until
    first = max(min(began), ready.at if ready is not None else life.created)
    last = min(max(began), until.at if until is not None else float("inf"))
    return max(0.0, last - first)


def _advice(judged: Judged, strangers: Counter[str]) -> str:
    if not judged.losses.names_itself:
        return missing.header(judged.promises)
    if judged.timeline.broken or not judged.timeline.lifespans:
        return missing.unseen(judged.timeline)
    if (cut_short := missing.broken_off(judged.timeline)) and not strangers:
        return cut_short
    if not strangers and not judged.losses.kept:
        return missing.KEPT
    if not strangers:
        return (
            "ask for more traffic, or for a longer run (x-swarmtest traffic, baseline), so that each instance is asked"
        )
    return (
        f"let the instance header ({few(sorted(strangers))}) be the task's ID or name, the container's ID or the"
        " hostname, such as {{.Task.Name}} in the stack's environment"
    )
