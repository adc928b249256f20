"""Where a value stands in a YAML text, and the text with another one there.

Works on the parser's marks, in block and in flow style. Nothing is proved here: whoever calls reads the result again.
"""

from __future__ import annotations

import json
import re

import yaml

Value = str | int | bool

_PLAIN = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_./+-]*")
_PROPERTIES = re.compile(r"(?:[&!]\S*\s+)*")
"""An anchor or a tag before a value: it stays."""
_VARIABLE = re.compile(r"(?<!\$)(?:\$\$)*\$\{?([A-Za-z_]\w*)")
_COMMENT = re.compile(r"( *)#.*(?:\n|$)")


class NotWritten(Exception):
    """A value isn't where it could be set, by its place or by what stands there.

    Arguments:
        node: what stands in the way.
    """

    def __init__(self, problem: str, node: yaml.Node | None = None) -> None:
        self.line = node.start_mark.line + 1 if node is not None else None
        super().__init__(problem)


def spliced(text: str, path: tuple[str, ...], value: Value, after: tuple[str, ...] = ()) -> str:
    """The text with one value set.

    Arguments:
        text: YAML that can be read, without a byte order mark.
        path: the keys down to the value; what's missing of it is put in.
        after: a new key comes behind the first of these that's beside it, else at the end.

    Raises:
        NotWritten: the value comes from an alias, a merge key, a variable, or isn't on one line.
    """
    return _Splicing(text, value, after).done(path)


class _Alias(yaml.Node):
    """``*name``, which the parser itself would replace by what it stands for."""

    def __init__(self, target: yaml.Node, event: yaml.AliasEvent) -> None:
        super().__init__("alias", target, event.start_mark, event.end_mark)  # type: ignore[arg-type]
        self.target = target


