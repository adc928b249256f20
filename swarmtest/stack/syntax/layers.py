"""The files of one stack as the linter reads them: leniently, with what a person should hear noted beside the values.

It's the same reading that a run does (:mod:`swarmtest.stack.composefile`), with the tags of Compose kept until the
files are merged. One layer is one file; what Docker refuses in it is checked on the layer, since it's refused before
anything is merged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swarmtest.errors import StackError
from swarmtest.stack.composefile import not_a_mapping
from swarmtest.stack.syntax.building import RESET, Oddity, Override, Path_
from swarmtest.stack.syntax.interpolation import COMPOSE_CASTS, SWARM_CASTS, Interpolation, Note
from swarmtest.stack.syntax.merging import settled
from swarmtest.stack.syntax.variables import replaced_by_compose, replaced_by_swarm
from swarmtest.stack.syntax.yamlfile import YamlTree, documents, parse_tagged, read_text


@dataclass(frozen=True, slots=True)
class Layer:
    """One file.

    Attributes:
        tagged: its values, with what's reset or overridden marked as such.
        tree: the same without the marks.
        lines: one-based line of each key, by its path.
        oddities: what's YAML, and read by Docker in its own way or not at all.
        notes: what there is to say about its variables and keys.
    """

    path: Path
    tagged: Mapping[str, Any]
    tree: Mapping[str, Any]
    lines: Mapping[Path_, int]
    oddities: tuple[Oddity, ...]
    notes: tuple[Note, ...]


def read_layers(path: Path, environment: Mapping[str, str], text: str | None, *, swarm: bool) -> list[Layer]:
    """Reads one file, which for Compose may be several documents.

    Raises:
        StackError: no such file, not YAML, or nothing that could be a stack.
    """
    text = read_text(path, "a stack file") if text is None else text.removeprefix("\ufeff")
    parts = [text] if swarm or "\n---" not in text else documents(text)
    read = [parse_tagged(part, path) for part in parts]
    written = [each for each in read if each.tree is not None] or read[:1]
    return [_layer(path, each, environment, swarm=swarm, plain="$" not in text) for each in written]


def _layer(path: Path, read: YamlTree, environment: Mapping[str, str], *, swarm: bool, plain: bool) -> Layer:
    whole = read.tree.value if isinstance(read.tree, Override) else None if read.tree is RESET else read.tree
    if not isinstance(whole, dict):
        raise not_a_mapping(whole, path)
    replace, casts = (replaced_by_swarm, SWARM_CASTS) if swarm else (replaced_by_compose, COMPOSE_CASTS)
    interpolation = Interpolation(replace, environment, casts, unsure=True, always=not swarm)
    plain = plain and swarm and not any(oddity.kind == "key" for oddity in read.oddities)
    try:
        tagged = whole if plain else interpolation.below(whole)
        if swarm and tagged is not whole and "version" in whole:  # docker/cli looks at it before it replaces anything
            tagged = {**tagged, "version": whole["version"]}
        tree = settled(tagged) if read.tagged else tagged
    except RecursionError as error:
        raise StackError("not readable: nested too deep", file=path) from error
    return Layer(path, tagged, tree, read.lines, read.oddities, tuple(interpolation.notes))
