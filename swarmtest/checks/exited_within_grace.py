"""Every old instance exited by itself, within its grace.

The engine's events decide: a signal sent is no exit, a second one with number 9 is the end of the
grace, and an exit code of 0 proves no drain. How long it took is counted from the stop signal.
"""

from __future__ import annotations

from swarmtest.checks import Findings, Judged, Verdict
from swarmtest.losses import missing
from swarmtest.losses.advice import advise
from swarmtest.losses.mechanisms import Mechanism, ending_of
from swarmtest.losses.wording import apart, each, label, many, noun_of
from swarmtest.timeline import Lifespan
from swarmtest.timeline.endings import AS_ASKED, STOPPED_BY_OTHERS, STOPPED_BY_SWARMTEST

ORPHAN_SLACK_SECONDS = 5.0
"""A task that runs on this long after its grace is an orphan: Swarm wants it gone, and it serves."""

ORPHANED = "see why Swarm can't end the task: docker service ps --no-trunc, and the engine's log on its node"


def check(judged: Judged) -> Verdict:
    """Judges the end of each old instance."""
    findings = Findings()
    advice: str | None = None
    going = judged.timeline.meant_to_stop
    for life in going:
        found = ending_of(life, judged.witness)
        if found is not None:
            findings.failed.append(_bad_end(life, found))
            advice = advice or advise(found, judged.promises, life)
        else:
            _judge(life, judged, findings)
    count = many(len(going), noun_of(going))
    orphans = [life for life in judged.timeline.lifespans if life not in going and _is_orphan(life, judged)]
    findings.failed += [_orphan(life, judged) for life in orphans]
    if not going and not orphans:
        return findings.verdict("", "", "No instance was stopped, so no end was seen.", missing.a_stop(judged.timeline))
    return findings.verdict(
        f"{each(len(going), noun_of(going))} exited by itself within its grace.",
        f"{len(findings.failed)} of {many(len(going) + len(orphans), noun_of([*going, *orphans]))} didn't exit by"
        " themselves within the grace.",
        f"The end of {len(findings.unproved)} of {count} wasn't seen.",
        advice or _advice(judged, findings),
    )


def _advice(judged: Judged, findings: Findings) -> str | None:
    """What to do where no instance had an end that's mended by a setting."""
    if not findings.failed:
        return missing.a_stop(judged.timeline)
    return ORPHANED if any(_is_orphan(life, judged) for life in judged.timeline.lifespans) else None


def _bad_end(life: Lifespan, found: Mechanism) -> str:
    signalled, killed = life.mark("signalled"), life.mark("killed") or life.mark("exited")
    after = ""
    if signalled is not None and killed is not None:
        after = f" {killed.at - signalled.at:.1f} s after the signal (grace {life.grace_seconds:g} s)"
    code = f", exit code {life.exit_code}" if life.exit_code is not None else ""
    return f"{label(life)}: {life.cause}{after}{code}; {found.value}"


def _judge(life: Lifespan, judged: Judged, findings: Findings) -> None:
    signalled, exited = life.mark("signalled"), life.mark("exited")
    if exited is None:
        findings_of, line = _unfinished(life, judged, findings)
        findings_of.append(line)
        return
    if signalled is None:
        broken = f" ({judged.timeline.broken[0]})" if judged.timeline.broken else ""
        findings.unproved.append(f"{label(life)}: exited, but its stop signal wasn't seen{broken}")
        return
    seconds, error = apart(signalled, exited)
    line = (
        f"{label(life)}: exit code {life.exit_code} {seconds:.2f} s after signal {life.signal},"
        f" {life.grace_seconds - seconds:.2f} s before the end of its grace of {life.grace_seconds:g} s"
    )
    if life.cause == STOPPED_BY_OTHERS:
        findings.unproved.append(f"{line}; but Swarm hadn't asked it to stop")
    elif life.exit_code == 137:
        findings.failed.append(f"{line}; 137 is a SIGKILL, though the engine's event of it wasn't seen")
    elif seconds - error > life.grace_seconds + 1.0:
        findings.failed.append(f"{line}: later than the grace")
    elif life.cause in (AS_ASKED, STOPPED_BY_SWARMTEST):
        findings.good.append(line)
    else:
        findings.unproved.append(f"{line}; {life.cause or 'who asked it to stop is unknown'}")


def _unfinished(life: Lifespan, judged: Judged, findings: Findings) -> tuple[list[str], str]:
    """What to say of one whose exit wasn't seen: an orphan, one that's draining, or one not stopped at all."""
    told, ended = life.desired_stop or life.mark("announced") or life.mark("signalled"), judged.timeline.ended
    if told is None or ended is None:
        return findings.unproved, f"{label(life)}: not asked to stop before the run ended"
    if _is_orphan(life, judged):
        return findings.failed, _orphan(life, judged)
    age = ended - told.at
    return findings.unproved, f"{label(life)}: still stopping when the run ended, {age:.1f} s after it was told to"


def _is_orphan(life: Lifespan, judged: Judged) -> bool:
    """Whether Swarm wanted it gone long ago, and it runs on; nobody waits for it, and it's no capacity."""
    told, ended = life.desired_stop or life.mark("announced") or life.mark("signalled"), judged.timeline.ended
    if told is None or ended is None or life.mark("exited") is not None or judged.timeline.broken:
        return False
    return ended - told.at > life.grace_seconds + ORPHAN_SLACK_SECONDS


def _orphan(life: Lifespan, judged: Judged) -> str:
    told = life.desired_stop or life.mark("announced") or life.mark("signalled")
    age = (judged.timeline.ended or 0.0) - (told.at if told is not None else 0.0)
    where = f" on node {life.node}" if life.node else ""
    return (
        f"{label(life)}: orphan, told to stop {age:.0f} s before the end of the run and still {life.state}{where};"
        f" {many(life.served, 'request')} served by it"
    )
