"""Durations and rates as people write them in stack files.

Docker reads durations with Go's ``time.ParseDuration``: a number and a unit, several in a row
(``1m30s``), no days, no bare numbers but ``0``, no spaces. What Go refuses is refused here too, so that
swarmtest never guesses a grace period that Docker would not have taken.
"""

from __future__ import annotations

import re
from functools import lru_cache

_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)"
_PARTS = re.compile(_PART)
_WHOLE = re.compile(rf"(?:{_PART})+")
_RATE = re.compile(r"([0-9]+(?:\.[0-9]+)?)(?:\s*/\s*(s|m|h))?")
_LONGEST_SECONDS = 2**63 / 1e9
"""Go counts nanoseconds in 64 bits."""
HIGHEST_RATE = 100_000.0
"""Requests per second; more is a slip of the pen, and would be a user for each."""


def parse_duration(text: object) -> float:
    """Seconds of a duration such as ``"1m30s"``.

    Raises:
        ValueError: Docker would refuse it; the message says what's expected.
    """
    if not isinstance(text, str):
        raise ValueError(f'expected a duration as text with a unit, such as "30s", found {text!r}')
    return _parsed(text)


@lru_cache(maxsize=1024)
def _parsed(text: str) -> float:
    """The same few durations stand in a file a hundred times."""
    body, sign = text, 1.0
    if body[:1] in ("+", "-"):
        sign, body = (-1.0 if body[0] == "-" else 1.0), body[1:]
    if body == "0":
        return 0.0
    if not _WHOLE.fullmatch(body):
        raise ValueError(f'expected a duration such as "30s", "1m30s" or "500ms", found {text!r}')
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in _PARTS.findall(body))
    if seconds >= _LONGEST_SECONDS:
        raise ValueError(f"expected a duration below 292 years, found {text!r}")
    return sign * seconds


def parse_rate(text: object) -> float:
    """Requests per second of ``"40/s"``, ``"90/m"`` or a plain number.

    Raises:
        ValueError: neither a number nor a rate; or not above zero, or beyond what one machine can send.
    """
    match = _RATE.fullmatch(str(text).strip()) if not isinstance(text, bool) else None
    rate = float(match[1]) / _SECONDS[match[2] or "s"] if match else 0.0
    if not 0 < rate <= HIGHEST_RATE:
        raise ValueError(f'expected a rate above zero, and up to {HIGHEST_RATE:.0f}/s, such as "40/s", found {text!r}')
    return rate
