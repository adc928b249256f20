"""Reads a stack file the way ``docker stack deploy`` does, and remembers the line of each key.

``${VAR:-default}`` is replaced from the environment after parsing; what differs from a plain YAML reader is in
:mod:`swarmtest.stack.yamlfile`. Whatever a file holds, the answer is a :class:`ComposeFile` or a :class:`StackError`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swarmtest.errors import StackError
from swarmtest.stack.yamlfile import Path_, parse_yaml, read_yaml

_INTERPOLATED = ("services", "volumes", "networks", "secrets", "configs")
"""The parts in which Docker replaces variables, and refuses a dollar sign that begins none."""


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
        raise StackError("expected a mapping with the key services, found " + _name_of(read.tree), file=path, line=1)
    return _Interpolation(path, environment, read.lines).finish(read.tree)


def _name_of(value: object) -> str:
    match value:
        case None:
            return "an empty file"
        case list():
            return "a list"
        case _:
            return f"the {type(value).__name__} {str(value)[:40]!r}"


_VARIABLE = re.compile(
    r"\$(?:(?P<escaped>\$)|(?P<named>[_a-zA-Z][_a-zA-Z0-9]*)"
    r"|\{(?P<braced>[_a-zA-Z][_a-zA-Z0-9]*)(?:(?P<operator>:?[-?+])(?P<argument>[^}]*))?\}|(?P<invalid>))"
)


class _Interpolation:
    """Replaces variables in one file, as ``docker stack deploy`` does: no ``.env`` file is read."""

    def __init__(self, file: Path, environment: Mapping[str, str], lines: Mapping[Path_, int]) -> None:
        self._file, self._environment, self._lines = file, environment, lines
        self._unset: dict[str, None] = {}

    def finish(self, tree: Mapping[Any, Any]) -> ComposeFile:
        """The file with its variables replaced."""
        try:
            replaced = self._replace(tree, ())
        except RecursionError as error:
            raise StackError("not readable: nested too deep", file=self._file) from error
        return ComposeFile(self._file, replaced, self._lines, tuple(self._unset))

    def _error(self, problem: str, path: Path_) -> StackError:
        return StackError(problem, file=self._file, line=self._lines.get(path), key=".".join(path) or None)

    def _replace(self, value: Any, path: Path_) -> Any:
        match value:
            case dict():
                ours = not path or not path[0].startswith("x-") or path[0] == "x-swarmtest"
                if ours and (strange := [key for key in value if not isinstance(key, str)]):
                    raise self._error(f"expected a text as key, found {strange[0]!r}; put it in quotes", path)
                return {str(key): self._replace(item, (*path, str(key))) for key, item in value.items()}
            case list():
                return [self._replace(item, (*path, str(index))) for index, item in enumerate(value)]
            case str() if "$" in value:
                return _VARIABLE.sub(lambda found: self._value_of(found, path), value)
            case _:
                return value

    def _value_of(self, found: re.Match[str], path: Path_) -> str:
        if found["escaped"]:
            return "$"
        if found["invalid"] is not None:
            if path[0] not in _INTERPOLATED:
                return "$"
            raise self._error(f"a $ that begins no variable in {found.string!r}; write $$ for a dollar sign", path)
        name, operator, argument = found["named"] or found["braced"], found["operator"] or "", found["argument"] or ""
        value = self._environment.get(name)
        present = value is not None and not (operator.startswith(":") and value == "")
        match operator.lstrip(":"):
            case "-":
                return value if present and value is not None else argument
            case "+":
                return argument if present else ""
            case "?" if not present:
                reason = argument or "required"
                raise self._error(f"the variable {name} must be set: {reason}; set it in the environment", path)
            case _:
                if value is None:
                    self._unset[name] = None
                return value or ""
