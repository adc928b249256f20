"""For a person: by file and line, each with what will happen and what to do, and the count of all below.

A log without colours tells as much as a terminal. The lines are made here and not by rich, which takes ten times as
long, and a folder of files has thousands.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from swarmtest.lint import Certainty, Finding, Severity, pages
from swarmtest.lint.linting import WORST_FIRST, Linted
from swarmtest.lint.output import Report, many

_INDENT = 7
_AMOUNT = re.compile(r"(?<=\d) (?=(?:s|ms|min|h|[KMG]i?B)\b|%)")
"""The space between a number and its unit, where no line ends."""


@dataclass(frozen=True, slots=True)
class Text:
    """How a report is written.

    Attributes:
        width: of the terminal, in columns.
        paint: gives a text its colour by what it is: file, error, warning, info, rule, key or fix.
    """

    width: int
    paint: Callable[[str, str], str]

    def lines(self, report: Report) -> Iterator[str]:
        """The whole report."""
        for stack in report.stacks:
            yield from self._problem(stack)
            for file, found in groupby(stack.findings, key=lambda finding: finding.place.file):
                yield self.paint(_shown(str(file)), "file")
                for finding in found:
                    yield from self.finding(finding)
                yield ""
        yield from self.closing(report)

    def finding(self, finding: Finding) -> Iterator[str]:
        """One finding, without the name of its file."""
        place = finding.place
        sure = "" if finding.certainty is Certainty.CERTAIN else f" · {finding.certainty}"
        yield self._head(place.line, finding.severity, self.paint(finding.rule, "rule") + sure)
        yield from self._wrapped(".".join(place.key), "key")
        yield from self._wrapped(finding.effect)
        yield from self._wrapped(f"fix: {finding.fix}" + " (--fix does it)" * (finding.edit is not None), "fix")
        yield from self._wrapped(pages.page_url(finding.rule), "key")

    def closing(self, report: Report) -> Iterator[str]:
        """How many of what, what files can't tell, and where to read on."""
        for text in self._closing(report):
            for line in textwrap.wrap(text, max(self.width, 20), break_long_words=False, break_on_hyphens=False):
                for severity, words in _counted(report):
                    line = line.replace(words, self.paint(words, severity))  # noqa: PLW2901
                yield line

    def _closing(self, report: Report) -> Iterator[str]:
        files = len({file for stack in report.stacks for file in stack.files})
        unread = sum(stack.problem is not None for stack in report.stacks)
        silenced = sum(1 for _ in report.silenced)
        found = ", ".join(words for _, words in _counted(report))
        said = [f"{found or 'nothing found'} in {many(files, 'file')}, for {report.target}"]
        said += [f"{unread:,} can't be read"] * bool(unread) + [f"{silenced:,} silenced"] * bool(silenced)
        if unread and unread == len(report.stacks) and not found:  # nothing is found where nothing was read
            said = [f"{many(unread, 'file')} can't be read"]
        yield " · ".join(said)
        if unknown := sum(stack.unknown for stack in report.stacks):
            yield f"{unknown:,} marked unknown: files can't tell, and what to look at is said there"
        if fixable := sum(finding.edit is not None for finding in report.findings):
            yield f"--fix mends {fixable:,}, --diff shows how"
        if report.counts and not pages.PAGES_URL:
            yield "swarmtest lint --explain RULE says more of a rule"
        if not report.counts and report.exit_code == 0:
            yield "what the app does with its requests no file can tell; swarmtest run finds out"

    def _problem(self, stack: Linted) -> Iterator[str]:
        if (problem := stack.problem) is None:
            return
        yield self.paint(_shown(str(problem.file or stack.files[0])), "file")
        yield self._head(problem.line, Severity.ERROR, "can't be read")
        yield from self._wrapped(problem.key or "", "key")
        yield from self._wrapped(problem.problem)
        yield ""

    def _head(self, line: int | None, severity: Severity, what: str) -> str:
        return f"{line or '':>5}  {self.paint(f'{severity:<7}', severity)}  {what}"

    def _wrapped(self, text: str, what: str = "") -> Iterator[str]:
        for line in _lines(text, max(self.width - _INDENT, 20)):
            yield " " * _INDENT + (self.paint(line, what) if what else line)


@lru_cache(maxsize=1000)
def _lines(text: str, room: int) -> tuple[str, ...]:
    """Kept, since alike services give alike findings, and this is most of the work."""
    text = _shown(text)
    if len(text) <= room:
        return (text,) if text else ()
    glued = _AMOUNT.sub("\u00a0", text)
    lines = textwrap.wrap(glued, room, break_long_words=False, break_on_hyphens=False)
    return tuple(line.replace("\u00a0", " ") for line in lines)


def _counted(report: Report) -> list[tuple[Severity, str]]:
    """``2 errors`` and so on, of each severity that there is."""
    counts = report.counts
    words = {one: many(counts[one], one) for one in WORST_FIRST} | {Severity.INFO: f"{counts[Severity.INFO]:,} info"}
    return [(one, words[one]) for one in WORST_FIRST if counts[one]]


def _shown(text: str) -> str:
    """On one line, and without what a file's values could do to a terminal."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else " " if one.isspace() else "\ufffd" for one in text)
