"""From the nodes of a YAML file to its values, as Docker's own parser makes them.

Anchors may hold billions of values once they're written out, or themselves; both are refused at once. What Docker
refuses or misreads beyond that is noted as an :class:`Oddity` and read on.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from pathlib import Path
from typing import Any

from swarmtest.errors import StackError
from swarmtest.stack.syntax.scalars import is_time, plain_value

Path_ = tuple[str, ...]

MOST_NODES = 100_000
"""So many values a file may have with its aliases written out; a few nested anchors can hold billions."""

PLAIN, QUOTED = "?", ""
"""What :mod:`swarmtest.stack.syntax.yamlfile` puts in place of a tag where none is written."""

_YAML = "tag:yaml.org,2002:"
_MERGE = "map merge requires a mapping or a list of mappings"
_KINDS = ("str", "int", "float", "bool", "null", "binary", "timestamp")
_NOT_A_NAME = frozenset("+-.0123456789~nNtTfF")


@dataclass(frozen=True, slots=True)
class Oddity:
    """Something that's YAML, and that Docker refuses or reads in its own way.

    Attributes:
        kind: ``duplicate-key``, ``key`` (one that's no text), ``merge``, ``tag``, ``time``, ``endless`` (a number) or
            ``directive``.
        text: the key, the tag or the value; of a duplicate key the line of the first one is in ``first_line``.
    """

    kind: str
    path: Path_
    line: int
    text: str
    first_line: int = 0


class Reset:
    """``!reset``: takes away what an earlier file says."""

    def __repr__(self) -> str:
        return "!reset"


RESET = Reset()


@dataclass(frozen=True, slots=True)
class Override:
    """``!override``: stands instead of what an earlier file says, and isn't merged with it."""

    value: Any


class Builder:
    """Makes the values of one document.

    Arguments:
        keep_tags: whether :data:`RESET` and :class:`Override` are in the tree, and what's odd is only noted.
    """

    def __init__(self, file: Path, *, keep_tags: bool) -> None:
        self._file, self._keep_tags = file, keep_tags
        self._built: dict[int, tuple[Any, int] | None] = {}
        self._count = 0
        self.oddities: list[Oddity] = []
        self.tagged = False

    def build(self, node: Any, path: Path_ = ()) -> Any:
        """The value of a node.

        Raises:
            StackError: an anchor that holds itself, too many values, a tag that no value can have.
        """
        self._count += 1
        if node.id == "scalar":
            return self._scalar(node, path)
        return self._collection(node, path) if node.tag == QUOTED else self._tagged(node, node.tag, path)

    def _scalar(self, node: Any, path: Path_, key: str | None = None) -> Any:
        """A scalar; where it's the value of a key, that's still to be put behind the path."""
        tag = node.tag
        if tag == QUOTED:
            return node.value
        if tag != PLAIN:
            return self._tagged(node, tag, path if key is None else (*path, key))
        value, kind = _word(node.value)
        if kind and self._keep_tags:
            self._note(kind, path if key is None else (*path, key), node, node.value)
        return value

    def _error(self, problem: str, node: Any) -> StackError:
        return StackError(problem, file=self._file, line=node.start_mark.line + 1)

    def _note(self, kind: str, path: Path_, node: Any, text: str, first_line: int = 0) -> None:
        self.oddities.append(Oddity(kind, path, node.start_mark.line + 1, text, first_line))

    def _collection(self, node: Any, path: Path_) -> Any:
        name = id(node)
        if name in self._built:
            known = self._built[name]
            if known is None:
                raise self._error("an anchor that holds itself", node)
            self._grown(known[1], node)
            return known[0]
        self._built[name] = None
        before = self._count
        value = self._mapping(node, path) if node.id == "mapping" else self._list(node, path)
        self._grown(0, node)
        self._built[name] = value, self._count - before
        return value

    def _grown(self, by: int, node: Any) -> None:
        self._count += by
        if self._count > MOST_NODES:
            raise self._error(f"more than {MOST_NODES} values, with its aliases written out", node)

    def _list(self, node: Any, path: Path_) -> list[Any]:
        build = self.build
        return [
            build(item, path if item.id == "scalar" else (*path, str(index))) for index, item in enumerate(node.value)
        ]

    def _mapping(self, node: Any, path: Path_) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        merges: list[Any] = []
        for key_node, value_node in node.value:
            self._count += 1
            text = key_node.value
            if key_node.tag == PLAIN and (text == "<<" or not text or text[0] in _NOT_A_NAME):
                if text == "<<":
                    merges.append((key_node, value_node))
                    continue
                key = self._odd_key(text, path, key_node)
            else:
                key = text if key_node.tag in (PLAIN, QUOTED) and key_node.id == "scalar" else self._key(key_node, path)
            if key in found:
                self._note("duplicate-key", (*path, str(key)), key_node, str(key), _first_line(node, text))
            if value_node.id == "scalar":
                self._count += 1
                found[key] = self._scalar(value_node, path, str(key))
            else:
                found[key] = self.build(value_node, (*path, str(key)))
        if merges:
            self._merge(found, merges, node, path)
        return found

    def _odd_key(self, text: str, path: Path_, node: Any) -> Any:
        key = plain_value(text)
        if key.__class__ is not str or is_time(text):
            self._note("key", path, node, text)
        return key

    def _key(self, node: Any, path: Path_) -> Any:
        key = self.build(node, path)
        if not isinstance(key, str):
            self._note("key", path, node, str(key)[:40])
        try:
            hash(key)
        except TypeError as error:
            raise self._error("not valid YAML: found unhashable key", node) from error
        return key

    def _merge(self, found: dict[Any, Any], merges: list[Any], node: Any, path: Path_) -> None:
        """What's written in the mapping itself wins, wherever it stands; of several merged ones the first."""
        if len(merges) > 1:
            self._note("duplicate-key", (*path, "<<"), merges[1][0], "<<", _first_line(node, "<<"))
        for key_node, value_node in merges:
            for part in value_node.value if value_node.id == "sequence" else [value_node]:
                if part.id != "mapping":
                    if not self._keep_tags:
                        raise self._error(f"not valid YAML: {_MERGE}", part)
                    self._note("merge", (*path, "<<"), key_node, _MERGE)
                    continue
                for key, value in self.build(part, path).items():
                    found.setdefault(key, value)

    def _tagged(self, node: Any, tag: str, path: Path_) -> Any:
        if not tag.startswith(_YAML):
            if not tag.startswith("!"):
                raise self._error(f"not valid YAML: could not determine a constructor for the tag {tag!r}", node)
            self._note("tag", path, node, tag)
            return self._own_tag(node, tag, path)
        kind = tag.removeprefix(_YAML)
        if node.id != "scalar":
            value = self._collection(node, path)
            return dict.fromkeys(value) if kind == "set" and isinstance(value, dict) else value
        return self._standard_scalar(node, kind)

    def _own_tag(self, node: Any, tag: str, path: Path_) -> Any:
        self.tagged = self.tagged or tag in ("!reset", "!override")
        if tag == "!reset":
            return RESET if self._keep_tags else None
        value = plain_value(node.value) if node.id == "scalar" else self._collection(node, path)
        return Override(value) if tag == "!override" and self._keep_tags else value

    def _standard_scalar(self, node: Any, kind: str) -> Any:
        text = node.value
        if self._keep_tags and kind not in _KINDS:
            return text
        if kind not in _KINDS:
            raise self._error(f"not valid YAML: could not determine a constructor for the tag {node.tag!r}", node)
        if kind == "str" or (kind == "timestamp" and is_time(text)):
            return text
        if kind == "binary":
            return base64.b64decode(text).decode("utf-8", "replace")
        value = plain_value(text)
        kinds = {"int": int, "float": (int, float), "bool": bool, "null": type(None)}.get(kind, ())
        if not isinstance(value, kinds) or (kind != "bool" and isinstance(value, bool)):  # type: ignore[arg-type]
            raise ValueError(f"{text!r} isn't of the kind {kind}")
        return float(value) if kind == "float" else value


@lru_cache(maxsize=4096)
def _word(text: str) -> tuple[Any, str]:
    """What a plain word is, and what's odd about it; the same words stand in a file again and again."""
    value = plain_value(text)
    if value.__class__ is str:
        return value, "time" if is_time(text) else ""
    return value, "endless" if value.__class__ is float and not isfinite(value) else ""


def _first_line(node: Any, text: str) -> int:
    return next(int(key.start_mark.line) + 1 for key, _ in node.value if key.id == "scalar" and key.value == text)
