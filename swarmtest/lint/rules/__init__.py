"""One file a family of rules; each has ``RULES``. Elsewhere a rule has nothing but its page under ``docs/lint/``.

A rule is a function from a stack to its findings. What it says has the numbers of this file in it, and the fix says
what to write. Where the stack is for the other target, or where a value can't be known, it yields nothing, or a
finding that's *unknown* if the person has to look.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from swarmtest.lint import Finding
from swarmtest.lint.document import Document
from swarmtest.lint.services import LintService


@dataclass(frozen=True, slots=True)
class Stack:
    """What a rule looks at.

    Attributes:
        before: an older version of the same stack, where one is given: what's deployed now.
    """

    document: Document
    services: tuple[LintService, ...]
    before: Stack | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    Attributes:
        name: what it's silenced by, and its page under ``docs/lint/``: a statement of what's wrong, in a few words.
        summary: what it finds, in a line.
    """

    name: str
    summary: str
    find: Callable[[Stack], Iterable[Finding]]
