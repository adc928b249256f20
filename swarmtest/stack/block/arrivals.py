"""When the requests of a kind arrive: a rate that stays, a ramp or bursts, and evenly or by chance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from swarmtest.stack.reader import Reader, refuse_unknown, span
from swarmtest.stack.syntax.durations import parse_rate

RAMP = ("from", "to", "over")
BURSTS = ("steady", "burst", "after", "for", "every")
ARRIVALS = ("even", "poisson")


@dataclass(frozen=True, slots=True)
class Stage:
    """A stretch of time in which the rate goes from one value to another, in a straight line."""

    seconds: float
    begin: float
    end: float


@dataclass(frozen=True, slots=True)
class Shape:
    """How a rate changes from the start of the traffic on.

    Attributes:
        stages: one after the other; the last one's rate holds after them.
        repeats: they begin anew instead.
    """

    stages: tuple[Stage, ...]
    repeats: bool = False

    @property
    def highest(self) -> float:
        """The highest rate."""
        return max(max(stage.begin, stage.end) for stage in self.stages)

    def scaled(self, factor: float) -> Shape:
        """The same with every rate so many times as high."""
        stages = (replace(stage, begin=stage.begin * factor, end=stage.end * factor) for stage in self.stages)
        return replace(self, stages=tuple(stages))


def read_rate(reader: Reader, default: float) -> tuple[float, Shape | None]:
    """The highest rate of a kind, and how it changes where it does.

    Raises:
        StackError: a rate that can't be, or keys that make neither a ramp nor bursts.
    """
    value = reader.body.get("rate", default)
    if not isinstance(value, dict):
        return _one(reader, "rate", value), None
    part = reader.part("rate")
    refuse_unknown(part, (*RAMP, *BURSTS))
    shape = _ramp(part) if any(key in part.body for key in RAMP) else _bursts(part)
    return shape.highest, shape


def _ramp(part: Reader) -> Shape:
    _need(part, RAMP, (), "a ramp such as {from: 10/s, to: 100/s, over: 30s}")
    begin, end = (_one(part, key, part.body[key]) for key in ("from", "to"))
    return Shape((Stage(span(part, "over", 0.0, above_zero=True), begin, end),))


def _bursts(part: Reader) -> Shape:
    needed = "bursts such as {steady: 20/s, burst: 200/s, after: 10s, for: 5s, every: 30s}"
    _need(part, BURSTS[:4], BURSTS[4:], needed)
    steady, burst = (_one(part, key, part.body[key]) for key in ("steady", "burst"))
    after, lasts = span(part, "after", 0.0), span(part, "for", 0.0, above_zero=True)
    repeats = "every" in part.body
    every = span(part, "every", 0.0, above_zero=True) if repeats else after + lasts
    if every < after + lasts:
        raise part.error(f"each round takes {after + lasts:g} s: expected at least that", "every")
    stages = (Stage(after, steady, steady), Stage(lasts, burst, burst), Stage(every - after - lasts, steady, steady))
    return Shape(stages, repeats)


def _need(part: Reader, keys: tuple[str, ...], others: tuple[str, ...], example: str) -> None:
    if odd := next((key for key in part.body if key not in (*keys, *others)), None):
        raise part.error(f"it doesn't go with the other keys; expected a rate such as 40/s, or {example}", odd)
    if missing := [key for key in keys if key not in part.body]:
        found = ", ".join(part.body) or "nothing"
        raise part.source.error(f"{missing[0]} is missing beside {found}; expected {example}", *part.path)


def _one(reader: Reader, key: str, value: Any) -> float:
    try:
        return parse_rate(value)
    except ValueError as error:
        raise reader.error(str(error), key) from error
