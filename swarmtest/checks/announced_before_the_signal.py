"""Each instance that Swarm stopped was announced as going before it had its stop signal.

Swarm takes a task out of DNS, waits 2 s, and only then sends the signal; a front door that watches
DNS has that time to let go. An app by itself can only react to the signal, so *unready* stands beside
it and decides nothing. What's stopped by hand, by swarmtest or anybody else, is announced by nobody:
it's told, and not judged.
"""

from __future__ import annotations

from swarmtest.checks import Findings, Judged, Verdict
from swarmtest.losses import missing
from swarmtest.losses.wording import apart, few, label, many
from swarmtest.timeline import Lifespan, Mark, Timeline
from swarmtest.timeline.endings import AS_ASKED, END_OF_GRACE


def check(judged: Judged) -> Verdict:
    """Judges the time from announcement to signal of each instance that Swarm told to stop."""
    findings = Findings()
    told = [life for life in judged.timeline.meant_to_stop if life.mark("signalled") is not None]
    orderly = [life for life in told if _by_swarm(life, judged.timeline)]
    by_hand = [life for life in told if life not in orderly]
    for life in orderly:
        _judge(life, findings)
    if not orderly:
        return findings.verdict("", "", _nobody(by_hand), missing.a_stop(judged.timeline) if not by_hand else None)
    if by_hand and findings.good:
        findings.good.append(_hand_made(by_hand))
    count = many(len(orderly), "instance")
    return findings.verdict(
        f"{count} told to stop by Swarm {'was' if len(orderly) == 1 else 'were'} announced before the signal.",
        f"{len(findings.failed)} of {count} had the stop signal before the announcement.",
        f"It isn't proved of {count} that the announcement came before the signal.",
        _advice(orderly, judged.timeline, findings),
    )


def _by_swarm(life: Lifespan, timeline: Timeline) -> bool:
    """Whether Swarm told it to stop, before anybody else did."""
    by_hand = any(victim.name in ("stop", "signal") and not victim.in_stop for victim in timeline.hurts(life))
    return not by_hand and life.cause in (AS_ASKED, END_OF_GRACE, None)


def _judge(life: Lifespan, findings: Findings) -> None:
    announced, signalled = life.mark("announced"), life.mark("signalled")
    if signalled is None:
        return
    if announced is None or _reckoned(announced):
        decided = f"; Swarm's decision {_before(life.desired_stop, signalled)}" if life.desired_stop else ""
        why = _NEVER_LISTED if life.stopped_unlisted else "nobody saw it leave DNS"
        findings.unproved.append(f"{label(life)}: {why}{decided}")
        return
    seconds, error = apart(announced, signalled)
    line = f"{label(life)}: announced {_before(announced, signalled)}{_unready(life, signalled)}"
    if seconds > error:
        findings.good.append(line)
    elif seconds < -error and _decided_before(life, signalled):
        findings.failed.append(line)
    elif seconds < -error:
        findings.unproved.append(f"{line}; nothing shows that Swarm had decided to stop it before")
    else:
        findings.unproved.append(f"{line}: within the error bars")


_NEVER_LISTED = "never listed in DNS, since it was told to stop before it was up (healthy, where that's checked)"


def _decided_before(life: Lifespan, signalled: Mark) -> bool:
    """Whether Swarm's decision surely came first, so that the signal is Swarm's and no end of another kind."""
    return life.desired_stop is not None and life.desired_stop.at < signalled.at - signalled.error


def _reckoned(announced: Mark) -> bool:
    """Whether the mark was reckoned from the signal, of which it can prove nothing then."""
    return "DNS wasn't watched" in announced.source


def _before(first: Mark, signalled: Mark) -> str:
    seconds, error = apart(first, signalled)
    return f"{abs(seconds):.2f} s ± {error:.2f} s {'before' if seconds >= 0 else 'after'} the signal"


def _unready(life: Lifespan, signalled: Mark) -> str:
    unready = life.mark("unready")
    return ", its readiness not seen to turn" if unready is None else f", unready {_before(unready, signalled)}"


def _hand_made(lives: list[Lifespan]) -> str:
    names = few([f"{label(life)} ({life.cause})" for life in lives])
    return f"stopped by hand, which nothing announces before the signal: {names}"


def _nobody(by_hand: list[Lifespan]) -> str:
    if not by_hand:
        return "No instance was told to stop, so none was announced."
    return f"No instance was told to stop by Swarm; {_hand_made(by_hand)}."


def _advice(orderly: list[Lifespan], timeline: Timeline, findings: Findings) -> str | None:
    if findings.failed:
        return (
            "let the front door find out by the app itself: keep accepting after the stop signal until the front door"
            " has let go, as it isn't told before"
        )
    if any(_needs_a_watcher(life) for life in orderly):
        return missing.NAMES
    if all(_NEVER_LISTED in line for line in findings.unproved):
        return missing.broken_off(timeline)
    return missing.CLOCKS if missing.rough_clocks(orderly) else missing.unseen(timeline)


def _needs_a_watcher(life: Lifespan) -> bool:
    """Whether nobody watched DNS; where names were seen, the image has all that the watcher needs."""
    announced = life.mark("announced")
    return life.listed is None and (announced is None or _reckoned(announced))
