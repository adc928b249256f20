"""Changes single values of a stack file's text, and leaves every other byte as it is.

A file that's read and written again by a YAML library loses its comments, its quoting and its anchors. So the text
itself is cut open where the value stands, and what came of it is read again: exactly one value may have changed, the
one that was meant. What an anchor hands on to other services shows there, and is refused.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swarmtest.errors import StackError
from swarmtest.stack.syntax.building import Path_
from swarmtest.stack.syntax.splicing import NotWritten, Value, spliced
from swarmtest.stack.syntax.yamlfile import parse_yaml

_BOM = "\ufeff"
_ABSENT = object()


@dataclass(frozen=True, slots=True)
class Edit:
    """One value to be set, or put in where it's missing.

    Attributes:
        path: its keys, such as ``("services", "api", "stop_grace_period")``; an item of a list by its number.
        value: a text is quoted as the one that it replaces was, and where it would be read as something else.
        after: keys beside it; a new one comes after the first of them that's there, else at the end.
    """

    path: Path_
    value: Value
    after: tuple[str, ...] = ()


def edited(text: str, edits: Sequence[Edit], file: Path) -> str:
    """The text with all the edits done.

    Arguments:
        text: of the file, with its byte order mark and its line ends as they are.
        file: what errors name.

    Raises:
        StackError: a value can't be set without changing others too, or isn't written where it's to be set.
    """
    for edit in edits:
        text = _edited_once(text, edit, file)
    return text


def read_exactly(path: Path) -> str:
    """A file's text with its byte order mark and its line ends; raises :class:`StackError` for what's none."""
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise StackError(f"isn't UTF-8 text (byte {error.start}); save it as UTF-8", file=path) from error
    except OSError as error:
        raise StackError(f"can't be read: {error.strerror}", file=path) from error


def write_exactly(path: Path, text: str) -> None:
    """Writes a file's text, byte by byte as it is; raises :class:`StackError` where that's not allowed."""
    try:
        path.write_bytes(text.encode())
    except OSError as error:
        raise StackError(f"can't be written: {error.strerror}", file=path) from error


def diff(before: str, after: str, file: Path) -> str:
    """What edits change, as ``patch`` takes it."""
    old, new = (text.removeprefix(_BOM).splitlines(keepends=True) for text in (before, after))
    name = file.as_posix().lstrip("/")
    found = difflib.unified_diff(old, new, f"a/{name}", f"b/{name}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in found)


def _edited_once(text: str, edit: Edit, file: Path) -> str:
    body = text.removeprefix(_BOM)
    before = parse_yaml(body, file)
    try:
        new = spliced(body, edit.path, edit.value, edit.after)
    except NotWritten as error:
        raise _error(edit, file, before.lines, str(error), error.line) from error
    after = parse_yaml(new, file).tree
    others = [".".join(path) for path in _differences(before.tree, after) if path != edit.path]
    if others:
        more = " and others" if len(others) > 3 else ""
        problem = f"an anchor hands it on, and {', '.join(others[:3])}{more} would change too; write it where it's used"
        raise _error(edit, file, before.lines, problem)
    if _value_at(after, edit.path) != edit.value:
        raise _error(edit, file, before.lines, "it stands in the file in a way that swarmtest can't edit")
    return text[: len(text) - len(body)] + new


def _error(edit: Edit, file: Path, lines: Mapping[Path_, int], problem: str, line: int | None = None) -> StackError:
    known = edit.path
    while known and known not in lines:
        known = known[:-1]
    return StackError(
        f"can't be changed by itself: {problem}",
        file=file,
        line=lines.get(known) if line is None else line,
        key=".".join(edit.path),
    )


def _differences(before: Any, after: Any, path: Path_ = ()) -> Iterator[Path_]:
    """The paths of all values that aren't the same; a mapping that's new is told by what's in it."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys([*before, *after]):
            yield from _differences(before.get(key, _ABSENT), after.get(key, _ABSENT), (*path, str(key)))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, pair in enumerate(zip(before, after, strict=True)):
            yield from _differences(*pair, (*path, str(index)))
    elif (before is None or before is _ABSENT) and isinstance(after, dict):
        for key, value in after.items():
            yield from _differences(_ABSENT, value, (*path, str(key)))
    elif type(before) is not type(after) or before != after:
        yield path


def _value_at(tree: Any, path: Path_) -> Any:
    for key in path:
        tree = tree[int(key)] if isinstance(tree, list) else tree[key]
    return tree
