"""Finds comments in a YAML text, which its parser drops.

A ``#`` within a text that's quoted, or within a block of lines, begins none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import yaml

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Comment:
    """One comment.

    Attributes:
        line: one-based.
        text: from its ``#`` on to the end of the line.
        alone: whether nothing else stands on that line.
        of_line: the line that it's about: its own, or, where it stands alone, the next that isn't a comment; None
            where it stands alone before everything else, and is about the whole file.
    """

    line: int
    text: str
    alone: bool
    of_line: int | None


def comments(text: str, wanted: re.Pattern[str]) -> Iterator[Comment]:
    """The comments that ``wanted`` is found at the beginning of; a text without any costs one search.

    Arguments:
        text: YAML that can be read.
        wanted: begins with ``#``.
    """
    text = text.removeprefix("\ufeff")
    found = list(wanted.finditer(text))
    if not found:
        return
    scalars = _scalars(text)
    lines = text.split("\n")
    first = next((number for number, line in enumerate(lines, 1) if not _is_empty(line, head=True)), len(lines) + 1)
    for match in found:
        start = match.start()
        glued = start > 0 and text[start - 1] not in " \t\n"
        if glued or any(begin <= start < end for begin, end in scalars):
            continue
        number = text.count("\n", 0, start) + 1
        line = lines[number - 1]
        alone = line.lstrip(" \t").startswith("#")
        shown = text[start:].partition("\n")[0].rstrip()
        yield Comment(number, shown, alone, _about(lines, number, first) if alone else number)


def _about(lines: list[str], number: int, first: int) -> int | None:
    if number < first:
        return None
    return next((after for after, line in enumerate(lines[number:], number + 1) if not _is_empty(line)), number)


def _is_empty(line: str, *, head: bool = False) -> bool:
    """Whether a line has nothing but a comment; at the head of a file the mark of its beginning doesn't count."""
    bare = line.strip()
    return not bare or bare.startswith("#") or (head and (bare.startswith("%") or bare.split()[0] == "---"))


def _scalars(text: str) -> list[tuple[int, int]]:
    """Where the texts of a file begin and end; what can't be scanned further has none."""
    found: list[tuple[int, int]] = []
    try:
        for token in yaml.scan(text, Loader=_LOADER):
            if isinstance(token, yaml.ScalarToken) and token.style is not None:
                found.append((token.start_mark.index, token.end_mark.index))
    except yaml.YAMLError:
        pass
    return found
