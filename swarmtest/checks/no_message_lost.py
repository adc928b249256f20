"""No message of a stream was lost or came twice, over all reconnects: every number, once.

Counted by the numbers that both sides give: a gap is a loss, a number seen before a repetition. What a
session had sent when its stream was cut may or may not have been taken, so it counts as lost.
"""

from __future__ import annotations

from collections.abc import Sequence

from swarmtest.checks import Findings, Judged, Verdict
from swarmtest.evidence.stream import Stream
from swarmtest.evidence.traffic import KindPromise
from swarmtest.losses import missing
from swarmtest.losses.wording import few, many, number
from swarmtest.timeline.machine import full_machine

RESUME = (
    "let a client that comes back say the last number that it has seen (Last-Event-ID, or {last} in the path), and send"
    " it what follows that one; and answer what was taken before a stream is closed"
)
NUMBER_THEM = (
    "number the service's messages, one more each time (`id` of an event, `push` in a WebSocket's JSON), and send a"
    " client's own back: without numbers nobody can say what's missing"
)


def check(judged: Judged) -> Verdict:
    """Judges the numbers of each kind of stream."""
    findings, full = Findings(), full_machine(judged.timeline)
    for kind in judged.promises.traffic.kinds:
        if kind.is_stream:
            _judge(kind, [one for one in judged.streams if one.kind == kind.name], findings, full)
    lost, repeated = _sum("lost", judged.streams), _sum("repeated", judged.streams)
    seen = _sum("received", judged.streams) + _sum("answered", judged.streams)
    return findings.verdict(
        f"No message was lost or repeated: {number(seen)} messages and answers.",
        f"{many(lost, 'message was', 'messages were')} lost, {number(repeated)} came twice.",
        "It isn't proved that no message was lost: what was lost went with streams that were cut on a full machine."
        if full and lost
        else "It isn't proved that no message was lost: they bear no numbers, or none came.",
        RESUME if findings.failed else missing.LIGHTER if full and lost else NUMBER_THEM,
    )


def _judge(kind: KindPromise, streams: Sequence[Stream], findings: Findings, full: str | None) -> None:
    bad = [one for one in streams if one.lost or one.repeated]
    counts = f"{number(_sum('received', streams))} received, {number(_sum('sent', streams))} sent"
    again = _sum("resent", streams)
    counts += f", {number(again)} of them again after a close frame" if again else ""
    silent = _sum("sent", streams) > 0 and _sum("answered", streams) == 0
    if _sum("received", streams) + _sum("answered", streams) == 0:
        findings.unproved.append(f"{kind.name}: no numbered message and no answer came")
    elif bad and not silent:
        lost, repeated = _sum("lost", bad), _sum("repeated", bad)
        names = few([f"{one.id} ({one.ending}: {one.lost} lost, {one.repeated} repeated)" for one in bad])
        line = f"{kind.name}: {number(lost)} lost, {number(repeated)} repeated of {counts}; {names}"
        if full and not repeated and all(one.dropped and not one.told for one in bad):
            findings.unproved.append(f"{line}: with streams that were cut, and {full}")
        else:
            findings.failed.append(line)
    elif silent or _sum("received", streams) == 0 < _sum("unnumbered", streams):
        findings.unproved.append(f"{kind.name}: {counts}; {'no message was answered' if silent else 'no numbers'}")
    else:
        findings.good.append(f"{kind.name}: {counts}")


def _sum(name: str, streams: Sequence[Stream]) -> int:
    return sum(int(getattr(one, name)) for one in streams)
