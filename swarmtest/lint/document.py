"""The files of one stack, read and merged by the target's own rules, with the place of each value.

Nothing in here raises for what a file says: what Docker would refuse is noted in :attr:`Document.refusals`, the rest
goes on being read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swarmtest.lint import Place, Target
from swarmtest.stack.composefile import read_compose_file


class Unsure(str):
    """A text made with a variable that has no value here; the text is what Docker would take, with nothing put in.

    Attributes:
        variables: the names that have no value.
    """

    __slots__ = ("variables",)
    variables: tuple[str, ...]

    @classmethod
    def of(cls, text: str, *variables: str) -> Unsure:
        made = cls(text)
        made.variables = variables
        return made


@dataclass(frozen=True, slots=True)
class Document:
    """One stack.

    Attributes:
        files: in the order in which they're laid over each other.
        tree: the merged values, variables replaced; a text that depends on an unset variable is an :class:`Unsure`.
        places: file and line of each key, by its path; of a merged one that of the last file that says it.
        environment: what variables were looked up in, for the target.
    """

    files: tuple[Path, ...]
    target: Target
    tree: Mapping[str, Any]
    places: Mapping[tuple[str, ...], Place]
    environment: Mapping[str, str]

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
    read = [read_compose_file(path, environment, (texts or {}).get(path)) for path in paths]
    source = read[-1]
    places = {key: Place(source.path, line, key) for key, line in source.lines.items()}
    return Document(tuple(paths), target, source.tree, places, environment)
