"""The traffic that was asked for was sent, by a client that can count and wasn't at its limit.

It judges swarmtest's own means, so it's passed or not proved and never failed: a client that sent
too little, too late or miscounts proves nothing of the stack.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from swarmtest.checks import Findings, Judged, Verdict
from swarmtest.evidence.request import Request
from swarmtest.losses import Loss, missing
from swarmtest.losses.wording import many, number, since
from swarmtest.timeline.machine import full_machine

ENOUGH_SHARE = 0.95
CPU_LIMIT = 0.9
LATE_LIMIT_MS = 250.0
KEPT_SHARE = 0.99
"""Of the arrivals of the schedule so many must have been sent."""
NEVER_KEPT = "no request was sent on a kept connection"


@dataclass(frozen=True, slots=True)
class _Burst:
    """What was sent in a burst, and when the first and the last of it were due."""

    count: int
    first: float
    last: float

    @property
    def seconds(self) -> float:
        return self.last - self.first


def check(judged: Judged) -> Verdict:
    """Judges the client's own numbers."""
    findings = Findings()
    for reason in shortcomings(judged):
        findings.unproved.append(reason)
    sent = judged.losses.sent
    kept = judged.losses.kept
    stopped = judged.timeline.traffic.get("stopped", {})
    asked = expected(judged)
    kinds = f"{number(kept)} on kept connections, {number(sent - kept)} on fresh ones"
    findings.good.append(f"{number(sent)} sent of about {asked:,.0f}, {kinds}")
    if all(kind.protocol != "h2" for kind in judged.promises.traffic.kinds):
        findings.good.append("none of it by HTTP/2, which wasn't tested")
    findings.good += [f"in the {name}: {number(some.count)} sent" for name, some in _bursts(judged).items()]
    if stopped:
        findings.good.append(
            f"client: {_number(stopped.get('cpu_share_max'), 2)} of a processor at most,"
            f" 99 % of requests less than {_number(stopped.get('late_ms_p99'), 0)} ms late,"
            f" {_number(stopped.get('missed', 0), 0)} not sent"
        )
    return findings.verdict(
        f"The traffic was delivered: {number(sent)} requests.",
        "",
        "The traffic that was asked for wasn't delivered as it should be.",
        missing.LIGHTER
        if _busy(judged)
        else missing.KEPT
        if NEVER_KEPT in findings.unproved
        else missing.broken_off(judged.timeline) or missing.AGAIN_TRAFFIC,
    )


def shortcomings(judged: Judged) -> Iterator[str]:
    """Each reason why this traffic proves nothing; a run with any of them is never a pass."""
    losses, timeline = judged.losses, judged.timeline
    if not losses.sent:
        yield "no request was sent"
        return
    yield from _counts(judged)
    yield from _schedule(judged)
    asked = expected(judged)
    sent = losses.sent - sum(1 for one in losses.telling if one.request.again is not None)
    if sent < ENOUGH_SHARE * asked:
        yield f"{number(sent)} requests were sent of about {asked:,.0f} asked for"
    yield from _short_bursts(judged)
    yield from _kinds(judged)
    yield from _sessions(judged)
    yield from _connections(judged)
    last = max(one.request.began for one in losses.telling)
    for life in timeline.old:
        exited = life.mark("exited")
        if exited is not None and last < exited.at - exited.error:
            yield f"the traffic ended {since(last, exited.at)} from the exit of {life.name}"
            break
    yield from _busy(judged)


def _counts(judged: Judged) -> Iterator[str]:
    losses, traffic = judged.losses, judged.timeline.traffic
    stopped, calibrated = traffic.get("stopped"), traffic.get("calibrated")
    if calibrated is None:
        yield "the calibration of the client wasn't seen"
    elif not calibrated.get("ok"):
        yield f"the client miscounted in its calibration: {calibrated.get('counted')}"
    if stopped is None:
        yield "the client never said how many requests it sent"
        said = int(traffic.get("tick", {}).get("sent") or 0)
        if said > losses.sent:
            gone = number(said - losses.sent)
            yield f"{gone} requests that it had sent by its last word have no record: the run is invalid"
    elif stopped.get("sent") is not None and stopped.get("sent") != losses.sent:
        yield f"the client sent {stopped.get('sent')} requests and has records of {losses.sent}: the run is invalid"
    yield from _outcomes(judged)
    repeated = losses.sent - losses.different
    if repeated:
        yield f"{repeated} request IDs were used more than once by the client: the run is invalid"
    if (own := sum(1 for one in losses.telling if one.loss is Loss.CLIENT_ERROR)) > 0:
        yield f"{own} requests failed by the client's own fault: the run is invalid"


def _outcomes(judged: Judged) -> Iterator[str]:
    """Where the records tell something else than what the client had counted, a loss may have become a success."""
    said = judged.timeline.traffic.get("stopped", {}).get("outcomes")
    if not isinstance(said, dict):
        return
    found = dict(judged.requests.rows("SELECT coalesce(client_outcome, ''), count(*) FROM requests GROUP BY ALL"))
    for name in sorted({*said, *found}):
        if (said.get(name) or 0) != found.get(name, 0):
            yield (
                f"the client counted {number(said.get(name) or 0)} as {name.replace('_', ' ')} and has records of"
                f" {number(found.get(name, 0))}: the run is invalid"
            )


