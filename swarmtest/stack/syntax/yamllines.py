"""Where each key of a YAML file stands; looked up when somebody asks, since most are never asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from swarmtest.stack.syntax.building import PLAIN, Path_


class Lines(Mapping[Path_, int]):
    """The one-based line of each key and each item of a list, by its path.

    A key that's merged in (``<<``) has the line that it's written in, which is where its anchor stands.
    """

    def __init__(self, root: Any) -> None:
        self._root = root
        self._known: dict[int, dict[str, tuple[int, Any]]] = {}

    def __getitem__(self, path: Path_) -> int:
        node, line = self._root, 0
        if not path or node is None:
            raise KeyError(path)
        for part in path:
            try:
                line, node = self._below(node)[part]
            except KeyError:
                raise KeyError(path) from None
        return line

    def __iter__(self) -> Iterator[Path_]:
        return self._paths(self._root, ()) if self._root is not None else iter(())

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def node(self, path: Path_) -> Any:
        """The node of a value, None where there's none."""
        node = self._root
        for part in path:
            found = self._below(node).get(part) if node is not None else None
            node = found[1] if found else None
        return node

    def _paths(self, node: Any, path: Path_) -> Iterator[Path_]:
        for part, (_line, below) in self._below(node).items():
            yield (*path, part)
            yield from self._paths(below, (*path, part))

    def _below(self, node: Any) -> dict[str, tuple[int, Any]]:
        name = id(node)
        if name not in self._known:
            self._known[name] = {}  # whoever comes by again finds an anchor that holds itself empty
            self._known[name] = _children(node)
        return self._known[name]


def _children(node: Any) -> dict[str, tuple[int, Any]]:
    if node.id == "sequence":
        return {str(index): (item.start_mark.line + 1, item) for index, item in enumerate(node.value)}
    if node.id != "mapping":
        return {}
    found = {key.value: (key.start_mark.line + 1, value) for key, value in node.value if key.id == "scalar"}
    for key, value in node.value:
        if key.id == "scalar" and key.value == "<<" and key.tag == PLAIN:
            for part in value.value if value.id == "sequence" else [value]:
                for name, place in _children(part).items() if part.id == "mapping" else ():
                    found.setdefault(name, place)
    return found


def halves(node: Any) -> Iterator[Any]:
    """The scalars below a node that hold half of a UTF-16 pair, each once."""
    seen: set[int] = set()
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if each.id == "scalar":
            if any("\ud800" <= character <= "\udfff" for character in each.value):
                yield each
        elif each.id == "mapping":
            waiting += [part for pair in each.value for part in pair]
        else:
            waiting += each.value
