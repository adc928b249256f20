"""Limits that each second is held to, by what ended in it.

A rate over a minute hides the second in which everything failed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from math import ceil, floor, isfinite

from swarmtest.checks import Judged
from swarmtest.judge.limits.counts import counted, excused, percent
from swarmtest.judge.limits.selection import Found, Selected
from swarmtest.limits import LOST_TO_FAULT, SUCCESS, Limit
from swarmtest.limits.arithmetic import State
from swarmtest.losses import Accounted
from swarmtest.losses.wording import by_class, ids, many, number, since


class _Second:
    """What ended in one second."""

    def __init__(self) -> None:
        self.total = 0
        self.sure: list[Accounted] = []
        self.perhaps = 0

    def value(self, limit: Limit, *, at_worst: bool = False) -> float:
        """The measure of this second, in the limit's unit."""
        hits = len(self.sure) + (self.perhaps if at_worst else 0)
        count = self.total - hits if limit.measure == SUCCESS else hits
        return count / self.total if limit.unit == "share" and self.total else float(count)


def judge_seconds(limit: Limit, selected: Selected, judged: Judged) -> Found:
    """Holds every second to the limit. Of shares those in which nothing ended don't count."""
    seconds = _seconds(limit, selected, judged)
    if not any(second.total for second in seconds.values()):
        return Found(State.UNCLEAR, "nothing ended in any whole second of it")
    broken = [t for t, second in seconds.items() if not limit.holds(second.value(limit))]
    doubtful = [t for t, second in seconds.items() if not limit.holds(second.value(limit, at_worst=True))]
    state = State.BROKEN if broken else State.UNCLEAR if doubtful else State.HOLDS
    least = limit.measure == SUCCESS
    worst = (min if least else max)(seconds, key=lambda t: (seconds[t].value(limit), -t if not least else t))
    value, at = seconds[worst].value(limit), since(worst, _origin(judged))
    shown = percent(value) if limit.unit == "share" else number(int(value))
    said = f"the {'lowest' if least else 'highest'} of {many(len(seconds), 'second')} is {shown}, at {at}"
    if broken:
        said = f"broken in {number(len(broken))} of {many(len(seconds), 'second')}; the worst has {shown}, at {at}"
    elif doubtful:
        said += f", and {many(len(doubtful), 'second')} may break it"
    said += excused(limit, selected)
    measured = sum(second.total for second in seconds.values())
    return Found(state, said, _evidence(broken or doubtful, seconds, judged), value, measured)


def _origin(judged: Judged) -> float | None:
    return judged.timeline.t0 if judged.timeline.t0 is not None else judged.timeline.began


def _seconds(limit: Limit, selected: Selected, judged: Judged) -> Mapping[int, _Second]:
    """Each second of the window by its number; a count needs whole ones, a share any in which something ended."""
    sure, perhaps = ({one.request.id for one in some} for some in counted(limit, selected))
    found: defaultdict[int, _Second] = defaultdict(_Second)
    for t, count in selected.answers.by_second().items():
        found[t].total = count
    fault = selected.to_fault if selected.excused and limit.measure == LOST_TO_FAULT else []
    for one in [*selected.bad, *fault]:
        second = found[floor(one.request.ended)]
        second.total += 1
        second.perhaps += one.request.id in perhaps
        if one.request.id in sure:
            second.sure.append(one)
    if limit.unit == "share":
        return dict(sorted(found.items()))
    first, last = _whole_seconds(selected, judged, max(found, default=0))
    return {t: found[t] for t in range(first, last)}


def _whole_seconds(selected: Selected, judged: Judged, last: int) -> tuple[int, int]:
    """The seconds that lie wholly in the window, and in the time under traffic; ``last`` is the last one at all."""
    phases = judged.timeline.phases
    settled = phases["settle"][1] if "settle" in phases else None
    begins = max(selected.window.begins, judged.timeline.began or 0.0)
    ends_at = min(selected.window.ends, settled if settled is not None else float(last))
    return ceil(begins), max(ceil(begins), floor(ends_at)) if isfinite(ends_at) else ceil(begins)


def _evidence(some: list[int], seconds: Mapping[int, _Second], judged: Judged) -> tuple[str, ...]:
    lines = []
    for t in some:
        second = seconds[t]
        lost = f": {by_class(second.sure)}; {ids(second.sure)}" if second.sure else ""
        ended = many(second.total, "request") + " ended"
        lines.append(f"second from {since(t, _origin(judged))}: {ended}{lost}")
    return tuple(lines)