def _kinds(judged: Judged) -> Iterator[str]:
    counted = judged.losses.by_kind()
    recorded = judged.requests.rows("SELECT kind, protocol, count(*) FROM accounted GROUP BY ALL")
    for kind in judged.promises.traffic.kinds:
        if kind.is_stream:
            continue
        if kind.rate > 0 and not counted[kind.name]:
            yield f"no request of the kind {kind.name} was sent"
        other = sum(count for name, protocol, count in recorded if name == kind.name and protocol != kind.protocol)
        if other:
            yield f"{number(other)} requests of {kind.name} weren't recorded as {kind.protocol}, which they were to be"


def _sessions(judged: Judged) -> Iterator[str]:
    """Why the streams aren't what was asked for: sessions that never were, or ends of the client's own making."""
    for kind in judged.promises.traffic.kinds:
        held = {one.session for one in judged.streams if one.kind == kind.name}
        if kind.is_stream and len(held) < (kind.sessions or 0):
            yield f"{kind.name}: {len(held)} of {many(kind.sessions or 0, 'session')} held a stream or tried to"
    if own := sum(1 for one in judged.streams if one.client_outcome in ("local_error", "still_open")):
        yield f"{many(own, 'stream')} ended by the client's own fault: the run is invalid"


def _connections(judged: Judged) -> Iterator[str]:
    kept = judged.losses.kept
    share = judged.promises.traffic.fresh_share
    if share is not None and share < 1 and not kept:
        yield NEVER_KEPT
    if share != 0 and kept == judged.losses.sent:
        yield "no request was sent on a fresh connection"


def _busy(judged: Judged) -> list[str]:
    stopped = judged.timeline.traffic.get("stopped", {})
    found = []
    if (share := stopped.get("cpu_share_max")) is not None and share > CPU_LIMIT:
        found.append(f"the client was at its limit: {share:.2f} of a processor (at most {CPU_LIMIT:g})")
    if (late := stopped.get("late_ms_p99")) is not None and late > LATE_LIMIT_MS:
        found.append(f"the client was late: 99 % within {late:.0f} ms (at most {LATE_LIMIT_MS:g} ms)")
    return found


def _schedule(judged: Judged) -> Iterator[str]:
    """Arrivals that the client didn't send, and what kept it from that."""
    stopped = judged.timeline.traffic.get("stopped", {})
    missed, planned = int(stopped.get("missed") or 0), int(stopped.get("planned") or 0)
    if planned and missed > (1 - KEPT_SHARE) * planned:
        yield f"{number(missed)} of {number(planned)} arrivals weren't sent: the schedule wasn't kept"
    if (full := int(stopped.get("no_room") or 0)) > 0:
        yield f"no room for {number(full)} arrivals, so many requests were open: the service is slower than they come"
    late = float(stopped.get("late_ms_p99") or 0.0)
    if missed or late > LATE_LIMIT_MS:
        yield from filter(None, [full_machine(judged.timeline, at_times=True)])


def expected(judged: Judged) -> float:
    """Requests that the planned rates make between the first and the last one planned, and those of the bursts.

    Of rates that change, that only chance makes up, or that end with a number, the client says itself how many were
    due; the kinds beside them are held to their rates all the same.
    """
    kinds = [kind for kind in judged.promises.traffic.kinds if not kind.is_stream]
    rate = sum(kind.rate for kind in kinds if not kind.is_uneven)
    planned = [_planned(one.request) for one in judged.losses.telling if one.request.burst is None]
    asked = rate * (max(planned) - min(planned)) if planned else 0.0
    asked += sum(
        rate * (float(burst["factor"]) - 1.0) * some.seconds
        for burst, some in zip(_planned_bursts(judged), _bursts(judged).values(), strict=False)
    )
    if not any(kind.is_uneven for kind in kinds):
        return asked
    again = Counter(one.request.kind for one in judged.losses.telling if one.request.again is not None)
    first = judged.losses.by_kind() - again
    asked += sum(first[kind.name] for kind in kinds if kind.is_uneven)
    due = float(judged.timeline.traffic.get("stopped", {}).get("planned") or 0.0)
    return max(asked, due - again.total())


def _short_bursts(judged: Judged) -> Iterator[str]:
    """Bursts of the plan that weren't sent, or not for as long as they were to last."""
    planned, sent = _planned_bursts(judged), list(_bursts(judged).values())
    if len(sent) < len(planned):
        yield f"{len(sent)} of {many(len(planned), 'burst')} were sent"
    for burst, some in zip(planned, sent, strict=False):
        if some.seconds < ENOUGH_SHARE * burst["seconds"] - 1.0:
            yield f"a burst of {burst['seconds']:g} s was planned, and lasted {some.seconds:.1f} s"


def _planned_bursts(judged: Judged) -> list[dict[str, Any]]:
    return [step.burst for step in judged.promises.steps if step.burst]


def _bursts(judged: Judged) -> dict[str, _Burst]:
    """What was sent in each burst, in the order of the bursts."""
    found: defaultdict[str, list[float]] = defaultdict(list)
    counted: Counter[str] = Counter()
    for one in judged.losses.telling:  # the first and the last of each burst are among them
        if (burst := one.request.burst) is not None:
            found[burst].append(_planned(one.request))
            counted[burst] += 1
    for group in judged.losses.groups:
        if group.burst is not None:
            counted[group.burst] += group.count
    ordered = sorted((_Burst(counted[name], min(some), max(some)) for name, some in found.items()), key=_first)
    return {"burst" if n == 1 else f"burst {n}": one for n, one in enumerate(ordered, start=1)}


def _first(burst: _Burst) -> float:
    return burst.first


def _planned(request: Request) -> float:
    return request.planned or request.began


def _number(value: object, digits: int) -> str:
    return f"{value:.{digits}f}" if isinstance(value, float) else str(value)
