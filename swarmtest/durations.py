"""Durations and rates as people write them in stack files.

Docker reads durations with Go's ``time.ParseDuration``: a number and a unit, several in a row
(``1m30s``), no days, no bare numbers but ``0``, no spaces. What Go refuses is refused here too, so that
swarmtest never guesses a grace period that Docker would not have taken.
"""

from __future__ import annotations

import re

_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)")
_RATE = re.compile(r"(\d+(?:\.\d+)?)\s*/\s*(s|m|h)")


def parse_duration(text: object) -> float:
    """Seconds of a duration such as ``"1m30s"``.

    Raises:
        ValueError: Docker would refuse it; the message says what's expected.
    """
    if not isinstance(text, str):
        raise ValueError(f'expected a duration as text with a unit, such as "30s", found {text!r}')
    body, sign = text, 1.0
    if body[:1] in ("+", "-"):
        sign, body = (-1.0 if body[0] == "-" else 1.0), body[1:]
    if body == "0":
        return 0.0
    seconds, position = 0.0, 0
    for match in iter(lambda: _PART.match(body, position), None):
        seconds += float(match[1]) * _SECONDS[match[2]]
        position = match.end()
    if position == 0 or position != len(body):
        raise ValueError(f'expected a duration such as "30s", "1m30s" or "500ms", found {text!r}')
    return sign * seconds


def parse_rate(text: object) -> float:
    """Requests per second of ``"40/s"``, ``"90/m"`` or a plain number.

    Raises:
        ValueError: neither a number nor a rate; or not above zero.
    """
    rate = 0.0
    if isinstance(text, (int, float)) and not isinstance(text, bool):
        rate = float(text)
    elif isinstance(text, str) and (match := _RATE.fullmatch(text.strip())):
        rate = float(match[1]) / _SECONDS[match[2]]
    if rate <= 0:
        raise ValueError(f'expected a rate above zero such as "40/s", found {text!r}')
    return rate
