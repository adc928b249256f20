"""Makes the edits of findings, where they're safe: in the text of the file, and nothing beside them.

An edit is refused where it can't be made by itself: where the value comes by an alias, a merge key or a variable, or
where two findings want different values at one key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from swarmtest.errors import StackError
from swarmtest.lint import Edit, Finding
from swarmtest.lint.linting import Linted
from swarmtest.stack.syntax import editing


@dataclass(slots=True)
class Fixed:
    """One file, edited in memory.

    Attributes:
        before: its text as it's on the disk, byte by byte.
        done: the findings whose edits were made.
        refused: the other ones, each with why.
    """

    file: Path
    before: str
    after: str
    done: list[Finding] = field(default_factory=list)
    refused: list[tuple[Finding, str]] = field(default_factory=list)

    @property
    def diff(self) -> str:
        """What has changed, as ``patch`` takes it."""
        return editing.diff(self.before, self.after, self.file)


def fix(linted: Sequence[Linted], texts: Mapping[Path, str]) -> list[Fixed]:
    """Makes the edits of all findings that have one, file by file.

    Arguments:
        linted: stacks; a file may be part of several.
        texts: what files hold that aren't to be read from the disk.
    """
    fixing = _Fixing(texts)
    for stack in linted:
        for finding in stack.findings:
            if finding.edit is not None:
                fixing.make(finding, finding.edit, is_one_of_several=len(stack.files) > 1)
    return list(fixing.files.values())


class _Fixing:
    """The files that are edited, and what came of the edit at each key."""

    def __init__(self, texts: Mapping[Path, str]) -> None:
        self.files: dict[Path, Fixed] = {}
        self._texts = texts
        self._made: dict[tuple[Path, tuple[str, ...]], tuple[Edit, str]] = {}

    def make(self, finding: Finding, edit: Edit, *, is_one_of_several: bool) -> None:
        file = finding.place.file
        if file not in self.files:
            text = self._texts[file] if file in self._texts else editing.read_exactly(file)
            self.files[file] = Fixed(file, text, text)
        fixed = self.files[file]
        if (file, edit.key) not in self._made:
            self._made[file, edit.key] = (edit, _made(fixed, edit, is_one_of_several=is_one_of_several))
        first, refusal = self._made[file, edit.key]
        if not refusal and first.value != edit.value:
            refusal = f"{'.'.join(edit.key)} is set to {first.value} for another finding"
        if refusal:
            fixed.refused.append((finding, refusal))
        else:
            fixed.done.append(finding)


def _made(fixed: Fixed, edit: Edit, *, is_one_of_several: bool) -> str:
    """Makes an edit; gives why it's refused, or nothing."""
    if is_one_of_several and any(part.isdecimal() for part in edit.key):
        return "it's an item of a list that several files make up"
    try:
        fixed.after = editing.edited(fixed.after, [editing.Edit(edit.key, edit.value, edit.after)], fixed.file)
    except StackError as error:
        return error.problem
    return ""


def write(fixed: Sequence[Fixed]) -> None:
    """Writes the files that have changed; raises :class:`StackError` where one can't be written."""
    for each in fixed:
        if each.after != each.before:
            editing.write_exactly(each.file, each.after)
