"""How the rate of arrivals changes over time, and its two sums: how many by when, and when so many.

Plain arithmetic on stages in which the rate goes in a straight line: constant, a ramp or, with a jump between two
stages, a burst. After the last stage its rate stays, or the stages begin anew.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Protocol


class Stage(Protocol):
    """A stretch of time in which the rate goes from one value to another."""

    @property
    def seconds(self) -> float: ...

    @property
    def begin(self) -> float: ...

    @property
    def end(self) -> float: ...


class Curve:
    """Requests per second over the seconds since the start.

    Arguments:
        stages: one after the other from 0 on.
        rate: what holds after them, or all the time where there are none.
        repeats: the stages begin anew instead; they must send something then.
    """

    def __init__(self, rate: float, stages: Sequence[Stage] = (), *, repeats: bool = False) -> None:
        self._rate = rate
        self._stages = [stage for stage in stages if stage.seconds > 0]
        self._repeats = repeats and bool(self._stages)
        self._times = [0.0, *accumulate(stage.seconds for stage in self._stages)]
        self._counts = [0.0, *accumulate((stage.begin + stage.end) / 2 * stage.seconds for stage in self._stages)]

    def count_at(self, seconds: float) -> float:
        """How many requests the rate makes in the first ``seconds``."""
        if seconds <= 0:
            return 0.0
        if not self._stages:
            return seconds * self._rate
        rounds, seconds = divmod(seconds, self._times[-1]) if self._repeats else (0.0, seconds)
        before = rounds * self._counts[-1]
        if seconds >= self._times[-1]:
            return before + self._counts[-1] + (seconds - self._times[-1]) * self._rate
        place = bisect_right(self._times, seconds) - 1
        stage, into = self._stages[place], seconds - self._times[place]
        slope = (stage.end - stage.begin) / stage.seconds
        return before + self._counts[place] + into * (stage.begin + slope * into / 2)

    def time_of(self, count: float) -> float:
        """When the rate has made so many requests: the inverse of :meth:`count_at`."""
        if not self._stages:
            return count / self._rate
        rounds, count = divmod(count, self._counts[-1]) if self._repeats else (0.0, count)
        before = rounds * self._times[-1]
        if count >= self._counts[-1]:
            return before + self._times[-1] + (count - self._counts[-1]) / self._rate
        place = bisect_right(self._counts, count) - 1
        stage, rest = self._stages[place], count - self._counts[place]
        if rest <= 0:
            return before + self._times[place]
        slope = (stage.end - stage.begin) / stage.seconds
        # The root of a quadratic in the form that has no difference of like numbers in it.
        rates = stage.begin + math.sqrt(max(0.0, stage.begin**2 + 2 * slope * rest))
        if rates == 0.0:  # a rate whose square is too small for a number
            return before + self._times[place + 1]
        return before + min(self._times[place] + 2 * rest / rates, self._times[place + 1])
