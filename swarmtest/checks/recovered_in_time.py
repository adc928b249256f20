"""Enough instances were ready again in time after each hurt.

In time is within the restart policy's delay and the time that an instance takes to get healthy, as it
was measured at the deployment's own first start. A restart policy that replaces nothing leaves its slot
empty for good. An instance that stood still has to serve again when it goes on.
"""

from __future__ import annotations

from dataclasses import dataclass

from swarmtest.checks import Findings, Judged, Verdict
from swarmtest.losses import missing
from swarmtest.losses.wording import label, many
from swarmtest.timeline import Lifespan, Mark
from swarmtest.timeline.acts import began
from swarmtest.timeline.capacity import Spans, reached_at, spans_of, wanted_at
from swarmtest.timeline.endings import CRASHED, END_OF_GRACE, ENDED_ITSELF, HEALTH_CHECK

SLACK_SECONDS = 5.0
"""For the scheduler, a busy machine, and polls: recovery is measured in tens of seconds."""

DECLARED_SECONDS = 30.0
"""Time to healthy where neither a first start was seen nor a health check says."""


@dataclass(frozen=True, slots=True)
class _Hurt:
    """An instance that ended before its time."""

    life: Lifespan
    ended: Mark


def check(judged: Judged) -> Verdict:
    """Judges when capacity was back after each instance that was ended."""
    findings = Findings()
    spans = spans_of(judged.timeline.lifespans, surely=True)  # one that's just gone is gone
    gone = _gone(judged)
    for n, hurt in enumerate(gone):
        _judge(hurt, gone[n + 1 :], spans, judged, findings)
    frozen = _judge_frozen(judged, findings)
    if judged.timeline.broken:
        findings.unproved = [judged.timeline.broken[0], *findings.failed, *findings.unproved]
        findings.failed = []
    if not gone and not frozen:
        advice = missing.again(judged.timeline, missing.NOBODY_HURT)
        return findings.verdict("", "", "No instance was seen to be hurt, so none had to recover.", advice)
    return findings.verdict(
        f"Capacity was back in time after {many(len(gone) + frozen, 'hurt')}.",
        f"Capacity wasn't back in time after {many(len(findings.failed), 'hurt')} of {len(gone) + frozen}.",
        "It isn't proved that capacity was back in time.",
        _advice(judged, gone) if findings.failed else _missing(judged),
    )


def allowed_seconds(judged: Judged) -> tuple[float, str]:
    """How long recovery may take, and what it's the sum of."""
    delay, (healthy, how) = judged.promises.restart_delay_seconds, _to_healthy(judged)
    told = f"{delay:g} s restart delay + {healthy:.1f} s to healthy ({how}) + {SLACK_SECONDS:g} s"
    return delay + healthy + SLACK_SECONDS, told


def _to_healthy(judged: Judged) -> tuple[float, str]:
    first = [
        ready.at + ready.error - life.created
        for life in judged.timeline.lifespans
        if life.generation != "new" and (ready := life.ready_from) is not None
    ]
    if first:
        return max(first), "measured at the first start"
    health = judged.promises.stack.healthcheck or {}
    start = float(health.get("start_period_seconds") or 0.0)
    every, retries = float(health.get("interval_seconds") or 0.0), int(health.get("retries") or 0)
    declared = start + every * (retries + 1)
    return (declared, "declared") if declared else (DECLARED_SECONDS, "assumed")


def _gone(judged: Judged) -> list[_Hurt]:
    """Instances that an act ended, or that ended by a version that isn't meant to stay, in order."""
    timeline = judged.timeline
    hurt = {victim.task for victim in timeline.victims if victim.outcome != "failed"}
    bad = [act.t for act in began(timeline.acts) if act.get("name") in ("crash", "unhealthy")]
    found = []
    for life in timeline.lifespans:
        exited = life.mark("exited")
        if exited is None or timeline.t0 is None or exited.at + exited.error < timeline.t0:
            continue
        forced = life.cause == END_OF_GRACE and judged.promises.destructive
        by_version = bool(bad) and life.generation == "new" and life.cause in (CRASHED, ENDED_ITSELF, HEALTH_CHECK)
        if life.task in hurt or forced or by_version:
            found.append(_Hurt(life, exited))
    return sorted(found, key=lambda one: one.ended.at)


