"""Reads a stack file the way ``docker stack deploy`` does, and remembers the line of each key.

``${VAR:-default}`` is replaced from the environment after parsing; what differs from a plain YAML reader is in
:mod:`swarmtest.stack.syntax.yamlfile`. Whatever a file holds, the answer is a :class:`ComposeFile` or a
:class:`StackError`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swarmtest.errors import StackError
from swarmtest.stack.syntax.building import Path_
from swarmtest.stack.syntax.interpolation import Interpolation, Note
from swarmtest.stack.syntax.variables import replaced_by_swarm
from swarmtest.stack.syntax.yamlfile import parse_yaml, read_yaml

_INTERPOLATED = ("services", "volumes", "networks", "secrets", "configs")
"""The parts in which every Docker CLI refuses a dollar sign that begins no variable; newer ones do everywhere."""


@dataclass(frozen=True, slots=True)
class ComposeFile:
    """A parsed stack file.

    Attributes:
        path: as the person named it.
        tree: the values, interpolated.
        lines: one-based line of each key, by its path.
        unset: variables that were used without a value or a default.
    """

    path: Path
    tree: Mapping[str, Any]
    lines: Mapping[Path_, int]
    unset: tuple[str, ...]

    def error(self, problem: str, *key: str) -> StackError:
        """A :class:`StackError` that points at ``key``, or at the nearest key above it."""
        known: Path_ = key
        while known and known not in self.lines:
            known = known[:-1]
        return StackError(problem, file=self.path, line=self.lines.get(known), key=".".join(key) or None)


def read_compose_file(path: Path, environment: Mapping[str, str], text: str | None = None) -> ComposeFile:
    """Reads and interpolates one file.

    Arguments:
        text: what it holds, where that isn't to be read from the disk.

    Raises:
        StackError: no such file, not YAML, not a mapping, or a required variable isn't set.
    """
    read = read_yaml(path, "a stack file") if text is None else parse_yaml(text, path)
    if not isinstance(read.tree, dict):
        raise not_a_mapping(read.tree, path)
    interpolation = Interpolation(replaced_by_swarm, environment, None, unsure=False)
    try:
        replaced = interpolation.below(read.tree)
    except RecursionError as error:
        raise StackError("not readable: nested too deep", file=path) from error
    file = ComposeFile(path, replaced, read.lines, _unset(interpolation.notes))
    for note in interpolation.notes:
        if problem := _problem(note):
            raise file.error(problem, *note.path)
    return file


def not_a_mapping(tree: object, path: Path) -> StackError:
    """The error of a file that can't be a stack at all."""
    return StackError("expected a mapping with the key services, found " + _name_of(tree), file=path, line=1)


def _unset(notes: Sequence[Note]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(note.text for note in notes if note.kind == "unset"))


def _problem(note: Note) -> str | None:
    """What's wrong enough to stop a run; a dollar sign, and a key that's no text, may stand where nobody reads them."""
    first = note.path[0] if note.path else ""
    match note.kind:
        case "key" if not first.startswith("x-") or first == "x-swarmtest":
            return f"expected a text as key, found {note.text}; put it in quotes"
        case "invalid" if first in _INTERPOLATED:
            return f"a $ that begins no variable in {note.text!r}; write $$ for a dollar sign"
        case "required" | "required-lost":
            return f"the variable {note.text} must be set: {note.message or 'required'}; set it in the environment"
        case _:
            return None


def _name_of(value: object) -> str:
    match value:
        case None:
            return "an empty file"
        case list():
            return "a list"
        case _:
            return f"the {type(value).__name__} {str(value)[:40]!r}"
