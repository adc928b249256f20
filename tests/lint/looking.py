"""What one rule finds in a stack that's given as text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

from swarmtest.lint import Finding, Target
from swarmtest.lint.document import read_document
from swarmtest.lint.linting import all_rules
from swarmtest.lint.reading import services_of
from swarmtest.lint.rules import Stack

FILE = Path("stack.yml")


def stack(text: str, target: str = "swarm", before: str = "", environment: Mapping[str, str] | None = None) -> Stack:
    """A stack; ``before`` is an older version of it."""
    document = read_document([FILE], Target(target), environment or {}, {FILE: dedent(text)})
    return Stack(document, tuple(services_of(document)), stack(before, target) if before else None)


def look(rule: str, text: str, target: str = "swarm", before: str = "") -> list[Finding]:
    """The findings of one rule."""
    found = next(each for each in all_rules() if each.name == rule)
    return list(found.find(stack(text, target, before)))


def told(rule: str, text: str, target: str = "swarm") -> list[str]:
    """The same in short: service, severity, certainty and line of each."""
    return [
        f"{each.place.key[1]} {each.severity} {each.certainty} {each.place.line}" for each in look(rule, text, target)
    ]
