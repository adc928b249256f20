"""What a plain word of a YAML file is, by the parser that Docker reads with (``gopkg.in/yaml.v3``, ``resolve.go``).

It's neither YAML 1.1 nor 1.2: ``yes`` and ``on`` stay text, ``22:22`` too, ``017`` is 15, ``08`` is the fraction 8.0,
``1_000`` is 1000. Dates stay text here; where Docker reads a time, :func:`is_time` tells.
"""

from __future__ import annotations

import re
from datetime import date
from math import isfinite
from typing import Any

_WORDS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
}
_NUMBER_BEGINS = frozenset("+-.0123456789")
_DECIMAL = re.compile(r"[-+]?(?:0|[1-9][0-9]*)", re.ASCII)
_BASED = re.compile(r"([-+]?)0([xX][0-9a-fA-F]+|[bB][01]+|[oO]?[0-7]+)", re.ASCII)
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_TIME = re.compile(
    r"[0-9]{4}-([0-9]{1,2})-([0-9]{1,2})"
    r"(?:(?:[Tt][0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:\.[0-9]+)?(?:Z|[-+][0-9]{2}:[0-9]{2}))"
    r"|(?: [0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:\.[0-9]+)?))?",
    re.ASCII,
)
_BASES = {"x": 16, "b": 2, "o": 8}


def plain_value(word: str) -> Any:
    """What Docker takes a word without quotes for."""
    if word in _WORDS:
        return _WORDS[word]
    return word if word[0] not in _NUMBER_BEGINS else _number(word)


def _number(word: str) -> Any:
    """Dates come first with Docker, too; no date is a number else."""
    text = word.replace("_", "") if "_" in word else word
    if _DECIMAL.fullmatch(text) and len(text) < 20:
        return int(text)
    if found := _BASED.fullmatch(text):
        digits = found[2]
        base = _BASES.get(digits[0].lower())
        return int(found[1] + (digits[1:] if base else digits), base or 8)
    if _FLOAT.fullmatch(text):
        number = float(text)
        if number in (float("inf"), float("-inf")):
            return word
        return int(text) if text.lstrip("+").isdigit() and number < 2**64 and text.lstrip("+")[0] != "0" else number
    return word


def is_time(word: str) -> bool:
    """Whether Docker reads a plain word as a point in time; it's refused then wherever a text has to stand."""
    if not word[:4].isdigit() or word[4:5] != "-" or not (found := _TIME.fullmatch(word)):
        return False
    try:
        date(int(word[:4]) or 1, int(found[1]), int(found[2]))
    except ValueError:
        return False
    return True


def as_text(value: object) -> str:
    """A scalar as Docker writes it where it wants a text, as in ``environment`` (Go's ``fmt.Sprint``)."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case float():
            return _float_text(value)
        case _:
            return str(value)


def _float_text(value: float) -> str:
    """The fewest digits that tell the number, with an exponent below -4 and from 6 on (Go's ``%v``)."""
    if not isfinite(value):
        return {"inf": "+Inf", "-inf": "-Inf"}.get(str(value), "NaN")
    mantissa, _, exponent = next(
        text for precision in range(18) if float(text := f"{value:.{precision}e}") == value
    ).partition("e")
    power = int(exponent)
    if power < -4 or power >= 6:
        return f"{mantissa}e{power:+03d}"
    return f"{value:.{max(len(mantissa.lstrip('-').replace('.', '')) - 1 - power, 0)}f}"
