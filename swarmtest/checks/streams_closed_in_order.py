"""Each stream of an instance that went was told so: by a close frame, or by the end of its answer.

A WebSocket and a stream of events end with their instance, that can't be helped. Told, a client comes
back at once and knows what was taken. Cut, it finds out by a time-out at worst, and what was under way
is lost. So it's the drain that's judged, and no stream's end is a lost request.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from swarmtest.checks import Findings, Judged, Verdict
from swarmtest.evidence.stream import Stream
from swarmtest.losses import missing
from swarmtest.losses.advice import advise
from swarmtest.losses.mechanisms import Mechanism
from swarmtest.losses.starvation import read_starvation
from swarmtest.losses.streams import instance_of, open_at_stop
from swarmtest.losses.wording import few, label, many
from swarmtest.timeline import Lifespan
from swarmtest.timeline.machine import full_machine

TELL = (
    "tell every open stream when draining, before the process exits: a WebSocket by a close frame (1001 or 1012),"
    " server-sent events by the end of the answer; a longer grace does nothing for it"
)
FRAME = "send event streams in chunks (HTTP/1.1 without Connection: close), so that their end can be told from a cut"
LEFT_ALONE = (
    "find out what ends streams of instances that nobody stops (a time-out of the front door, say: timeout tunnel in"
    " HAProxy, proxy_read_timeout in nginx)"
)
MORE = (
    "let more sessions hold streams (x-swarmtest traffic, sessions), so that each instance has some when it's stopped"
)


def check(judged: Judged) -> Verdict:
    """Judges the streams of each instance that was stopped, and those that ended by themselves."""
    findings = Findings()
    going = judged.timeline.meant_to_stop
    seen: set[str] = set()
    for life in going:
        some = open_at_stop(judged.streams, life, judged.aliases)
        seen.update(one.kind for one in some)
        _judge(life, some, findings)
    by_itself = _ended_by_itself(judged)
    if by_itself:
        starvation = read_starvation(judged.requests, judged.timeline)
        starved = all(starvation.at(one.closed or float("inf")) for one in by_itself)
        full = full_machine(judged.timeline, at_times=True) if starved else None
        line = f"on instances that nobody stopped: {_said(by_itself)} ({_ids(by_itself)})"
        (findings.unproved if full else findings.failed).append(f"{line}; {full}" if full else line)
    if nameless := _of_nobody(judged):
        # Of an instance that was hurt it would be no wonder, and which one it was nobody can say.
        known = findings.unproved if judged.timeline.victims else findings.failed
        known.append(f"on an instance that didn't name itself: {_said(nameless)} ({_ids(nameless)})")
    for kind in judged.promises.traffic.kinds:
        if kind.is_stream and kind.name not in seen and going:
            findings.unproved.append(f"no stream of the kind {kind.name} was open on an instance when it was stopped")
    told = sum(one.told for one in judged.streams)
    return findings.verdict(
        f"Each stream that was open on a stopped instance was told: {many(told, 'stream')}.",
        f"{many(_untold(judged), 'stream was', 'streams were')} cut and not told.",
        "It isn't proved that streams are told of a stop."
        if going
        else "No instance was stopped, so no drain was seen.",
        _advice(judged, findings, by_itself),
    )


def _judge(life: Lifespan, some: Sequence[Stream], findings: Findings) -> None:
    if not some:
        if life.mark("exited") is not None:
            findings.good.append(f"{label(life)}: had no stream when it was stopped")
        return
    bad = [one for one in some if one.dropped and not one.told and not one.untold]
    line = f"{label(life)}: {_said(some)}"
    if bad:
        findings.failed.append(f"{line}; {_when(life, bad)} ({_ids(bad)})")
    elif any(one.untold for one in some):
        findings.unproved.append(line)
    elif any(one.closed is None or not one.dropped for one in some):
        findings.unproved.append(f"{line}; the traffic was over before all of them had ended")
    else:
        findings.good.append(line)


def _when(life: Lifespan, bad: Sequence[Stream]) -> str:
    """When the first of them was cut, seen from the signal and from a kill."""
    first = min(one.closed or 0.0 for one in bad)
    signalled, killed = life.at("signalled"), life.at("killed")
    after = (
        f"the first {first - signalled:.2f} s after the signal" if signalled is not None else "its signal wasn't seen"
    )
    held = " by SIGKILL: they held the shutdown until the end of the grace"
    return after + (held if killed is not None and first > killed - 1.0 else "")


def _ended_by_itself(judged: Judged) -> list[Stream]:
    """Streams that were cut on an instance that wasn't on its way out, and that nobody had hurt."""
    found = []
    for one in judged.streams:
        life = instance_of(one, judged.aliases)
        if not one.dropped or one.told or one.untold or life is None or judged.timeline.hurts(life):
            continue
        going = life.stopping
        if going is None or (one.closed is not None and one.closed < going.at - going.error):
            found.append(one)
    return found


def _of_nobody(judged: Judged) -> list[Stream]:
    """Streams that were cut, of instances that nobody can name."""
    cut = (one for one in judged.streams if one.dropped and not one.told and not one.untold)
    return [one for one in cut if instance_of(one, judged.aliases) is None]


def _untold(judged: Judged) -> int:
    return sum(1 for one in judged.streams if one.dropped and not one.told and not one.untold)


def _said(streams: Sequence[Stream]) -> str:
    counted = Counter((one.kind, one.ending) for one in streams)
    return ", ".join(f"{count} {kind} {ending}" for (kind, ending), count in sorted(counted.items()))


def _ids(streams: Sequence[Stream]) -> str:
    return few([one.id for one in streams])


def _advice(judged: Judged, findings: Findings, by_itself: Sequence[Stream]) -> str | None:
    going = judged.timeline.meant_to_stop
    if findings.failed:
        if any(life.container in judged.witness.held for life in going):
            return advise(Mechanism.STREAMS_HELD, judged.promises)
        return LEFT_ALONE if len(by_itself) == _untold(judged) else TELL
    if by_itself:
        return missing.LIGHTER
    if any(one.untold for one in judged.streams):
        return FRAME
    return MORE if going else missing.a_stop(judged.timeline)
