"""Reads a file of variables the way Compose reads ``.env``: ``NAME=value`` lines (compose-go ``dotenv/parser.go``).

``docker stack deploy`` reads none by itself; people put one into the shell before they call it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from swarmtest.errors import StackError
from swarmtest.stack.yamlfile import read_text

_LINE = re.compile(r"(?:export\s+)?(?P<name>[A-Za-z_][\w.\[\]-]*)\s*(?:[=:]\s*(?P<value>.*?))?\s*$")
_QUOTED = re.compile(r"""(?P<mark>["'])(?P<text>(?:\\.|(?!(?P=mark)).)*)(?P=mark)\s*(?:\#.*)?$""", re.DOTALL)
_VARIABLE = re.compile(r"(?<!\\)\$(?:(\w+)|\{(\w+)(?:(:?-)([^}]*))?\})")
_ESCAPES = {"\\n": "\n", "\\r": "\r", "\\t": "\t", '\\"': '"', "\\\\": "\\", "\\$": "$"}


def read_env_file(path: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """The variables of a file.

    Arguments:
        environment: the shell's, which values may refer to, and which win there.

    Raises:
        StackError: no such file, or a line that's no variable.
    """
    found: dict[str, str] = {}
    lines = iter(enumerate(read_text(path, "a file of variables").split("\n"), 1))
    for number, line in lines:
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        match = _LINE.match(text)
        if match is None:
            raise StackError(f"expected NAME=value, found {text[:40]!r}", file=path, line=number)
        name, value = match["name"], match["value"]
        if value is None:  # a name alone hands on the shell's value
            found |= {name: environment[name]} if name in environment else {}
            continue
        while value[:1] in ('"', "'") and not _QUOTED.match(value):
            following = next(lines, None)
            if following is None:
                raise StackError(f"the quotes of {name} aren't closed", file=path, line=number)
            value += "\n" + following[1]
        found[name] = _plain(value, {**found, **environment})
    return found


def _plain(value: str, known: Mapping[str, str]) -> str:
    """A value without its quotes and comment, its variables replaced where the quotes let them be."""
    quoted = _QUOTED.match(value)
    if quoted is not None and quoted["mark"] == "'":
        return quoted["text"]
    text = quoted["text"] if quoted is not None else re.split(r"\s#", value, maxsplit=1)[0].rstrip()

    def replaced(match: re.Match[str]) -> str:
        given = known.get(match[1] or match[2])
        return match[4] if match[3] and (given is None or (match[3] == ":-" and not given)) else given or ""

    text = _VARIABLE.sub(replaced, text)
    return re.sub(r"\\.", lambda found: _ESCAPES.get(found[0], found[0]), text) if quoted is not None else text
