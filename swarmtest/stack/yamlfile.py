"""Reads one YAML file the way Docker reads it, and remembers the line of each key.

Numbers with colons (``22:22``) and dates stay text, as in YAML 1.2, and the Compose tags ``!reset`` and ``!override``
don't stop the reader. Whatever a file holds, the answer is a tree or a :class:`StackError`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from swarmtest.errors import StackError

Path_ = tuple[str, ...]

MOST_NODES = 100_000
"""So many values a file may have with its aliases written out; a few nested anchors can hold billions."""


@dataclass(frozen=True, slots=True)
class YamlTree:
    """What a file holds, and the one-based line of each key, by its path."""

    tree: Any
    lines: dict[Path_, int]


def read_yaml(path: Path, what: str) -> YamlTree:
    """Reads one file.

    Arguments:
        what: what the file should be, such as ``a stack file``.

    Raises:
        StackError: no such file, or not YAML.
    """
    return parse_yaml(read_text(path, what), path)


def parse_yaml(text: str, path: Path) -> YamlTree:
    """Reads text that's a file's, or is to become it; raises :class:`StackError` for what isn't YAML."""
    lines: dict[Path_, int] = {}
    try:
        return YamlTree(_tree_of(text, path, lines), lines)
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


def read_text(path: Path, what: str) -> str:
    """A file's text; raises :class:`StackError` for what's none."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise StackError(f"no such file; give the path of {what}", file=path) from error
    except IsADirectoryError as error:
        raise StackError(f"is a folder; give the path of {what} in it", file=path) from error
    except OSError as error:
        raise StackError(f"can't be read: {error.strerror}", file=path) from error
    except UnicodeDecodeError as error:
        raise StackError(f"isn't UTF-8 text (byte {error.start}); save it as UTF-8", file=path) from error


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


def _tree_of(text: str, path: Path, lines: dict[Path_, int]) -> Any:
    loader = _Loader(text)
    node = loader.get_single_node()
    if node is None:
        return None
    _measure(node, path, {})
    _note_lines(node, (), lines)
    return loader.construct_document(node)


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
