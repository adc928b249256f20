"""Carries out the rules on the files of one stack, and takes out what the files silence."""

from __future__ import annotations

import importlib
import pkgutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from swarmtest.errors import StackError
from swarmtest.lint import Certainty, Finding, Place, Severity, Target, rules
from swarmtest.lint.document import Document, read_document
from swarmtest.lint.reading import services_of
from swarmtest.lint.rules import Rule, Stack
from swarmtest.lint.silencing import SUMMARIES, Silenced, allowances, silence
from swarmtest.stack.syntax.yamlfile import read_text

WORST_FIRST = (Severity.ERROR, Severity.WARNING, Severity.INFO)


@dataclass(frozen=True, slots=True)
class Linted:
    """What came of one stack.

    Attributes:
        findings: by file and line, without those that are silenced.
        silenced: those that a comment in the file allows.
        problem: why the files couldn't be read; then there are no findings.
        broken: rules that couldn't get through these files, which is their own fault, and how they ended.
    """

    files: tuple[Path, ...]
    target: Target
    findings: tuple[Finding, ...] = ()
    silenced: tuple[Silenced, ...] = ()
    problem: StackError | None = None
    broken: tuple[str, ...] = ()

    def count(self, severity: Severity) -> int:
        """How many findings there are of a severity."""
        return self.counts[severity]

    @property
    def counts(self) -> Counter[Severity]:
        """How many findings there are of each severity."""
        return Counter(finding.severity for finding in self.findings)

    @property
    def unknown(self) -> int:
        """How many of them a file can't tell."""
        return sum(finding.certainty is Certainty.UNKNOWN for finding in self.findings)


@cache
def all_rules() -> tuple[Rule, ...]:
    """Each rule there is, by name; they're found by the files in the folder ``rules``."""
    found = [Rule(name, summary, lambda _stack: ()) for name, summary in SUMMARIES.items()]
    for module in pkgutil.iter_modules(rules.__path__):
        found += getattr(importlib.import_module(f"{rules.__name__}.{module.name}"), "RULES", ())
    return tuple(sorted(found, key=lambda rule: rule.name))


def lint(
    paths: Sequence[Path],
    target: Target,
    environment: Mapping[str, str],
    texts: Mapping[Path, str] | None = None,
    before: Sequence[Path] = (),
) -> Linted:
    """Reads the files of one stack, the later over the earlier, and looks at them with every rule.

    Arguments:
        texts: what files hold that aren't to be read from the disk.
        before: the files of an older version of it, which some rules hold against this one.

    Raises:
        StackError: a file can't be read at all.
    """
    known = dict(texts or {})
    stack = _read(paths, target, environment, known)
    if before:
        stack = replace(stack, before=_read(before, target, environment, known))
    return _look(stack, known, lambda rule, looked_at: rule.find(looked_at))


def try_to_lint(
    paths: Sequence[Path],
    target: Target,
    environment: Mapping[str, str],
    texts: Mapping[Path, str] | None = None,
    before: Sequence[Path] = (),
) -> Linted:
    """The same for a person's files, several stacks after each other: what goes wrong with one is told in it."""
    broken: list[str] = []

    def carefully(rule: Rule, stack: Stack) -> Iterable[Finding]:
        try:
            return list(rule.find(stack))
        except Exception as error:  # noqa: BLE001 - one rule's mistake takes no other's findings along
            broken.append(f"the rule {rule.name} ({type(error).__name__}: {error})")
            return ()

    known = dict(texts or {})
    try:
        stack = _read(paths, target, environment, known)
        if before:
            stack = replace(stack, before=_read(before, target, environment, known))
        return replace(_look(stack, known, carefully), broken=tuple(broken))
    except StackError as error:
        return Linted(tuple(paths), target, problem=error)
    except Exception as error:  # noqa: BLE001 - and one file's no other file's
        return Linted(tuple(paths), target, broken=(f"reading ({type(error).__name__}: {error})",))


def _read(paths: Sequence[Path], target: Target, environment: Mapping[str, str], texts: dict[Path, str]) -> Stack:
    """One stack; the texts of its files are added to those that are known."""
    for path in paths:
        if path not in texts:
            texts[path] = read_text(path, "a stack file")
    document = read_document(paths, target, environment, texts)
    return Stack(document, tuple(services_of(document)))


def _look(stack: Stack, texts: Mapping[Path, str], carry_out: Callable[[Rule, Stack], Iterable[Finding]]) -> Linted:
    files, target = stack.document.files, stack.document.target
    found = list(_once(stack.document, (finding for rule in all_rules() for finding in carry_out(rule, stack))))
    allowed = [each for path in files for each in allowances(texts[path], path)]
    standing, silenced = silence(found, allowed, [rule.name for rule in all_rules()], target)
    standing.sort(key=lambda each: (str(each.place.file), each.place.line or 0, WORST_FIRST.index(each.severity)))
    return Linted(files, target, tuple(standing), tuple(silenced))


def _once(document: Document, found: Iterable[Finding]) -> Iterator[Finding]:
    """Each finding once; what several services have from one anchor is told for the first of them."""
    told: dict[object, set[tuple[str, ...]]] = {}
    for each in found:
        keys = told.setdefault((each.rule, each.place.file, each.place.line, each.effect, each.fix), set())
        if not keys or (each.place.key not in keys and not _anchored(document, each.place)):
            yield each
        keys.add(each.place.key)


def _anchored(document: Document, place: Place) -> bool:
    """Whether what a service says is written above it, where an anchor is."""
    own = document.place(*place.key[:2]).line if place.key[:1] == ("services",) else None
    return own is not None and place.line is not None and place.line < own
