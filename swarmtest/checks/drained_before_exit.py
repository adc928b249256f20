"""Every old instance finished what it was doing before it exited.

It's only proved where there was something to finish: when it was signalled, each old instance must
have had a request with at least a second to run. An exit code of 0 proves nothing.
"""

from __future__ import annotations

from swarmtest.checks import Findings, Judged, Verdict
from swarmtest.evidence.promises import SWARM_PAUSE_SECONDS, Promises
from swarmtest.losses import Accounted, Charge, Loss, missing
from swarmtest.losses.advice import advise
from swarmtest.losses.mechanisms import most_telling
from swarmtest.losses.whereabouts import perhaps_cut
from swarmtest.losses.wording import by_class, each, few, ids, label, many, noun_of
from swarmtest.timeline import Lifespan

ENOUGH_SECONDS = 1.0
"""How long a request must have had to run, for its end to prove a drain."""

LONG_SECONDS = SWARM_PAUSE_SECONDS + 2 * ENOUGH_SECONDS
"""What's sent just before the front door lets go runs on for long enough then, with a second to spare."""

LONGER = (
    f"let each request of a kind take longer, {LONG_SECONDS:g} s say (x-swarmtest traffic kinds ms): the front door"
    f" lets go of an instance about {SWARM_PAUSE_SECONDS:g} s before its signal, so what's sent before that has to run"
    f" for more than {SWARM_PAUSE_SECONDS:g} s + {ENOUGH_SECONDS:g} s"
)
MORE = (
    f"send more of the requests that take {LONG_SECONDS:g} s or longer (x-swarmtest traffic kinds rate), so that each"
    " instance has one when it's signalled"
)


def check(judged: Judged) -> Verdict:
    """Judges what ran on each old instance when it was signalled, and when it exited."""
    findings = Findings()
    cut: list[Accounted] = []
    on: dict[str, list[Accounted]] = {}
    for one in judged.losses.telling:
        if one.life is not None:
            on.setdefault(one.life.task, []).append(one)
    going = [life for life in judged.timeline.meant_to_stop if life.stopping is not None]
    for life in going:
        cut += _judge(life, on.get(life.task, []), judged, findings)
    if not going:
        return findings.verdict(
            "", "", "No instance was stopped, so none had to drain.", missing.a_stop(judged.timeline)
        )
    noun = noun_of(going)
    count = many(len(going), noun)
    telling = most_telling(cut, judged.timeline, judged.witness, judged.promises)
    victim = cut[0].life if cut else None
    return findings.verdict(
        f"{each(len(going), noun)} finished its requests before it exited.",
        f"{many(len(cut), 'request')} still ran when an {noun} exited, or were cut by it.",
        f"It isn't proved of {count} that each drains.",
        advise(telling[0][0], judged.promises, victim) if telling else _advice(findings, judged),
    )


def _judge(life: Lifespan, mine: list[Accounted], judged: Judged, findings: Findings) -> list[Accounted]:
    """Adds what's found of one instance, and hands back the requests that it didn't finish."""
    cut = [one for one in mine if _cut_by(one, life) and not one.broken_off]
    if cut:
        findings.failed.append(f"{label(life)}: {by_class(cut)} ({ids(cut)}){_when(life, cut)}")
        return cut
    signalled, exited = life.mark("signalled"), life.mark("exited")
    if signalled is None or exited is None:
        missing = "stop signal" if signalled is None else "exit"
        findings.unproved.append(f"{label(life)}: its {missing} wasn't seen")
        return cut
    running = [(one, left) for one in mine if (left := _left(one, life, signalled.at)) > 0]
    longest = max((left for one, left in running if _finished(one, life)), default=0.0)
    open_ended = [one for one, _ in running if not _finished(one, life)]
    if perhaps := perhaps_cut(judged.losses, life, (life.stopping or signalled).at):
        findings.unproved.append(
            f"{label(life)}: {many(len(perhaps), 'request')} may have been cut by it: {few(perhaps)}"
        )
    elif open_ended:
        findings.unproved.append(f"{label(life)}: nothing proves the end of {ids(open_ended)}, which ran at the signal")
    elif not running:
        findings.unproved.append(f"{label(life)}: {_NONE} when it was signalled, so nothing shows a drain")
    elif longest < ENOUGH_SECONDS + signalled.error:
        findings.unproved.append(
            f"{label(life)}: {many(len(running), 'request')} ran when it was signalled, the longest for"
            f" {longest:.2f} s ± {signalled.error:.2f} s more; {ENOUGH_SECONDS:g} s {_SHORT}"
        )
    else:
        after = exited.at - signalled.at
        findings.good.append(
            f"{label(life)}: all {many(len(running), 'request')} that ran when it was signalled were answered, the"
            f" longest {longest:.2f} s later; exit {after:.2f} s after the signal"
        )
    return cut


