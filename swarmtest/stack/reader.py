"""Takes typed values out of a stack file, and points at the line of what can't be used."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from swarmtest.errors import StackError
from swarmtest.stack.composefile import ComposeFile
from swarmtest.stack.syntax.durations import parse_duration

_WHOLE = re.compile(r"[-+]?[0-9]{1,18}")


class Reader:
    """Takes typed values out of a part of the file, and knows where each one is."""

    def __init__(self, source: ComposeFile, body: object, *path: str) -> None:
        self.source, self.path = source, path
        if body is None:
            body = {}
        if not isinstance(body, dict):
            raise source.error(f"expected a mapping, found {body!r}", *path)
        self.body: Mapping[str, Any] = body

    def error(self, problem: str, key: str) -> StackError:
        """An error at ``key`` of this part."""
        return self.source.error(problem, *self.path, key)

    def part(self, key: str) -> Reader:
        """The mapping under ``key``; an absent one is empty."""
        return Reader(self.source, self.body.get(key), *self.path, key)

    def text(self, key: str, default: str) -> str:
        """A scalar as text."""
        value = self.body.get(key)
        if value is None:
            return default
        if isinstance(value, (dict, list)):
            raise self.error(f"expected a text, found {value!r}", key)
        return str(value)

    def choice(self, key: str, allowed: tuple[str, ...], default: str) -> str:
        """One of ``allowed``."""
        value = self.text(key, default)
        if value not in allowed:
            raise self.error(f"expected one of {', '.join(allowed)}, found {value!r}", key)
        return value

    def whole(self, key: str, default: int, least: int = 0) -> int:
        """A whole number, also as text, since interpolation gives text."""
        value = self.body.get(key)
        if value is None:
            return default
        number = whole_number(value)
        if number is None or number < least:
            raise self.error(f"expected a whole number of {least} or more, found {value!r}", key)
        return number

    def seconds(self, key: str, default: float) -> float:
        """A duration; what Docker refuses is refused, and in our own block the same."""
        value = self.body.get(key)
        if key not in self.body:
            return default
        try:
            return parse_duration(value)
        except ValueError as error:
            too = "" if self.path[:1] == ("x-swarmtest",) else "; Docker refuses it too"
            raise self.error(f"{error}{too}", key) from error


def whole_number(value: object) -> int | None:
    """The whole number that a value is or spells, None where it's none that fits 64 bits."""
    if isinstance(value, (bool, float)) or not _WHOLE.fullmatch(str(value)):
        return None
    return int(str(value))


OUR_HEADERS = ("content-length", "transfer-encoding", "connection", "expect", "upgrade")
"""Headers that say how a request is sent, which is for the client alone to say."""

TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")

_DECIMAL = re.compile(r"[0-9]{1,9}(?:\.[0-9]*)?")


def decimal(value: object) -> float | None:
    """The number that a value is or spells (interpolation gives text), None where it's none of ours."""
    return float(str(value)) if not isinstance(value, bool) and _DECIMAL.fullmatch(str(value)) else None


def span(reader: Reader, key: str, default: float, *, above_zero: bool = False) -> float:
    """A duration of our own: Docker takes negative ones, we have no use for them."""
    seconds = reader.seconds(key, default)
    if seconds < 0 or (above_zero and seconds == 0):
        raise reader.error(f"expected a duration {'above zero' if above_zero else 'of zero or more'}", key)
    return seconds


def word(reader: Reader, key: str, default: str) -> str:
    """A token of HTTP: the name of a header or a method."""
    word = reader.text(key, default)
    if not TOKEN.fullmatch(word):
        raise reader.error(f"expected one word such as {default}, found {word!r}", key)
    return word


def share(reader: Reader, key: str, default: float) -> float:
    """A number from 0 to 1."""
    share = decimal(reader.body.get(key, default))
    if share is None or share > 1:
        raise reader.error(f"expected a share from 0 to 1, found {reader.body[key]!r}", key)
    return share


def refuse_unknown(reader: Reader, known: tuple[str, ...]) -> None:
    """Raises for a key that isn't known, with the one that it may be meant for."""
    for key in reader.body:
        if key not in known:
            raise reader.error(f"unknown key; {near(key, known, 'known keys')}", key)


def near(word: str, known: Sequence[str], what: str = "there are") -> str:
    """What a word that isn't known may be meant for, else all that are."""
    found = difflib.get_close_matches(word, known, n=1)
    return f"did you mean {found[0]}?" if found else f"{what}: {', '.join(known) or 'none'}"


def is_header(name: str, value: str) -> bool:
    """Whether HTTP can carry it: a token, and ASCII on one line."""
    return TOKEN.fullmatch(name) is not None and value.isprintable() and value.isascii()
