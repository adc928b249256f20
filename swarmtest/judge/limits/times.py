"""Limits on answer times: percentiles of what was answered, counted from when it was due."""

from __future__ import annotations

from swarmtest.checks import Judged
from swarmtest.judge.limits.answers import Answers
from swarmtest.judge.limits.selection import Found, Selected
from swarmtest.limits import SLOWEST, Limit
from swarmtest.limits.arithmetic import State, least_answers, tail_state
from swarmtest.losses.wording import FEW, few, many, number, since
from swarmtest.timeline.machine import full_machine


def judge_times(limit: Limit, selected: Selected, judged: Judged) -> Found:
    """Compares a percentile with its limit; a lost request has no answer, and so no time."""
    share, answers = limit.share or 0.0, selected.answers
    times = answers.times(limit)
    if times is None:
        return Found(State.UNCLEAR, "no request is proved to be answered")
    total, above, measured = times.count, times.above, times.corrected
    state = tail_state(total, above, share)
    least, count = least_answers(share), many(total, "answer")
    if state is State.UNCLEAR:
        said = f"{count} can't tell, it takes {number(least)}; the {_ordinal(limit)} is {in_ms(measured)}"
    elif state is State.BROKEN:
        over = measured - limit.value
        much = f", {in_ms(over)} over" if over >= 0.5 else ""
        said = f"{in_ms(measured)}{much}; {number(above)} of {count} weren't within it"
    else:
        said = f"{in_ms(measured)}, of {count}"
    evidence = [f"counted from when they were really sent: {in_ms(times.uncorrected)}"]
    if state is State.BROKEN and (full := full_machine(judged.timeline)) is not None:
        state, said = State.UNCLEAR, f"{said}, on a machine with nothing left"
        evidence = [full, *evidence]
    if state is not State.HOLDS and above:
        evidence = [*_above(limit, above, answers, judged), *evidence]
    return Found(
        state=state,
        said=said,
        evidence=tuple(evidence),
        measured=round(measured, 3),
        requests=total,
        uncorrected=round(times.uncorrected, 3),
        least=least if total < least else 0,
    )


def in_ms(milliseconds: float) -> str:
    """A time for a person: ``612 ms``, ``0.4 ms``."""
    return f"{milliseconds:,.0f} ms" if milliseconds >= 10 else f"{milliseconds:.1f} ms"


def _ordinal(limit: Limit) -> str:
    return "slowest" if limit.measure == SLOWEST else f"{limit.measure} of them"


def _above(limit: Limit, above: int, answers: Answers, judged: Judged) -> list[str]:
    """Which second had most of those that are above, and which requests are the slowest."""
    origin = judged.timeline.t0 if judged.timeline.t0 is not None else judged.timeline.began
    second, count, of = answers.worst_second(limit)
    slowest = few([f"{name} ({in_ms(milliseconds)})" for name, milliseconds in answers.slowest(limit, FEW)])
    more = f" and {number(above - FEW)} more" if above > FEW else ""
    return [
        f"worst second: {since(second, origin)}, {number(count)} of {many(of, 'answer')} due in it",
        f"slowest: {slowest}{more}",
    ]
