"""Carries out the rules on the files of one stack."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from swarmtest.lint import Finding, Severity, Target, rules
from swarmtest.lint.document import read_document
from swarmtest.lint.reading import services_of
from swarmtest.lint.rules import Rule, Stack

_WORST_FIRST = (Severity.ERROR, Severity.WARNING, Severity.INFO)


@dataclass(frozen=True, slots=True)
class Linted:
    """What came of one stack: its findings, by file and line."""

    files: tuple[Path, ...]
    target: Target
    findings: tuple[Finding, ...]


def all_rules() -> tuple[Rule, ...]:
    """Each rule there is, by name; they're found by the files in the folder ``rules``."""
    found: list[Rule] = []
    for module in pkgutil.iter_modules(rules.__path__):
        found += importlib.import_module(f"{rules.__name__}.{module.name}").RULES
    return tuple(sorted(found, key=lambda rule: rule.name))


def lint(paths: Sequence[Path], target: Target, environment: Mapping[str, str]) -> Linted:
    """Reads the files of one stack, the later over the earlier, and looks at them with every rule.

    Raises:
        StackError: a file can't be read at all.
    """
    document = read_document(paths, target, environment)
    stack = Stack(document, tuple(services_of(document)))
    found = [finding for rule in all_rules() for finding in rule.find(stack)]
    found.sort(key=lambda each: (str(each.place.file), each.place.line or 0, _WORST_FIRST.index(each.severity)))
    return Linted(tuple(paths), target, tuple(found))
