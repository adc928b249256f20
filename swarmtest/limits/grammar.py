"""From the words of a limit to its value; a mistake has one message that says what's expected there.

    measure [of KIND] [in PHASE] sign value [of KIND] [in PHASE]

A measure is ``p99`` and its like, ``max``, ``success``, ``lost``, ``lost to fault``, a class such as ``refused``,
or ``duplicates``; ``per second`` or ``per rollout`` may follow it, or the value.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, field

from swarmtest.limits import CLASSES, DUPLICATES, LOST, LOST_TO_FAULT, ROLLOUT, RUN, SLOWEST, SUCCESS, Limit

EXAMPLE = '"p99 < 800ms", "lost = 0" or "success per second >= 99%"'
MEASURES = ("p50", "p90", "p99", SLOWEST, SUCCESS, LOST, LOST_TO_FAULT, *CLASSES, DUPLICATES)

_PERCENTILE = re.compile(r"p([0-9]{1,2}(?:\.[0-9]{1,3})?)")
_SIGNS = {"≤": "<=", "≥": ">=", "==": "=", "=<": "<=", "=>": ">="}
_SPLIT = re.compile(r"\s+|([<>=≤≥!]+)")
_NUMBER = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)(.*)")
_MILLISECONDS = {"us": 1e-3, "µs": 1e-3, "ms": 1.0, "s": 1e3, "m": 6e4}
_MEANT = {
    "latency": "p99",
    "median": "p50",
    "mean": "p50, since a mean hides the slow ones",
    "avg": "p50, since a mean hides the slow ones",
    "slowest": SLOWEST,
    "errors": "error, or lost for all that isn't answered well",
    "failed": LOST,
    "failures": LOST,
    "loss": LOST,
    "losses": LOST,
    "ok": SUCCESS,
    "availability": SUCCESS,
    "timeouts": "timed_out",
    "resets": "cut",
    "5xx": "error",
}
_UPPER, _LOWER = ("<", "<="), (">", ">=")


@dataclass(slots=True)
class _Parts:
    """What has been read so far."""

    measure: str = ""
    sign: str = ""
    value: str = ""
    per_second: bool = False
    kind: str | None = None
    phase: str | None = None
    each: bool = False
    left: list[str] = field(default_factory=list)


def parse_limit(text: str) -> Limit:
    """The limit that a text says.

    Raises:
        ValueError: it says none; the message has what was found and what's expected.
    """
    words = [word for word in _SPLIT.split(text) if word]
    if not words:
        raise ValueError(f"expected a limit such as {EXAMPLE}, found nothing")
    parts = _Parts(left=words)
    parts.measure = _measure(parts)
    _qualify(parts)
    parts.sign = _sign(parts)
    parts.value = _value(parts)
    _qualify(parts)
    if parts.left:
        raise ValueError(
            f"expected the end, or one of: of KIND, in PHASE, per second, per rollout; found {' '.join(parts.left)!r}"
        )
    value, unit = _amount(parts)
    _refuse_senseless(parts, value, unit)
    return Limit(
        text=" ".join(text.split()),
        measure=parts.measure,
        sign=parts.sign,
        value=value,
        unit=unit,
        per_second=parts.per_second,
        kind=parts.kind,
        phase=parts.phase,
        each=parts.each,
    )


def _measure(parts: _Parts) -> str:
    word = parts.left.pop(0)
    if _is_percentile(word) or word in MEASURES:
        if word == LOST and parts.left[:1] == ["to"]:
            parts.left.pop(0)
            if parts.left[:1] == ["the"]:
                parts.left.pop(0)
            if parts.left[:1] != ["fault"]:
                raise ValueError(f'expected "lost to fault", found "lost to {" ".join(parts.left[:1])}"')
            parts.left.pop(0)
            return LOST_TO_FAULT
        return word
    if re.fullmatch(r"p[0-9.]+", word):
        raise ValueError(f"expected a percentile below 100 such as p50, p99 or p99.9, found {word!r}")
    low = word.lower()
    near = difflib.get_close_matches(low, MEASURES, n=1)
    meant = _MEANT.get(low) or (low if low in MEASURES else near[0] if near else "")
    hint = f"did you mean {meant}?" if meant else f"there are: {', '.join(MEASURES)}"
    raise ValueError(f"expected what's measured first, found {word!r}; {hint}")


def _is_percentile(word: str) -> bool:
    found = _PERCENTILE.fullmatch(word)
    return found is not None and 0 < float(found[1]) < 100


def _qualify(parts: _Parts) -> None:
    """Takes ``of KIND``, ``in PHASE`` and ``per …``, in any order."""
    while parts.left and parts.left[0] in ("of", "in", "per"):
        word = parts.left.pop(0)
        if not parts.left or _is_sign(parts.left[0]):
            expected = {"of": "a kind of traffic", "in": "a phase", "per": "second or rollout"}[word]
            found = repr(parts.left[0]) if parts.left else "the end"
            raise ValueError(f"expected {expected} after {word!r}, found {found}")
        if word == "of":
            _once(parts.kind, "kind of traffic")
            parts.kind = parts.left.pop(0)
        elif word == "in":
            _once(parts.phase, "phase")
            parts.phase = _phase(parts)
        else:
            _per(parts)


def _once(found: str | None, what: str) -> None:
    if found is not None:
        raise ValueError(f"expected one {what}, found a second one; write a limit for each")


def _phase(parts: _Parts) -> str | None:
    """A phase's name may have spaces: it goes on to the next word that can't be part of it."""
    words = [parts.left.pop(0)]
    while parts.left and not _is_sign(parts.left[0]) and parts.left[0] not in ("of", "in", "per"):
        words.append(parts.left.pop(0))
    name = " ".join(words)
    return None if name == RUN else name


def _per(parts: _Parts) -> None:
    word = parts.left.pop(0)
    match word:
        case "second" | "s" | "sec":
            parts.per_second = True
        case "rollout":
            _once(parts.phase, "phase")
            parts.phase, parts.each = ROLLOUT, True
        case "run":
            _once(parts.phase, "phase")
        case _:
            near = difflib.get_close_matches(word, ("second", ROLLOUT, RUN), n=1)
            hint = f"; did you mean per {near[0]}?" if near else ""
            raise ValueError(f"expected per second, per rollout or per run, found 'per {word}'{hint}")


def _is_sign(word: str) -> bool:
    return word[0] in "<>=≤≥!"


def _sign(parts: _Parts) -> str:
    if not parts.left:
        raise ValueError(f"expected one of < <= = >= > after {parts.measure!r}, found the end; such as {EXAMPLE}")
    word = parts.left.pop(0)
    sign = _SIGNS.get(word, word)
    if sign not in (*_UPPER, "=", *_LOWER):
        raise ValueError(f"expected one of < <= = >= > after {parts.measure!r}, found {word!r}")
    return sign


def _value(parts: _Parts) -> str:
    if not parts.left:
        raise ValueError(f"expected a value after {parts.sign!r}, found the end")
    value = parts.left.pop(0)
    if parts.left and (parts.left[0] == "%" or parts.left[0] in _MILLISECONDS):
        value += parts.left.pop(0)
    return value


def _amount(parts: _Parts) -> tuple[float, str]:
    """The value in milliseconds, requests or as a share."""
    found = _NUMBER.fullmatch(parts.value)
    number, unit = (float(found[1]), found[2]) if found else (0.0, parts.value)
    if _is_percentile(parts.measure) or parts.measure == SLOWEST:
        if found is None or unit not in _MILLISECONDS or not number:
            hint = f"; did you mean {parts.value}ms?" if found and not unit else ""
            raise ValueError(f"expected a time such as 800ms or 1.5s, found {parts.value!r}{hint}")
        return number * _MILLISECONDS[unit], "ms"
    if found is not None and unit == "%":
        if number > 100:
            raise ValueError(f"expected a share up to 100%, found {parts.value!r}")
        return round(number / 100, 9), "share"
    if found is None or unit or number != int(number):
        raise ValueError(f"expected a count such as 2 or a share such as 1%, found {parts.value!r}")
    return number, "requests"


def _refuse_senseless(parts: _Parts, value: float, unit: str) -> None:
    """What can be read, and couldn't be meant."""
    measure, sign = parts.measure, parts.sign
    if unit == "ms" and parts.per_second:
        raise ValueError(f"{measure} has no sense per second: one second has too few answers for it")
    if measure == SUCCESS:
        if unit == "requests" and not parts.per_second:
            raise ValueError(f"expected a share such as 99%, or success per second, found {parts.value!r}")
        if sign in _UPPER or (sign == "=" and (unit, value) != ("share", 1.0)):
            raise ValueError(f"expected >= or > after {measure!r}, found {sign!r}: less of it is never what's wanted")
    elif sign in _LOWER or (sign == "=" and (unit == "ms" or value)):
        raise ValueError(f"expected <= or < after {measure!r}, found {sign!r}: more of it is never what's wanted")
    if sign == "<" and not value:
        raise ValueError(f"nothing can be below 0; did you mean {measure} = 0?")
    if sign == ">" and (unit, value) == ("share", 1.0):
        raise ValueError("nothing can be above 100%; did you mean >= 100%?")
    if measure == DUPLICATES and (unit == "share" or parts.per_second):
        raise ValueError(f"expected a count of {measure} such as {measure} = 0, found {parts.value!r}")
