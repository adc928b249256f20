"""Another machine's clock: by how much it's ahead, and times of the one by the other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

EPOCH = 1e9
"""Numbers with a fraction from here on are times since the epoch."""


def ahead_by(looks: Iterable[tuple[float, float, float]]) -> tuple[float, float]:
    """By how many seconds our clock is ahead of the other one, and how surely.

    The quickest question and answer counts, since the other clock was read somewhere between the two: half of the way
    there and back is the error (Cristian's algorithm, 1989).

    Arguments:
        looks: of each question when it was asked by our clock, what the other one said, and when that came.
    """
    way, ahead = min((came - asked, (asked + came) / 2 - told) for asked, told, came in looks)
    return ahead, way / 2


def turned(line: bytes, ahead_seconds: float) -> bytes:
    """A line of JSON with its times by another clock, which the writer's is ahead of."""
    if ahead_seconds == 0:
        return line
    fields: dict[str, Any] = msgspec.json.decode(line)
    for name, value in fields.items():
        if isinstance(value, float) and value > EPOCH:
            fields[name] = value - ahead_seconds
    return msgspec.json.encode(fields)
