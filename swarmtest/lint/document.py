"""The files of one stack, read and merged by the target's own rules, with the place of each value.

Nothing in here raises for what a file says: what Docker would refuse is noted in the layers, and the rest goes on
being read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from swarmtest.lint import Place, Target
from swarmtest.lint.schema import COMPOSE, VERSIONS, SchemaError, errors_in, version_of
from swarmtest.stack.syntax.building import Path_
from swarmtest.stack.syntax.dotenv import DotEnv, read_dotenv
from swarmtest.stack.syntax.interpolation import Unsure as Unsure  # noqa: PLC0414 - rules know it from here
from swarmtest.stack.syntax.layers import Layer, read_layers
from swarmtest.stack.syntax.merging import merged_by_compose, merged_by_swarm

_ABSENT = object()


@dataclass(frozen=True)
class Document:
    """One stack.

    Attributes:
        files: in the order in which they're laid over each other.
        tree: the merged values, variables replaced; a text that depends on an unset variable is an :class:`Unsure`.
        layers: the files one by one.
        environment: what variables were looked up in, for the target.
        dotenv: the file ``.env`` that Compose reads beside the first one; None for Swarm.
    """

    files: tuple[Path, ...]
    target: Target
    tree: Mapping[str, Any]
    layers: tuple[Layer, ...]
    environment: Mapping[str, str]
    dotenv: DotEnv | None = None
    _refused: dict[tuple[int, str], frozenset[Path_]] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def places(self) -> Mapping[tuple[str, ...], Place]:
        """File and line of each key, by its path; of a merged one that of the last file that says it."""
        return _Places(self.layers, self.tree)

    @cached_property
    def schema_errors(self) -> tuple[tuple[Layer, SchemaError], ...]:
        """What the target's schema refuses; Swarm's looks at each file, Compose's at what they come to."""
        if self.target is Target.COMPOSE:
            return tuple((self.layers[-1], error) for error in errors_in(self.tree, COMPOSE))
        return tuple(
            (layer, error)
            for layer in self.layers
            if (version := version_of(layer.tree)) in VERSIONS
            for error in errors_in(layer.tree, version)
        )

    def refused_in(self, layer: Layer, version: str) -> frozenset[Path_]:
        """The paths of what the schema of a version refuses in one of the files."""
        found = self._refused.get((id(layer), version))
        if found is None:
            found = frozenset(error.path for error in errors_in(layer.tree, version))
            self._refused[id(layer), version] = found
        return found

    def place_in(self, layer: Layer, key: Path_) -> Place:
        """Where a key is written in one of the files; of an absent one the nearest key above."""
        if self.target is Target.COMPOSE and len(self.layers) > 1:
            return self.place(*key)
        known = key
        while known and known not in layer.lines:
            known = known[:-1]
        return Place(layer.path, layer.lines.get(known), key)

    def place(self, *key: str) -> Place:
        """Where a key is written; of an absent one the nearest key above."""
        known = key
        while known and known not in self.places:
            known = known[:-1]
        found = self.places.get(known)
        return Place(found.file if found else self.files[-1], found.line if found else None, key)


def read_document(
    paths: Sequence[Path], target: Target, environment: Mapping[str, str], texts: Mapping[Path, str] | None = None
) -> Document:
    """Reads the files of one stack.

    Arguments:
        texts: what files hold that aren't to be read from the disk: standard input, or one that's just been edited.

    Raises:
        StackError: a file can't be read at all.
    """
    swarm = target is Target.SWARM
    dotenv = None if swarm else read_dotenv(paths[0].parent, environment)
    known = environment if dotenv is None else {**dotenv.values, **environment}
    layers = [layer for path in paths for layer in read_layers(path, known, (texts or {}).get(path), swarm=swarm)]
    if swarm:
        tree = merged_by_swarm([layer.tree for layer in layers])
    else:
        tree = merged_by_compose([layer.tagged for layer in layers]) if len(layers) > 1 else layers[0].tree
    return Document(tuple(paths), target, tree, tuple(layers), known, dotenv)


class _Places(Mapping[Path_, Place]):
    """Looks a place up when somebody asks; an item of a list is found again in the file that it's from."""

    def __init__(self, layers: Sequence[Layer], tree: Mapping[str, Any]) -> None:
        self._layers, self._tree = layers, tree

    def __getitem__(self, path: Path_) -> Place:
        for layer in reversed(self._layers):
            written = path if len(self._layers) == 1 else _written(path, self._tree, layer.tree)
            if written is not None and (line := layer.lines.get(written)) is not None:
                return Place(layer.path, line, path)
        raise KeyError(path)

    def __iter__(self) -> Iterator[Path_]:
        return iter(dict.fromkeys(path for layer in self._layers for path in layer.lines))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _written(path: Path_, merged: Any, own: Any) -> Path_ | None:
    """The path of the same value in one of the files; None where that file doesn't say it."""
    found: list[str] = []
    for part in path:
        if isinstance(merged, list) and isinstance(own, list):
            wanted = merged[int(part)] if part.isdigit() and int(part) < len(merged) else _ABSENT
            at = next((index for index, item in enumerate(own) if item is wanted or item == wanted), None)
            if at is None:
                return None
            found.append(str(at))
            merged, own = wanted, own[at]
        else:
            found.append(part)
            merged = merged.get(part) if isinstance(merged, dict) else None
            own = own.get(part) if isinstance(own, dict) else None
    return tuple(found)