class _Loader(yaml.SafeLoader):
    """Keeps aliases as such."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        node = super().compose_node(parent, index)
        return _Alias(node, event) if isinstance(event, yaml.AliasEvent) and node is not None else node


class _Splicing:
    """One change of a text."""

    def __init__(self, text: str, value: Value, after: tuple[str, ...]) -> None:
        self._text, self._value, self._after = text, value, after
        self._root = yaml.compose(text, Loader=_Loader)

    def done(self, path: tuple[str, ...]) -> str:
        node: yaml.Node | None = self._root
        for depth, key in enumerate(path):
            found = _entry(node, key)
            if found is None:
                return self._put_in(node, path[depth:])
            if isinstance(found, _Alias):
                line = found.target.start_mark.line + 1
                raise NotWritten(f"{'.'.join(path[: depth + 1])} is an alias of what's written in line {line}", found)
            if _is_empty(found) and depth + 1 < len(path):
                return self._fill(node, found, path[depth + 1 :])
            node = found
        return self._replace(node)

    def _replace(self, node: yaml.Node | None) -> str:
        if not isinstance(node, yaml.ScalarNode) or node.style in ("|", ">"):
            raise NotWritten("it isn't a single value on one line", node)
        if match := _VARIABLE.search(node.value):
            raise NotWritten(f"it comes from the variable {match[1]}; set that one", node)
        return self._cut(self._inside(node), node.end_mark.index, _scalar(self._value, node.style))

    def _put_in(self, parent: yaml.Node | None, keys: tuple[str, ...]) -> str:
        if not isinstance(parent, yaml.MappingNode):
            raise NotWritten(f"{keys[0]} can't be put into what's no mapping", parent)
        merged = _merged(parent, keys[0])
        if merged is not None and len(keys) > 1:
            line = merged.start_mark.line + 1
            raise NotWritten(f"{keys[0]} is merged from what's written in line {line}", parent)
        if parent.flow_style or not parent.value:
            return self._put_in_flow(parent, keys)
        place = next((pair for key in self._after for pair in parent.value if pair[0].value == key), parent.value[-1])
        column = parent.value[0][0].start_mark.column
        return self._lines_after(_end(place[1]), keys, column)

    def _put_in_flow(self, parent: yaml.MappingNode, keys: tuple[str, ...]) -> str:
        mark = '"' if parent.value and all(key.style == '"' for key, _ in parent.value) else ""
        new = self._in_braces(keys, mark)
        if not parent.value:
            return self._cut(self._inside(parent), parent.end_mark.index, new)
        at = _end(parent.value[-1][1])
        return self._cut(at, at, f", {new[1:-1]}")

    def _fill(self, parent: yaml.Node | None, empty: yaml.Node, keys: tuple[str, ...]) -> str:
        """Gives a key that has no value a mapping: below it where nothing is written, else in its place."""
        written = empty.end_mark.index > empty.start_mark.index
        if written or not isinstance(parent, yaml.MappingNode) or parent.flow_style:
            return self._cut(self._inside(empty), empty.end_mark.index, self._in_braces(keys))
        column = parent.value[0][0].start_mark.column + self._step()
        return self._lines_after(empty.end_mark.index, keys, column)

    def _in_braces(self, keys: tuple[str, ...], mark: str = "") -> str:
        new = _scalar(self._value, mark or None)
        for key in reversed(keys):
            new = f"{{{mark}{key}{mark}: {new}}}"
        return new

    def _inside(self, node: yaml.Node) -> int:
        """Where a value begins, behind its anchor and its tag."""
        match = _PROPERTIES.match(self._text, node.start_mark.index, node.end_mark.index)
        return match.end() if match is not None else int(node.start_mark.index)

    def _cut(self, start: int, end: int, new: str) -> str:
        space = " " if self._text[:start].endswith(":") else ""  # a key without a value
        return self._text[:start] + space + new + self._text[end:]

    def _step(self) -> int:
        """By how much the file indents: as its first mapping inside another does."""
        for key, value in self._root.value if isinstance(self._root, yaml.MappingNode) else ():
            if isinstance(value, yaml.MappingNode) and not value.flow_style and value.value:
                return max(1, int(value.value[0][0].start_mark.column - key.start_mark.column))
        return 2

    def _lines_after(self, index: int, keys: tuple[str, ...], column: int) -> str:
        """A line for each key, below the one that ends at ``index`` and the comments that belong to that."""
        text = self._text
        line_end = "\r\n" if "\r\n" in text else "\n"
        at = index
        if text[at - 1 : at] != "\n":  # a block of text ends at the beginning of a line
            at = text.find("\n", index) + 1 or len(text)
        while (comment := _COMMENT.match(text, at)) and len(comment[1]) > column and comment.end() > at:
            at = comment.end()
        lines = [f"{' ' * (column + self._step() * depth)}{key}:" for depth, key in enumerate(keys)]
        new = line_end.join(lines) + f" {_scalar(self._value, None)}"
        if at == len(text) and not text.endswith("\n"):
            return text + line_end + new
        return text[:at] + new + line_end + text[at:]


def _entry(node: yaml.Node | None, key: str) -> yaml.Node | None:
    """The value of a mapping's own key, or an item of a list; None where there's none."""
    if isinstance(node, yaml.MappingNode):
        return next((value for name, value in reversed(node.value) if name.value == key), None)
    if isinstance(node, yaml.SequenceNode) and key.isdecimal() and int(key) < len(node.value):
        item: yaml.Node = node.value[int(key)]
        return item
    return None


def _merged(node: yaml.MappingNode, key: str) -> yaml.Node | None:
    """The value that a mapping takes over by ``<<``, at first hand or through what it takes over."""
    merges = _entry(node, "<<")
    for part in merges.value if isinstance(merges, yaml.SequenceNode) else [merges]:
        source = part.target if isinstance(part, _Alias) else part
        if isinstance(source, yaml.MappingNode):
            found = _entry(source, key) or _merged(source, key)
            if found is not None:
                return found
    return None


def _is_empty(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.style is None and node.value in ("", "~", "null", "Null", "NULL")


def _end(node: yaml.Node) -> int:
    """Where a value's text ends; the parser's mark of a block is behind the comments that follow it."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    return int(node.end_mark.index)


def _scalar(value: Value, style: str | None) -> str:
    """A value as it's written: in the quotes that were there, else plain where that reads as the same."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if style == "'" and value.isprintable():
        return "'" + value.replace("'", "''") + "'"
    if style is None and _PLAIN.fullmatch(value) and yaml.safe_load(value) == value:
        return value
    return json.dumps(value, ensure_ascii=False)
