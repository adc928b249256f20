"""Limits on how many requests are lost or answered, over a whole phase."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from swarmtest.checks import Judged
from swarmtest.judge.limits.answers import BELONGS
from swarmtest.judge.limits.selection import Found, Selected
from swarmtest.limits import DUPLICATES, LOST, LOST_TO_FAULT, SUCCESS, Limit
from swarmtest.limits.arithmetic import DOUBT, State, chance
from swarmtest.losses import Accounted, Charge, Loss, upper_bound
from swarmtest.losses.wording import few, ids, label, many, number, since

PERHAPS_UNKNOWN = ("cut", "cut_finished", "unserved")
"""Classes that a request of unknown fate may really belong to."""


def judge_counts(limit: Limit, selected: Selected, judged: Judged) -> Found:
    """Compares a count, or a share of all that was sent, with its limit.

    A request that isn't proved to be lost, or not proved to be of the class, is counted once as if it were and
    once as if it weren't: where that makes the difference, nothing is proved.
    """
    if limit.measure == DUPLICATES:
        return _duplicates(limit, selected, judged)
    total = selected.with_fault if limit.measure == LOST_TO_FAULT else selected.total
    if not total:
        return Found(State.UNCLEAR, "nothing was sent")
    sure, perhaps = counted(limit, selected)
    state = _state(limit, len(sure), len(perhaps), total)
    if limit.measure == SUCCESS:
        measured = _amount(limit, total - len(sure), total)
        said = f"{percent(1 - len(sure) / total)} of {many(total, 'request')}, {number(len(sure))} lost"
    else:
        measured = _amount(limit, len(sure), total)
        said = f"{number(len(sure))} of {many(total, 'request')}"
        said += f", {percent(len(sure) / total)}" if limit.unit == "share" else ""
    said += f", and {number(len(perhaps))} that may be" if perhaps else ""
    said += excused(limit, selected)
    least = _least(limit) if state is State.UNCLEAR and not perhaps else 0
    said += f"; fewer than {number(least)} can't tell" if least else ""
    return Found(state, said, _evidence(limit, selected, judged, state), measured, total, None, least)


def counted(limit: Limit, selected: Selected) -> tuple[list[Accounted], list[Accounted]]:
    """Those that surely are what the limit counts, and those that may be. Of ``success`` it's what isn't one."""
    if limit.measure == LOST_TO_FAULT:
        return selected.to_fault, []
    if limit.measure in (LOST, SUCCESS):
        return selected.lost, selected.doubtful
    sure = [one for one in selected.lost if one.loss.value == limit.measure]
    unknown = [one for one in selected.lost if one.loss is Loss.UNKNOWN and limit.measure in PERHAPS_UNKNOWN]
    return sure, [
        *unknown,
        *(one for one in selected.doubtful if _is_told_apart(one) and limit.measure == one.loss.value),
    ]


def _is_told_apart(one: Accounted) -> bool:
    """Whether only that it's lost is in doubt, or whose loss it is, and not its class."""
    return one.unproved or one.charge is Charge.BACKGROUND


def excused(limit: Limit, selected: Selected) -> str:
    """What isn't counted, since it belongs to what was hurt on purpose."""
    if not selected.excused or limit.measure == LOST_TO_FAULT:
        return ""
    return f" ({number(selected.excused)} lost to what was hurt aren't counted)"


def percent(share: float) -> str:
    """``99.87 %``; what isn't all is never rounded to all, and what isn't none never to none."""
    value = min(share * 100, 99.99) if share < 1 else 100.0
    return f"{max(value, 0.01) if share > 0 else 0:.4g} %"


def _amount(limit: Limit, count: int, total: int) -> float:
    return count / total if limit.unit == "share" else float(count)


def _state(limit: Limit, sure: int, perhaps: int, total: int) -> State:
    """By the least and by the most that it can be."""
    good = limit.measure == SUCCESS
    best, worst = (total - sure, total - sure - perhaps) if good else (sure, sure + perhaps)
    if not limit.holds(_amount(limit, best, total)):
        return State.BROKEN if _enough(limit, total) or _no_luck(limit, sure, total) else State.UNCLEAR
    return State.HOLDS if limit.holds(_amount(limit, worst, total)) and _enough(limit, total) else State.UNCLEAR


