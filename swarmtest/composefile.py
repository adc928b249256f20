"""Reads a stack file the way ``docker stack deploy`` does, and remembers the line of each key.

Two things differ from a plain YAML reader: numbers with colons (``22:22``) stay text, since Docker
reads YAML 1.2 numbers, and ``${VAR:-default}`` is replaced from the environment after parsing. The
Compose tags ``!reset`` and ``!override`` don't stop the reader.
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


class _Loader(yaml.SafeLoader):
    """SafeLoader without base-60 numbers, dates and the short booleans of YAML 1.1."""


_Loader.yaml_implicit_resolvers = {
    first: [
        (tag, pattern)
        for tag, pattern in resolvers
        if tag not in ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float", "tag:yaml.org,2002:timestamp")
        and tag != "tag:yaml.org,2002:bool"
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
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise StackError("no such file; give the path of a stack file", file=path) from error
    except IsADirectoryError as error:
        raise StackError("is a folder; give the path of a stack file in it", file=path) from error
    except OSError as error:
        raise StackError(f"can't be read: {error.strerror}", file=path) from error
    except UnicodeDecodeError as error:
        raise StackError(f"isn't UTF-8 text (byte {error.start}); save it as UTF-8", file=path) from error
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        tree = loader.construct_document(node) if node is not None else None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise StackError(
            f"not valid YAML: {error.problem or error.context}", file=path, line=mark.line + 1 if mark else None
        ) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise StackError(f"not valid YAML: {error}", file=path) from error
    if not isinstance(tree, dict):
        raise StackError("expected a mapping with the key services, found " + _name_of(tree), file=path, line=1)
    lines: dict[Path_, int] = {}
    if isinstance(node, yaml.MappingNode):
        _note_lines(node, (), lines, set())
    unset: list[str] = []
    return ComposeFile(
        path, _interpolate(tree, environment, unset, path, (), lines), lines, tuple(dict.fromkeys(unset))
    )


def _name_of(value: object) -> str:
    match value:
        case None:
            return "an empty file"
        case list():
            return "a list"
        case _:
            return f"the {type(value).__name__} {str(value)[:40]!r}"


def _note_lines(node: yaml.Node, path: Path_, lines: dict[Path_, int], above: set[int]) -> None:
    """Notes the line of each key; ``above`` keeps an anchor that holds itself from running for ever."""
    if id(node) in above:
        return
    above = above | {id(node)}
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                lines[(*path, key.value)] = key.start_mark.line + 1
                _note_lines(value, (*path, key.value), lines, above)
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            lines[(*path, str(index))] = item.start_mark.line + 1
            _note_lines(item, (*path, str(index)), lines, above)


_VARIABLE = re.compile(
    r"\$(?:(?P<escaped>\$)|(?P<named>[_a-zA-Z][_a-zA-Z0-9]*)"
    r"|\{(?P<braced>[_a-zA-Z][_a-zA-Z0-9]*)(?:(?P<operator>:?[-?+])(?P<argument>[^}]*))?\})"
)


def _interpolate(
    value: Any, environment: Mapping[str, str], unset: list[str], file: Path, path: Path_, lines: Mapping[Path_, int]
) -> Any:
    match value:
        case dict():
            return {
                key: _interpolate(item, environment, unset, file, (*path, str(key)), lines)
                for key, item in value.items()
            }
        case list():
            return [
                _interpolate(item, environment, unset, file, (*path, str(index)), lines)
                for index, item in enumerate(value)
            ]
        case str() if "$" in value:
            return _VARIABLE.sub(lambda found: _value_of(found, environment, unset, file, path, lines), value)
        case _:
            return value


def _value_of(
    found: re.Match[str],
    environment: Mapping[str, str],
    unset: list[str],
    file: Path,
    path: Path_,
    lines: Mapping[Path_, int],
) -> str:
    if found["escaped"]:
        return "$"
    name, operator, argument = found["named"] or found["braced"], found["operator"] or "", found["argument"] or ""
    value = environment.get(name)
    present = value is not None and not (operator.startswith(":") and value == "")
    match operator.lstrip(":"):
        case "-":
            return value if present and value is not None else argument
        case "+":
            return argument if present else ""
        case "?" if not present:
            raise StackError(
                f"the variable {name} must be set: {argument or 'required'}; set it in the environment",
                file=file,
                line=lines.get(path),
                key=".".join(path),
            )
        case _:
            if value is None:
                unset.append(name)
            return value or ""