_NONE, _SHORT = "no request was seen to run", "is needed"


def _finished(one: Accounted, life: Lifespan) -> bool:
    """Whether it's proved that it ran to its end: by a whole answer, or by the instance's own word."""
    if one.trail is not None and any(step.container == life.container for step in one.trail.finish):
        return True
    return one.request.answered and not one.unproved and one.request.instance is not None


def _cut_by(one: Accounted, life: Lifespan) -> bool:
    """Whether a request ran on it and was cut by its stop, or still ran when it exited."""
    started = one.trail is not None and one.trail.seen
    stopping, exited = life.stopping, life.mark("exited")
    if stopping is None or one.loss is Loss.OK or one.charge is Charge.BACKGROUND:
        return False
    if one.loss in (Loss.CUT, Loss.CUT_FINISHED) or (one.loss is Loss.UNKNOWN and started and not one.unproved):
        return one.request.ended >= stopping.at - stopping.error
    if not started or exited is None or one.trail is None:
        return False
    return one.trail.start[:1] != [] and not one.trail.finish and one.request.ended >= exited.at - exited.error


def _left(one: Accounted, life: Lifespan, signalled: float) -> float:
    """Seconds that a request had to run on this instance when it was signalled; 0 where it didn't run."""
    starts = [s.t for s in (one.trail.start if one.trail else []) if s.container == life.container]
    began = min(starts, default=one.request.began)
    ends = [s.t for s in (one.trail.finish if one.trail else []) if s.container == life.container]
    ended = max(ends, default=one.request.ended)
    return ended - signalled if began <= signalled < ended else 0.0


def _when(life: Lifespan, cut: list[Accounted]) -> str:
    signalled, exited = life.at("signalled"), life.at("exited")
    if signalled is None:
        return ""
    at = max(0.0, min(one.request.ended for one in cut) - signalled)
    gone = f", exit {exited - signalled:.2f} s after it with code {life.exit_code}" if exited is not None else ""
    return f"; the first {at:.2f} s after the signal{gone}"


def _advice(findings: Findings, judged: Judged) -> str | None:
    if findings.failed:
        return None
    if any("wasn't seen" in line for line in findings.unproved):
        return missing.unseen(judged.timeline)
    if any(
        mark.error > missing.ROUGH_SECONDS for life in judged.timeline.meant_to_stop if (mark := life.mark("signalled"))
    ):
        return missing.CLOCKS
    placed = any(one.life is not None for one in judged.losses.telling)
    none, short = (any(words in line for line in findings.unproved) for words in (_NONE, _SHORT))
    if not placed or not (none or short):
        return missing.to_place(judged.losses, judged.witness, judged.promises, judged.timeline)
    return MORE if _sends_long_ones(judged.promises, short=short) else LONGER


def _sends_long_ones(promises: Promises, *, short: bool) -> bool:
    """Whether the traffic has requests that are long enough, and only too few of them.

    Arguments:
        short: an instance had requests, and none was long enough; then it takes more than a promise of long ones.
    """
    least = [
        min(kind.milliseconds) / 1000 for kind in promises.traffic.kinds if kind.milliseconds and not kind.is_stream
    ]
    if any(seconds >= LONG_SECONDS for seconds in least):
        return True
    return not short and promises.longest_request_seconds >= LONG_SECONDS
