"""Every request sent was answered completely, by an instance that can be named.

A rate would hide losses, so it counts: one lost request fails it, in whatever class. An answer that
was whole and only can't be proved to be (no instance header in the whole run, a body that only the
closing ended) is no loss that was seen, and makes it not proved.
"""

from __future__ import annotations

from collections import Counter

from swarmtest.checks import Judged, Outcome, Verdict, shortened
from swarmtest.losses import Accounted, Charge, Loss, missing
from swarmtest.losses.advice import advise
from swarmtest.losses.groups import loss_lines
from swarmtest.losses.letting_go import measured_seconds
from swarmtest.losses.mechanisms import mechanism_of, most_telling
from swarmtest.losses.starvation import Starvation, read_starvation
from swarmtest.losses.wording import by_class, ids, many, number
from swarmtest.timeline.machine import full_machine


def check(judged: Judged) -> Verdict:
    """Judges the classes of all requests."""
    losses = judged.losses
    if not losses.sent:
        return Verdict(Outcome.NOT_PROVED, "No request was sent.", (), missing.unseen(judged.timeline))
    lost = losses.lost
    if not lost:
        return Verdict(Outcome.PASSED, f"All {number(losses.sent)} requests were answered, completely.", _kept(judged))
    starvation = read_starvation(judged.requests, judged.timeline)
    seen = [one for one in lost if not _excused(one, starvation)]
    evidence = _evidence(judged, seen or list(lost))
    starved = [one for one in lost if starvation.explains(one)]
    if starved and not seen:
        return _starved(judged, starved, evidence)
    if not seen:
        sentence = f"{many(len(lost), 'request')} of {number(losses.sent)} can't be proved to be answered."
        return Verdict(Outcome.NOT_PROVED, sentence, evidence, _missing(judged))
    sentence = f"{number(len(seen))} of {number(losses.sent)} requests were lost: {by_class(seen)}."
    if starved:
        evidence = (*evidence, f"{number(len(starved))} more while {full_machine(judged.timeline, at_times=True)}")
    telling = most_telling(seen, judged.timeline, judged.witness, judged.promises)
    told = _advice(judged, seen, telling[0][0]) if telling else _tell(judged)
    return Verdict(Outcome.FAILED, sentence, evidence, _ask_for_what_is_there(seen) or _wait_longer(seen) or told)


def _excused(one: Accounted, starvation: Starvation) -> bool:
    """Whether it says nothing of the stack: our own fault, whole but unproved, broken off by us, or starved."""
    if one.unproved or one.loss is Loss.CLIENT_ERROR:
        return True
    return one.broken_off or starvation.explains(one)


def _starved(judged: Judged, lost: list[Accounted], evidence: tuple[str, ...]) -> Verdict:
    """What's lost is lost, and by whom a machine that's full doesn't tell."""
    sentence = (
        f"{number(len(lost))} of {number(judged.losses.sent)} requests were lost on a machine with nothing left,"
        f" nobody knows by whom: {by_class(lost)}."
    )
    full = full_machine(judged.timeline, at_times=True)
    return Verdict(Outcome.NOT_PROVED, sentence, (*([full] if full else []), *evidence), missing.LIGHTER)


def _ask_for_what_is_there(lost: list[Accounted]) -> str | None:
    """Advice where most were turned away by the app itself, rollout or not."""
    turned = [one.request.status for one in lost if one.charge is Charge.BACKGROUND and one.loss is Loss.UNEXPECTED]
    status, count = Counter(turned).most_common(1)[0] if turned else (None, 0)
    return missing.success(status) if 2 * count > len(lost) and 300 <= (status or 0) < 500 else None


def _wait_longer(lost: list[Accounted]) -> str | None:
    """Advice where most were given up by the client, rollout or not, and served after that."""
    late = [one for one in lost if one.charge is Charge.BACKGROUND and one.loss is Loss.TIMED_OUT]
    served = [one for one in late if one.trail is not None and one.trail.finish]
    return missing.TIME_OUT if 2 * len(served) > len(lost) else None


def _tell(judged: Judged) -> str | None:
    """What would tell how requests were lost, where the records don't."""
    if judged.losses.records.whole:
        return None
    return missing.to_place(judged.losses, judged.witness, judged.promises, judged.timeline)


def _evidence(judged: Judged, lost: list[Accounted]) -> tuple[str, ...]:
    if all(one.unproved for one in lost):
        return _unproved(lost)
    return shortened(loss_lines(lost, judged.timeline, judged.witness, judged.promises))


def _unproved(lost: list[Accounted]) -> tuple[str, ...]:
    """The reasons why answers that were whole prove nothing, each once."""
    reasons = Counter(one.why for one in lost)
    return tuple(
        f"{number(count)} answers were complete, but {why}: {ids([one for one in lost if one.why == why])}"
        for why, count in reasons.most_common()
    )


def _kept(judged: Judged) -> tuple[str, ...]:
    kept = judged.losses.kept
    lines = [f"{number(kept)} on kept connections, {number(judged.losses.sent - kept)} on fresh ones"]
    if not judged.losses.echoes:
        lines.append("no answer echoes its request ID: proved by instance header and length alone")
    if judged.losses.records.unrecorded:
        some = judged.losses.records.unrecorded
        lines.append(
            f"{number(len(some))} answers have no start record, so the instances' records aren't whole: {some[0]}"
        )
    return tuple(lines)


def _missing(judged: Judged) -> str | None:
    if not judged.losses.names_itself:
        return missing.header(judged.promises)
    return missing.FRAMING if any(one.unproved for one in judged.losses.lost) else missing.unseen(judged.timeline)


def _advice(judged: Judged, lost: list[Accounted], mechanism: object) -> str | None:
    for one in lost:
        told = mechanism_of(one, judged.timeline, judged.witness, judged.promises)
        if told is not None and told is mechanism:
            return advise(told, judged.promises, one.life, _measured(judged))
    return None


def _measured(judged: Judged) -> float | None:
    """How long the front door took to let go, at the longest."""
    return measured_seconds(judged.promises, judged.timeline, judged.losses, judged.timeline.meant_to_stop)