def _allowed(limit: Limit) -> float:
    """The share that may be lost; 0 for what isn't a share."""
    if limit.unit != "share":
        return 0.0
    return 1 - limit.value if limit.measure == SUCCESS else limit.value


def _least(limit: Limit) -> int:
    """How many requests there must be so that a share can be told from the one that's allowed by a single one."""
    allowed = _allowed(limit)
    return -int(-1 / allowed // 1) if 0 < allowed < 1 else 1


def _enough(limit: Limit, total: int) -> bool:
    return total >= _least(limit)


def _no_luck(limit: Limit, lost: int, total: int) -> bool:
    return chance(lost, total, _allowed(limit)) < DOUBT


def _evidence(limit: Limit, selected: Selected, judged: Judged, state: State) -> tuple[str, ...]:
    sure, perhaps = counted(limit, selected)
    lines: list[str] = []
    if state is not State.HOLDS and sure:
        lines += [*_where(sure), _worst_second(sure, judged)]
    if state is not State.HOLDS and perhaps:
        lines.append(f"{many(len(perhaps), 'request')} that may be: {perhaps[0].why}; {ids(perhaps)}")
    if state is State.HOLDS and not sure and limit.unit == "requests":
        bound = upper_bound(0, selected.total)
        lines += [f"none of so many is a share below {percent(bound)} at 95 %"] if bound is not None else []
    return tuple(lines)


def _where(lost: Sequence[Accounted]) -> list[str]:
    """A line for each class, with the instances that lost most of it; how, the checks say."""
    lines = []
    for loss, count in Counter(one.loss for one in lost).most_common():
        some = [one for one in lost if one.loss is loss]
        places = Counter(label(one.life) for one in some).most_common()
        lines.append(f"{number(count)} {loss}: {few([f'{times} on {place}' for place, times in places])}; {ids(some)}")
    return lines


def _worst_second(lost: Sequence[Accounted], judged: Judged) -> str:
    origin = judged.timeline.t0 if judged.timeline.t0 is not None else judged.timeline.began
    seconds = Counter(int(one.request.ended) for one in lost)
    second, count = max(seconds.items(), key=lambda item: (item[1], -item[0]))
    return f"worst second: {since(second, origin)}, {number(count)} in it"


def _duplicates(limit: Limit, selected: Selected, judged: Judged) -> Found:
    """Needs the instances' records: without them nobody would have seen that something was done twice."""
    sent = selected.with_fault
    if not sent:
        return Found(State.UNCLEAR, "nothing was sent")
    if not judged.witness.handled:
        return Found(State.UNCLEAR, "no instance says which requests it handled", requests=sent)
    twice = _within(selected, judged)
    state = State.HOLDS if limit.holds(len(twice)) else State.BROKEN
    if state is State.HOLDS and not judged.losses.records.whole:
        state = State.UNCLEAR
    said = f"{number(len(twice))} of {many(sent, 'request')} were handled twice"
    said += ", and the instances' records aren't whole" if state is State.UNCLEAR else ""
    return Found(state, said, (f"twice: {few(twice)}",) if twice else (), float(len(twice)), sent)


def _within(selected: Selected, judged: Judged) -> list[str]:
    """Those of what was handled twice that the limit is about."""
    where = "r.id IN (SELECT unnest($names)) AND ($kind IS NULL OR a.kind = $kind)"
    where += f" AND {BELONGS} >= $begins AND {BELONGS} < $ends"
    names = [name for name, _ in judged.losses.duplicates]
    values = {**selected.answers.values, "names": names}
    if not names:
        return []
    rows = judged.requests.rows(
        f"SELECT r.id FROM accounted a JOIN requests r USING (n) WHERE {where} ORDER BY a.n", values
    )
    return [str(name) for (name,) in rows]
