"""Limits on answer times: percentiles of what was answered, counted from when it was due."""

from __future__ import annotations

from collections import Counter

from swarmtest.checks import Judged
from swarmtest.judge.limits.selection import Found, Selected, due
from swarmtest.limits import SLOWEST, Limit
from swarmtest.limits.arithmetic import State, least_answers, rank, tail_state
from swarmtest.losses import Accounted
from swarmtest.losses.wording import few, many, number, since


def judge_times(limit: Limit, selected: Selected, judged: Judged) -> Found:
    """Compares a percentile with its limit; a lost request has no answer, and so no time."""
    share = limit.share or 0.0
    answers = sorted(selected.ok, key=_milliseconds)
    above = [one for one in answers if not limit.holds(_milliseconds(one))]
    if not answers:
        return Found(State.UNCLEAR, "nothing was answered")
    state = tail_state(len(answers), len(above), share)
    place = rank(len(answers), share) - 1
    measured = _milliseconds(answers[place])
    uncorrected = sorted(map(_from_sent, answers))[place]
    least = least_answers(share)
    count = many(len(answers), "answer")
    if state is State.UNCLEAR:
        said = f"{count} can't tell, it takes {number(least)}; the {_ordinal(limit)} is {in_ms(measured)}"
    elif state is State.BROKEN:
        over = measured - limit.value
        much = f", {in_ms(over)} over" if over >= 0.5 else ""
        said = f"{in_ms(measured)}{much}; {number(len(above))} of {count} weren't within it"
    else:
        said = f"{in_ms(measured)}, of {count}"
    evidence = [f"counted from when they were really sent: {in_ms(uncorrected)}"]
    if state is not State.HOLDS and above:
        evidence = [*_above(above, answers, judged), *evidence]
    return Found(
        state=state,
        said=said,
        evidence=tuple(evidence),
        measured=round(measured, 3),
        requests=len(answers),
        uncorrected=round(uncorrected, 3),
        least=least if state is State.UNCLEAR else 0,
    )


def in_ms(milliseconds: float) -> str:
    """A time for a person: ``612 ms``, ``0.4 ms``."""
    return f"{milliseconds:,.0f} ms" if milliseconds >= 10 else f"{milliseconds:.1f} ms"


def _ordinal(limit: Limit) -> str:
    return "slowest" if limit.measure == SLOWEST else f"{limit.measure} of them"


def _milliseconds(one: Accounted) -> float:
    return (one.request.ended - due(one)) * 1000


def _from_sent(one: Accounted) -> float:
    return (one.request.ended - one.request.began) * 1000


def _above(above: list[Accounted], answers: list[Accounted], judged: Judged) -> list[str]:
    """Which second had most of those that are above, and which requests are the slowest."""
    origin = judged.timeline.t0 if judged.timeline.t0 is not None else judged.timeline.began
    slow, all_of = Counter(int(due(one)) for one in above), Counter(int(due(one)) for one in answers)
    second, count = max(slow.items(), key=lambda item: (item[1], -item[0]))
    slowest = [f"{one.request.id} ({in_ms(_milliseconds(one))})" for one in reversed(above)]
    return [
        f"worst second: {since(second, origin)}, {number(count)} of {many(all_of[second], 'answer')} due in it",
        f"slowest: {few(slowest)}",
    ]
