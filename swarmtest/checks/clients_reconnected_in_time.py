"""Every session that lost its stream had it back within its budget, on an instance that stayed.

Coming back to one that's about to go isn't being back: the next drop follows at once. The time counts
from the end of the stream to the opening of the one that lasts, the client's own waiting included.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from swarmtest.checks import Findings, Judged, Verdict
from swarmtest.evidence.stream import Stream
from swarmtest.losses import missing
from swarmtest.losses.streams import Drop, by_session, drops
from swarmtest.losses.wording import few, label, many
from swarmtest.timeline.machine import full_machine

TAKE_THEM = (
    "let the front door send those who come back to instances that stay, at once: readiness turns false before streams"
    " are closed, and the others have room for them"
)


def check(judged: Judged) -> Verdict:
    """Judges each drop of each session against the budget of its kind."""
    findings = Findings()
    budgets = {kind.name: kind.reconnect_seconds or 0.0 for kind in judged.promises.traffic.kinds if kind.is_stream}
    lost = drops(judged.streams, judged.aliases)
    back = [drop.seconds for drop in lost if drop.seconds is not None]
    for drop in lost:
        _judge(drop, budgets.get(drop.stream.kind, 0.0), judged, findings)
    late, full = len(findings.failed), full_machine(judged.timeline)
    if late and full is not None:
        findings.unproved += [*findings.failed, f"times prove nothing here: {full}"]
        findings.failed.clear()
    for session, some in by_session(judged.streams).items():
        if all(one.opened is None for one in some):
            late += 1
            line = f"{session}: never had a stream in {many(len(some), 'try', 'tries')}; {_why(some)}"
            turned_away = any(one.status is not None for one in some)
            (findings.unproved if full and not turned_away else findings.failed).append(line)
    if back:
        times = f"median {median(back):.2f} s, longest {max(back):.2f} s"
        findings.good.append(f"{many(len(back), 'drop')} of {many(_sessions(lost), 'session')}: back after {times}")
    return findings.verdict(
        f"Every client whose stream had ended was back in time: {many(len(back), 'time')}, {max(back, default=0):.2f} s"
        " at most.",
        f"{many(len(findings.failed), 'client was', 'clients were')} not back in time.",
        "No stream ended, so nobody had to come back." if not lost else "It isn't proved that all clients came back.",
        TAKE_THEM if findings.failed else missing.LIGHTER if late and full else missing.again(judged.timeline),
    )


def _judge(drop: Drop, budget: float, judged: Judged, findings: Findings) -> None:
    stream, seconds = drop.stream, drop.seconds
    line = f"{stream.session}: {stream.ending} on {label(drop.life)}"
    tries = many(drop.tries, "try", "tries")
    if drop.back is not None and drop.back.instance is None:
        findings.unproved.append(f"{line}; came back to an instance that didn't name itself")
    elif seconds is not None and seconds > budget:
        findings.failed.append(f"{line}; back after {seconds:.2f} s and {tries}, of {budget:g} s")
    elif seconds is None:
        _missing(drop, budget, line, judged, findings)


def _missing(drop: Drop, budget: float, line: str, judged: Judged, findings: Findings) -> None:
    """One that didn't come back: in vain for longer than its budget, or the traffic was over before."""
    last = max((one.closed or 0.0 for one in judged.streams), default=0.0)
    waited = last - (drop.stream.closed or last)
    tries = many(drop.tries, "try", "tries")
    if waited > budget:
        findings.failed.append(f"{line}; not back {waited:.1f} s later, after {tries}, of {budget:g} s")
    else:
        findings.unproved.append(f"{line}; the traffic was over {waited:.1f} s later, before its {budget:g} s were")


def _sessions(lost: Sequence[Drop]) -> int:
    return len({drop.stream.session for drop in lost})


def _why(some: Sequence[Stream]) -> str:
    said = dict.fromkeys(f"{one.client_outcome} ({one.status or one.error})" for one in some)
    return few(list(said))
