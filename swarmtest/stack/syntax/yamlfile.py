"""Reads one YAML file the way Docker reads it, and knows the line of each key.

Plain words are what :mod:`swarmtest.stack.syntax.scalars` says, and the Compose tags ``!reset`` and ``!override``
don't stop the reader. libyaml does the reading where PyYAML has it, ten times as fast as Python; what it refuses
is read once more by Python, whose messages are better. Whatever a file holds, the answer is a tree or a
:class:`StackError`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from yaml.composer import Composer
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner

from swarmtest.errors import StackError
from swarmtest.stack.syntax.building import PLAIN, QUOTED, Builder, Oddity, Path_
from swarmtest.stack.syntax.yamllines import Lines, halves
from swarmtest.stack.syntax.yamlwords import in_plain_words

MOST_CHARACTERS = 200_000_000
"""Longer than any file that a person means: a device, such as ``/dev/zero``, has no end at all."""


@dataclass(frozen=True, slots=True)
class YamlTree:
    """What a file holds.

    Attributes:
        lines: the one-based line of each key, by its path.
        oddities: what Docker refuses or reads in its own way although it's YAML; for those who want to know.
        tagged: whether ``!reset`` or ``!override`` is in it; see :mod:`swarmtest.stack.syntax.building`.
    """

    tree: Any
    lines: Mapping[Path_, int]
    oddities: tuple[Oddity, ...] = field(default=())
    tagged: bool = False


def read_yaml(path: Path, what: str) -> YamlTree:
    """Reads one file.

    Arguments:
        what: what the file should be, such as ``a stack file``.

    Raises:
        StackError: no such file, or not YAML.
    """
    return parse_yaml(read_text(path, what), path)


def parse_yaml(text: str, path: Path) -> YamlTree:
    """Reads text that's a file's, or is to become it; raises :class:`StackError` for what isn't YAML.

    ``!reset`` is read as None, ``!override`` and unknown tags as the value below them.
    """
    return _guarded(text, path, Builder(path, keep_tags=False), one=True)


def parse_tagged(text: str, path: Path) -> YamlTree:
    """The same with the tags of Compose kept, and of several documents the first, as ``docker stack`` does it."""
    return _guarded(text, path, Builder(path, keep_tags=True), one=False)


def documents(text: str) -> list[str]:
    """The documents of a file one by one, each in its own lines; Compose lays them over each other."""
    lines = text.splitlines(keepends=True)
    begun = next((index for index, line in enumerate(lines) if line.strip() and line[0] not in "#%"), 0)
    starts = [index for index, line in enumerate(lines) if index > begun and line.startswith("---")]
    ends = [*starts, len(lines)]
    return ["\n" * start + "".join(lines[start:end]) for start, end in zip([0, *starts], ends, strict=True)]


def read_text(path: Path, what: str) -> str:
    """A file's text; raises :class:`StackError` for what's none."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            text = file.read(MOST_CHARACTERS + 1)
    except FileNotFoundError as error:
        raise StackError(f"no such file; give the path of {what}", file=path) from error
    except IsADirectoryError as error:
        raise StackError(f"is a folder; give the path of {what} in it", file=path) from error
    except OSError as error:
        raise StackError(f"can't be read: {error.strerror}", file=path) from error
    except UnicodeDecodeError as error:
        raise StackError(f"isn't UTF-8 text (byte {error.start}); save it as UTF-8", file=path) from error
    if len(text) > MOST_CHARACTERS:
        raise StackError(f"longer than {MOST_CHARACTERS:,} characters; give the path of {what}", file=path)
    return text


class _Untagged:
    """Leaves plain words to :mod:`swarmtest.stack.syntax.scalars`: the tag says only whether there were quotes."""

    def descend_resolver(self, _parent: Any, _index: Any) -> None:
        """Nothing depends on where a value stands."""

    def ascend_resolver(self) -> None:
        """Nor on where it ends."""

    def resolve(self, _kind: Any, _value: Any, implicit: Any) -> str:
        """The tag of a value that has none."""
        return PLAIN if implicit.__class__ is tuple and implicit[0] else QUOTED


class _Python(_Untagged, Reader, Scanner, Parser, Composer):
    """PyYAML's parser in Python; an anchor may be set anew, as with Docker, which PyYAML refuses."""

    def __init__(self, text: str) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)
        Composer.__init__(self)

    def compose_node(self, parent: Any, index: Any) -> Any:
        """One node and what's below it."""
        if not self.check_event(yaml.AliasEvent):
            self.anchors.pop(self.peek_event().anchor, None)  # type: ignore[no-untyped-call]
        return super().compose_node(parent, index)


def _fast_parser() -> Any:
    try:
        from yaml._yaml import CParser
    except ImportError:
        return None
    return type("_Fast", (_Untagged, CParser), {})


_FAST = _fast_parser()

_DIRECTIVE = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)*(%YAML[ \t]+(?!1\.1\b)[^\n]*)")
"""Docker's parser takes version 1.1 only, which it has no need to be told."""


def _composed(text: str, *, one: bool) -> Any:
    """The root node; what libyaml refuses is said in Python's words, and taken where only an anchor is set anew."""
    if _FAST is None:
        return _root(_Python, text, one=one)
    try:
        return _root(_FAST, text, one=one)
    except yaml.YAMLError as error:
        root = _root(_Python, text, one=one)
        if not isinstance(error, yaml.composer.ComposerError) and root is not None and not any(halves(root)):
            raise
        return root


def _root(parser_class: Any, text: str, *, one: bool) -> Any:
    parser = parser_class(text)
    try:
        return parser.get_single_node() if one else parser.get_node() if parser.check_node() else None
    finally:
        if parser_class is _FAST:
            parser.dispose()


def _rest(text: str, end: Any) -> list[Oddity]:
    """What follows the document, which Docker takes no notice of: the next one, or a line with less indentation."""
    if end.line >= text.count("\n"):
        return []
    for number, line in enumerate(text.split("\n")[end.line :], end.line + 1):
        written = line[end.column if number == end.line + 1 else 0 :].partition(" #")[0].strip()
        if written.rstrip(".-") and not written.startswith("#"):
            return [Oddity("rest", (), number, written)]
    return []


def _guarded(text: str, path: Path, builder: Builder, *, one: bool) -> YamlTree:
    try:
        root = _composed(text, one=one)
        if root is None:
            return YamlTree(None, Lines(None))
        for half in halves(root) if not text.isascii() or "\\u" in text.lower() else ():
            line = half.start_mark.line + 1
            raise StackError("half of a UTF-16 pair; write the character itself", file=path, line=line)
        tree = builder.build(root)
        if "%YAML" in text and (found := _DIRECTIVE.match(text)):
            builder.oddities.append(Oddity("directive", (), text.count("\n", 0, found.start(1)) + 1, found[1]))
        builder.oddities += [] if one else _rest(text, root.end_mark)
        return YamlTree(tree, Lines(root), tuple(builder.oddities), builder.tagged)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else None
        opened = error.context_mark.line + 1 if error.context_mark else None
        words = in_plain_words(str(error.problem or error.context), opened)
        raise StackError(f"not valid YAML: {words}", file=path, line=line) from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise StackError(f"not valid YAML: the character {error.character!r}", file=path, line=line) from error
    except RecursionError as error:
        raise StackError("not readable: nested too deep", file=path) from error
    except (yaml.YAMLError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # what a tag such as !!timestamp does with a value that isn't one
        raise StackError(f"not valid YAML: {error}", file=path) from error