def _judge(hurt: _Hurt, later: list[_Hurt], spans: Spans, judged: Judged, findings: Findings) -> None:
    """Whether as many as there should be were ready again in time; a hurt that comes between begins anew."""
    timeline, ended = judged.timeline, hurt.ended
    until = timeline.ended if timeline.ended is not None else ended.at
    wanted = _wanted(judged, ended.at)
    seconds, told = allowed_seconds(judged)
    back = reached_at(spans, wanted, ended.at)
    next_hurt = next((one.ended.at for one in later if one.ended.at > ended.at), float("inf"))
    line = f"{label(hurt.life)}"
    if back is not None and back - ended.at <= seconds + ended.error:
        findings.good.append(f"{line}: {wanted} ready again {back - ended.at:.1f} s after its end (allowed {told})")
    elif next_hurt <= min(ended.at + seconds, back if back is not None else float("inf")):
        findings.good.append(f"{line}: hurt again {next_hurt - ended.at:.1f} s later, before capacity could be back")
    elif unseen := [life for life in timeline.lifespans if life.ready_from is None and not life.never_ready]:
        findings.unproved.append(f"{line}: nothing shows when {label(unseen[0])} was ready")
    elif back is not None:
        findings.failed.append(f"{line}: {wanted} ready again only {back - ended.at:.1f} s after its end ({told})")
    elif not _replaces(hurt.life, judged):
        findings.failed.append(f"{line}: {_never(hurt.life, wanted, judged)}")
    elif until < ended.at + seconds:
        findings.unproved.append(f"{line}: the run ended {until - ended.at:.1f} s after its end ({told})")
    else:
        findings.failed.append(f"{line}: {_never(hurt.life, wanted, judged)}")


def _replaces(life: Lifespan, judged: Judged) -> bool:
    """Whether the restart policy lets Swarm replace an instance that ended so; if not, there's nothing to wait for."""
    stack = judged.promises.stack
    return stack.restarts and (stack.restarts_what_ended_well or life.exit_code != 0)


def _wanted(judged: Judged, t: float) -> int:
    """How many there should be once a hurt is over; a stop-first update takes some at a time."""
    promises = judged.promises
    return max(1, wanted_at(promises, judged.timeline, t) - promises.taken)


def _never(life: Lifespan, wanted: int, judged: Judged) -> str:
    """What's missing at the end: its own replacement, or another instance's."""
    lives = judged.timeline.lifespans
    left = [one for one in lives if one.mark("exited") is None and one.ready_from is not None]
    replaced = life.slot is not None and any(one.slot == life.slot and one.task != life.task for one in left)
    return (f"{wanted} never ready again, " if replaced else "never replaced, ") + _policy(judged)


def _policy(judged: Judged) -> str:
    condition = judged.promises.stack.restart_condition or "any"
    left = [life for life in judged.timeline.lifespans if life.mark("exited") is None and life.ready_from is not None]
    slots = {life.slot for life in left}
    empty = [slot for slot in range(1, judged.promises.replicas + 1) if slot not in slots]
    where = f"slot {', '.join(map(str, empty))} empty" if empty else "fewer ready than there should be"
    return f"{where} at the end of the run (restart_policy condition {condition})"


def _judge_frozen(judged: Judged, findings: Findings) -> int:
    """Whether each instance that stood still served again; says how many there were."""
    timeline, count = judged.timeline, 0
    last_sent = max((one.request.began for one in judged.losses.telling), default=0.0)
    for victim in timeline.victims:
        life = next((one for one in timeline.lifespans if one.task == victim.task), None)
        if victim.name != "freeze" or victim.in_stop or life is None or victim.outcome == "failed":
            continue
        if life.mark("exited") is not None:
            continue  # its end is judged as any other
        count += 1
        line = f"{label(life)}"
        seconds = (judged.promises.front_door.within_seconds or 0.0) + SLACK_SECONDS
        again = _served_again(life, victim.healed_at, judged)
        if victim.healed_at is None:
            findings.unproved.append(f"{line}: it wasn't seen to go on")
        elif again is not None:
            findings.good.append(f"{line}: served again {again - victim.healed_at:.1f} s after it went on")
        elif last_sent > victim.healed_at + seconds and not judged.promises.direct and judged.losses.records.whole:
            findings.failed.append(f"{line}: got nothing any more in the {last_sent - victim.healed_at:.1f} s after")
        else:
            findings.unproved.append(f"{line}: no request was seen to reach it after it went on")
    return count


def _served_again(life: Lifespan, healed: float | None, judged: Judged) -> float | None:
    """When a request that was sent after the healing was begun or answered by it."""
    if healed is None:
        return None
    times = [
        one.trail.start[-1].t if one.trail is not None and one.trail.start else one.request.ended
        for one in judged.losses.telling
        if one.life is not None
        and one.life.task == life.task
        and one.request.began >= healed
        and ((one.trail is not None and one.trail.seen) or one.request.instance is not None)
    ]
    times += judged.requests.plain_times("task = $task AND began >= $healed", {"task": life.task, "healed": healed})
    return min(times, default=None)


def _advice(judged: Judged, gone: list[_Hurt]) -> str:
    stack = judged.promises.stack
    if not stack.restarts:
        return "set restart_policy condition: any (it's none), so that Swarm replaces what ends"
    if not stack.restarts_what_ended_well and any(one.life.exit_code == 0 for one in gone):
        return "set restart_policy condition: any: on-failure doesn't replace what was stopped by hand and exits with 0"
    return (
        "see why the new task took so long: docker service ps --no-trunc, restart_policy (delay, max_attempts) and the"
        " health check's interval and start_period"
    )


def _missing(judged: Judged) -> str:
    unready = any(life.ready_from is None and not life.never_ready for life in judged.timeline.lifespans)
    return missing.READINESS if unready else missing.AGAIN
