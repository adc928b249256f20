"""Reads ``.env``, which Compose does and ``docker stack deploy`` doesn't (compose-go ``dotenv/parser.go``).

In single quotes everything stays as it is; in double quotes and without any, variables are replaced.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from swarmtest.stack.syntax.variables import replaced_by_compose

_KEY = re.compile(r"(?:export[ \t]+)?([A-Za-z0-9_.\[\]-]+)[ \t]*(?:([=:])[ \t]*|(?=\n|$))")
_NOT_QUOTED = re.compile(r"[^\n]*")
_COMMENT = re.compile(r"(?:^|[ \t])#.*")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


@dataclass(frozen=True, slots=True)
class DotEnv:
    """What a file sets; ``refused_line`` is the one that Compose can't read, after which nothing is taken."""

    path: Path
    values: Mapping[str, str]
    refused_line: int | None = None


def read_dotenv(folder: Path, environment: Mapping[str, str]) -> DotEnv:
    """The file ``.env`` of a folder; empty where there's none that can be read."""
    path = folder / ".env"
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError):
        return DotEnv(path, {})
    return parse_dotenv(text, path, environment)


def parse_dotenv(text: str, path: Path, environment: Mapping[str, str]) -> DotEnv:
    """What a text sets; variables in it are those of the environment and of the lines above."""
    text = text.replace("\r\n", "\n")
    values: dict[str, str] = {}
    at = 0
    while True:
        while at < len(text) and (text[at].isspace() or text[at] == "#"):
            at = _end_of_line(text, at) if text[at] == "#" else at + 1
        if at >= len(text):
            return DotEnv(path, values)
        line = text.count("\n", 0, at) + 1
        found = _KEY.match(text, at)
        if found is None:
            return DotEnv(path, values, line)
        at = found.end()
        if found[2] is None:
            if found[1] in environment:
                values[found[1]] = environment[found[1]]
            continue
        value, at = _value(text, at, {**values, **environment})
        if at < 0:
            return DotEnv(path, values, line)
        values[found[1]] = value


def _end_of_line(text: str, at: int) -> int:
    end = text.find("\n", at)
    return end if end >= 0 else len(text)


def _value(text: str, at: int, known: Mapping[str, str]) -> tuple[str, int]:
    """A value, and where the text goes on; -1 where a quote isn't closed."""
    quote = text[at : at + 1]
    if quote not in ("'", '"'):
        found = _NOT_QUOTED.match(text, at)
        plain = _COMMENT.sub("", found[0] if found else "").rstrip()
        return replaced_by_compose(plain, known).text, _end_of_line(text, at)
    body: list[str] = []
    end = at + 1
    while end < len(text) and text[end] != quote:
        if text[end] == "\\" and end + 1 < len(text):
            following = text[end + 1]
            body.append(_escaped(following, quote))
            end += 2
            continue
        body.append(text[end])
        end += 1
    if end >= len(text):
        return "", -1
    whole = "".join(body)
    return (whole if quote == "'" else replaced_by_compose(whole, known).text), _end_of_line(text, end)


def _escaped(character: str, quote: str) -> str:
    if quote == "'":
        return character if character == "'" else "\\" + character
    if character == "$":
        return "$$"
    return _ESCAPES.get(character, character)
