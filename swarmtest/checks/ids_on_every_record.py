"""Instance and request ID are on every answer and on every record.

It's what all else rests on: the header says who served, the echo proves that the answer belongs to
the request, the start record tells a cut request from one that nobody saw.
"""

from __future__ import annotations

from collections import defaultdict

from swarmtest.checks import Findings, Judged, Verdict
from swarmtest.losses import Accounted, missing
from swarmtest.losses.wording import few, label, number


def check(judged: Judged) -> Verdict:
    """Judges the answers that instances made, and their records."""
    findings = Findings()
    answers = [one for one in judged.losses.telling if _by_instance(one)]
    count = len(answers) + judged.losses.plain
    advices = [_headers(judged, answers, findings), _echoes(judged, answers, findings), _records(judged, findings)]
    if not answers:
        return findings.verdict("", "", "No answer of an instance was seen.", missing.header(judged.promises))
    return findings.verdict(
        f"All {number(count)} answers and all records bear instance and request ID.",
        "Some answers or records don't bear instance and request ID.",
        "It isn't proved that every record bears instance and request ID.",
        next((advice for advice in advices if advice is not None), None),
    )


def _by_instance(one: Accounted) -> bool:
    """Whether an instance made this answer, and not the proxy."""
    if not one.request.answered:
        return False
    status = one.request.status or 0
    return one.request.instance is not None or 200 <= status < 300


def _headers(judged: Judged, answers: list[Accounted], findings: Findings) -> str | None:
    count = number(len(answers) + judged.losses.plain)
    bare = [one.request.id for one in answers if one.request.instance is None]
    if shared := _shared(judged, answers):
        findings.unproved.append(f"several instances call themselves {few(shared)}, which names none of them")
        return missing.header(judged.promises)
    if not bare:
        findings.good.append(f"{count} answers name their instance")
        return None
    which = findings.failed if judged.losses.names_itself else findings.unproved
    which.append(f"{number(len(bare))} of {count} answers name no instance: {few(bare)}")
    return missing.header(judged.promises)


def _shared(judged: Judged, answers: list[Accounted]) -> list[str]:
    """Values of the header that more than one instance bears; an address may be handed on, a name may not."""
    ran: defaultdict[str, set[str]] = defaultdict(set)
    for value, container in judged.witness.named:
        ran[value].add(container)
    for one in answers:
        if one.request.instance and one.trail is not None and one.trail.container:
            ran[one.request.instance].add(one.trail.container)
    return sorted(
        value
        for value, containers in ran.items()
        if len(containers) > 1 and judged.aliases.of_address(value, 0.0) is None
    )


def _echoes(judged: Judged, answers: list[Accounted], findings: Findings) -> str | None:
    # Of the plain ones all answers do, or none of the whole run; then the first ones are among those looked at.
    plain = judged.losses.plain
    mute = [one.request.id for one in answers if one.request.echoed is not True]
    silent = len(mute) + (0 if judged.losses.echoes else plain)
    count = number(len(answers) + plain)
    if not mute:
        findings.good.append(f"{count} answers echo their request's ID")
        return None
    which = findings.failed if judged.losses.echoes else findings.unproved
    which.append(
        f"{number(silent)} of {count} answers don't echo their request's ID: {few(mute, more=silent - len(mute))}"
    )
    return missing.ECHO


def _records(judged: Judged, findings: Findings) -> str | None:
    records = judged.losses.records
    if not judged.witness.logs_starts:
        findings.unproved.append("no instance writes a line when a request starts")
        return missing.START_LINE
    nameless = 0
    for life in judged.timeline.lifespans:
        stream = judged.witness.streams.get(life.container or "")
        if stream is not None and stream.nameless:
            nameless += stream.nameless
            findings.failed.append(f"{label(life)}: {number(stream.nameless)} lines without request_id")
    for gap in records.gaps:
        findings.unproved.append(f"{label(gap.life)}: {gap.reason}")
    if records.unreliable is not None:
        findings.unproved.append(records.unreliable)
    if records.unrecorded:
        some = f"{number(len(records.unrecorded))} whole answers have no start record: {few(records.unrecorded)}"
        findings.failed.append(some)
    if nameless or records.unrecorded or not records.whole:
        return missing.START_LINE if nameless else missing.to_trust(judged.losses, judged.timeline)
    findings.good.append(f"{number(judged.witness.handled)} requests have start records, in unbroken sequences")
    return None
