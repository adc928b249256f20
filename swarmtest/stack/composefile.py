"""Reads a stack file the way ``docker stack deploy`` does, and remembers the line of each key.

Two things differ from a plain YAML reader: numbers with colons (``22:22``) stay text, since Docker
reads YAML 1.2 numbers, and ``${VAR:-default}`` is replaced from the environment after parsing. The
Compose tags ``!reset`` and ``!override`` don't stop the reader. Whatever a file holds, the answer is
a :class:`ComposeFile` or a :class:`StackError`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from swarmtest.errors import StackError

Path_ = tuple[str, ...]

MOST_NODES = 100_000
"""So many values a file may have with its aliases written out; a few nested anchors can hold billions."""
_INTERPOLATED = ("services", "volumes", "networks", "secrets", "configs")
"""The parts in which Docker replaces variables, and refuses a dollar sign that begins none."""


class _Loader(yaml.SafeLoader):
    """SafeLoader without base-60 numbers, dates and the short booleans of YAML 1.1."""


_Loader.yaml_implicit_resolvers = {
    first: [
        (tag, pattern)
        for tag, pattern in resolvers
        if tag.removeprefix("tag:yaml.org,2002:") not in ("int", "float", "timestamp", "bool", "value")
    ]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:int", re.compile(r"^[-+]?(?:0|[1-9][0-9]*|0o?[0-7]+|0x[0-9a-fA-F]+)$"), list("-+0123456789")
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$"),
    list("-+0123456789."),
)


def _tagged(loader: yaml.SafeLoader, suffix: str, node: yaml.Node) -> Any:
    """``!reset`` means absent; ``!override`` and unknown tags give the value below them."""
    if suffix == "reset":
        return None
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    tag = loader.resolve(yaml.ScalarNode, node.value, (True, False))  # type: ignore[no-untyped-call]
    return loader.construct_object(yaml.ScalarNode(tag, node.value))


_Loader.add_multi_constructor("!", _tagged)


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


def read_compose_file(path: Path, environment: Mapping[str, str]) -> ComposeFile:
    """Reads and interpolates one file.

    Raises:
        StackError: no such file, not YAML, not a mapping, or a required variable isn't set.
    """
    text = _text_of(path)
    lines: dict[Path_, int] = {}
    try:
        tree = _tree_of(text, path, lines)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else None
        raise StackError(f"not valid YAML: {error.problem or error.context}", file=path, line=line) from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise StackError(f"not valid YAML: the character {error.character!r}", file=path, line=line) from error
    except RecursionError as error:
        raise StackError("not readable: nested too deep", file=path) from error
    except (yaml.YAMLError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # what a tag such as !!timestamp does with a value that isn't one
        raise StackError(f"not valid YAML: {error}", file=path) from error
    if not isinstance(tree, dict):
        raise StackError("expected a mapping with the key services, found " + _name_of(tree), file=path, line=1)
    return _Interpolation(path, environment, lines).finish(tree)


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise StackError("no such file; give the path of a stack file", file=path) from error
    except IsADirectoryError as error:
        raise StackError("is a folder; give the path of a stack file in it", file=path) from error
    except OSError as error:
        raise StackError(f"can't be read: {error.strerror}", file=path) from error
    except UnicodeDecodeError as error:
        raise StackError(f"isn't UTF-8 text (byte {error.start}); save it as UTF-8", file=path) from error


def _tree_of(text: str, path: Path, lines: dict[Path_, int]) -> Any:
    loader = _Loader(text)
    node = loader.get_single_node()
    if node is None:
        return None
    _measure(node, path, {})
    _note_lines(node, (), lines)
    return loader.construct_document(node)


def _name_of(value: object) -> str:
    match value:
        case None:
            return "an empty file"
        case list():
            return "a list"
        case _:
            return f"the {type(value).__name__} {str(value)[:40]!r}"


def _measure(node: yaml.Node, file: Path, sizes: dict[int, int | None]) -> int:
    """Number of values below a node, aliases written out; refuses what nobody could read through.

    Raises:
        StackError: an anchor that holds itself, too many values, or half a character.
    """
    line = node.start_mark.line + 1
    if id(node) in sizes:
        if (known := sizes[id(node)]) is None:
            raise StackError("an anchor that holds itself", file=file, line=line)
        return known
    sizes[id(node)] = None
    size = 1
    match node:
        case yaml.MappingNode():
            size += sum(_measure(key, file, sizes) + _measure(value, file, sizes) for key, value in node.value)
        case yaml.SequenceNode():
            size += sum(_measure(item, file, sizes) for item in node.value)
        case _ if any("\ud800" <= character <= "\udfff" for character in node.value):
            raise StackError("half of a UTF-16 pair; write the character itself", file=file, line=line)
    if size > MOST_NODES:
        raise StackError(f"more than {MOST_NODES} values, with its aliases written out", file=file, line=line)
    sizes[id(node)] = size
    return size


def _note_lines(node: yaml.Node, path: Path_, lines: dict[Path_, int]) -> None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                lines[(*path, key.value)] = key.start_mark.line + 1
                _note_lines(value, (*path, key.value), lines)
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            lines[(*path, str(index))] = item.start_mark.line + 1
            _note_lines(item, (*path, str(index)), lines)


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
