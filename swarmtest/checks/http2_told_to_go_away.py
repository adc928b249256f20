"""Each HTTP/2 connection that was ended was told to go away before, by GOAWAY, and no request went with it.

One connection carries many requests. Told, its client sends what's new elsewhere and gets the answers of what is
open. Untold, all that it carries is lost with one socket, and so is what's sent to it while it dies. It's the
instances that are judged where clients are connected to them; behind a proxy that speaks HTTP/2 itself it's the proxy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from swarmtest.checks import Findings, Judged, Verdict
from swarmtest.evidence.connection import Connection
from swarmtest.losses import Accounted, missing
from swarmtest.losses.advice import advise
from swarmtest.losses.mechanisms import Mechanism, most_telling
from swarmtest.losses.wording import by_class, few, label, many
from swarmtest.timeline import Lifespan
from swarmtest.timeline.acts import began

MORE = (
    "let more requests go by HTTP/2 (x-swarmtest traffic, protocol: h2, a higher rate or fewer streams), so that each"
    " instance has connections when it's stopped"
)
UNTESTED = "let a kind of traffic go by HTTP/2 (x-swarmtest traffic, protocol: h2), where clients use it"
RELOADED = "let the front door be reloaded under load: --scenario reload"


def check(judged: Judged) -> Verdict:
    """Judges the connections of each instance that was stopped, or those of a front door that was reloaded."""
    findings = Findings()
    proxy = judged.promises.front_door.mode == "proxy"
    if not _tried(judged):
        findings.unproved.append("no request was sent by HTTP/2")
    elif proxy:
        _judge_front_door(judged, findings)
    else:
        _judge_instances(judged, findings)
    ended = "the front door" if proxy else "instances"
    return findings.verdict(
        f"Each HTTP/2 connection that {ended} ended was told to go away before, and no request was lost with it.",
        f"HTTP/2 connections that {ended} ended took requests with them, or weren't told to go away before.",
        "It isn't proved that HTTP/2 connections are told to go away.",
        _advice(judged, findings),
    )


def _tried(judged: Judged) -> bool:
    return any(kind.protocol == "h2" for kind in judged.promises.traffic.kinds)


def _judge_instances(judged: Judged, findings: Findings) -> None:
    going = [life for life in judged.timeline.meant_to_stop if life.stopping is not None]
    for life in going:
        stopping, exited = life.stopping, life.mark("exited")
        since = stopping.at - stopping.error if stopping is not None else life.created
        until = exited.at + exited.error if exited is not None else float("inf")
        some = [one for one in judged.connections if _is_of(one, life, judged) and _ended_within(one, since, until)]
        if some:
            _judge(label(life), some, judged, findings)
        elif exited is not None:
            findings.unproved.append(f"{label(life)}: carried no HTTP/2 connection when it was stopped")
    if not going:
        findings.unproved.append("no instance was stopped")


def _judge_front_door(judged: Judged, findings: Findings) -> None:
    acts = [act for act in began(judged.timeline.acts) if act.get("name") == "reload"]
    some = [one for one in judged.connections if any(one.lived_at(act.t) for act in acts)]
    if some:
        _judge(f"front door {judged.promises.front_door.service}", some, judged, findings)
    elif acts:
        findings.unproved.append("the front door carried no HTTP/2 connection when it was reloaded")
    else:
        findings.unproved.append("the front door, which ends HTTP/2 itself, wasn't reloaded")


def _is_of(connection: Connection, life: Lifespan, judged: Judged) -> bool:
    if judged.promises.direct:
        found = judged.aliases.of_target(connection.target, connection.opened)
    else:
        found = judged.aliases.of_header(connection.instance, connection.opened)
    return found is not None and found.task == life.task


def _ended_within(connection: Connection, since: float, until: float) -> bool:
    """Whether it was there when a stop began, and not made after the end."""
    return connection.opened < until and (connection.ended is None or connection.ended >= since)


def _judge(name: str, some: Sequence[Connection], judged: Judged, findings: Findings) -> None:
    told = [one for one in some if one.told]
    dropped = [one for one in some if one.dropped]
    carried = {one.connection for one in some if one.told or one.dropped}
    lost = [one for one in judged.losses.seen if one.request.connection in carried and _with_it(one)]
    line = f"{name}: {many(len(told), 'connection')} told to go away"
    if dropped:
        line += f", {len(dropped)} ended without a word"
    if lost:
        findings.failed.append(f"{line}; {_lost(lost)}")
    elif dropped:
        findings.failed.append(f"{line}; by luck no request was open on them")
    elif told:
        findings.good.append(f"{line}, and no request was lost on them")
    else:
        findings.unproved.append(
            f"{name}: ended none of {many(len(some), 'HTTP/2 connection')} by the end of the traffic"
        )


def _with_it(one: Accounted) -> bool:
    """Whether a request was lost to the end of its connection, and not to its own reset or to a deadline."""
    if one.request.client_outcome == "refused_stream":
        return True
    closed = one.request.client_outcome in ("closed_unanswered", "closed_in_body")
    return closed and not (one.request.error or "").startswith("RST_STREAM")


def _lost(lost: Sequence[Accounted]) -> str:
    """How many requests went with how many sockets."""
    sockets = Counter(one.request.connection for one in lost)
    most = max(sockets.values())
    names = few([one.request.id for one in lost])
    return f"{by_class(lost)} with {many(len(sockets), 'connection')}, up to {most} with one socket: {names}"


def _advice(judged: Judged, findings: Findings) -> str | None:
    if findings.failed:
        carried = {one.connection for one in judged.connections}
        lost = [one for one in judged.losses.seen if one.request.connection in carried and _with_it(one)]
        telling = most_telling(lost, judged.timeline, judged.witness, judged.promises)
        return advise(telling[0][0] if telling else Mechanism.GOAWAY_MISSING, judged.promises)
    if not _tried(judged):
        return UNTESTED
    if judged.promises.front_door.mode == "proxy":
        return RELOADED
    return MORE if judged.timeline.meant_to_stop else missing.a_stop(judged.timeline)
