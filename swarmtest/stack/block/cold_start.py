"""How slow the first requests on a new instance may be: the key ``cold_start`` of the ``x-swarmtest`` block."""

from __future__ import annotations

import re
from dataclasses import dataclass

from swarmtest.stack.reader import Reader
from swarmtest.stack.syntax.durations import parse_duration

_TIMES = re.compile(r"([0-9]{1,4}(?:\.[0-9]{1,6})?) ?x")


@dataclass(frozen=True, slots=True)
class ColdStart:
    """What the first requests on a new instance may take, beside its later ones: one of the two is given.

    Attributes:
        times: so many times as long.
        seconds: so much longer.
    """

    times: float | None = None
    seconds: float | None = None


DEFAULT_COLD_START = ColdStart(times=3.0)


def parse_cold_start(text: object) -> ColdStart:
    """The limit of ``3x`` or ``500ms``.

    Raises:
        ValueError: neither.
    """
    expected = f'expected a factor such as "3x" or a duration such as "500ms", found {text!r}'
    if match := _TIMES.fullmatch(str(text).strip()):
        if (times := float(match[1])) < 1:
            raise ValueError(f"{expected}; the factor is 1 or more")
        return ColdStart(times=times)
    try:
        seconds = parse_duration(text)
    except ValueError as error:
        raise ValueError(expected) from error
    if seconds < 0:
        raise ValueError(f"{expected}; the duration is zero or more")
    return ColdStart(seconds=seconds)


def read_cold_start(about: Reader) -> ColdStart:
    """The limit that the block names.

    Raises:
        StackError: it's none.
    """
    if about.body.get("cold_start") is None:
        return DEFAULT_COLD_START
    try:
        return parse_cold_start(about.body["cold_start"])
    except ValueError as error:
        raise about.error(str(error), "cold_start") from error
