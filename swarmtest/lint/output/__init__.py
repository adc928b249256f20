"""What came of all stacks, and the forms in which it's told: one module each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from swarmtest.lint import Finding, Severity, Target
from swarmtest.lint.linting import WORST_FIRST, Linted
from swarmtest.lint.silencing import Silenced


class Format(StrEnum):
    """For a person, for programs, for code scanning, for the log of a GitHub workflow."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"


@dataclass(frozen=True, slots=True)
class Report:
    """All that was looked at.

    Attributes:
        fail_on: the least severity that fails.
    """

    stacks: tuple[Linted, ...]
    target: Target
    fail_on: Severity

    @property
    def findings(self) -> Iterator[Finding]:
        """Those of all stacks, in their order."""
        return (finding for stack in self.stacks for finding in stack.findings)

    @property
    def silenced(self) -> Iterator[Silenced]:
        """What comments in the files allow."""
        return (each for stack in self.stacks for each in stack.silenced)

    @property
    def counts(self) -> Counter[Severity]:
        """How many findings there are of each severity."""
        return sum((stack.counts for stack in self.stacks), Counter[Severity]())

    @property
    def exit_code(self) -> int:
        """4 where a rule broke, 2 where a file can't be read, 1 where something is as bad as asked for, else 0."""
        if any(stack.broken for stack in self.stacks):
            return 4
        if any(stack.problem for stack in self.stacks):
            return 2
        bad = WORST_FIRST[: WORST_FIRST.index(self.fail_on) + 1]
        return int(any(self.counts[severity] for severity in bad))


def many(count: int, what: str) -> str:
    """``1 error``, ``2 errors``."""
    return f"{count:,} {what}" + ("" if count == 1 else "s")


def faults(report: Report) -> Iterator[str]:
    """What to say where swarmtest itself couldn't get through, a line for each way in which it broke."""
    files: dict[str, list[str]] = {}
    for stack in report.stacks:
        for problem in stack.broken:
            files.setdefault(problem, []).append(", ".join(map(str, stack.files)))
    for problem, where in files.items():
        more = f" and {len(where) - 1:,} more" if len(where) > 1 else ""
        yield f"swarmtest itself broke on {where[0]}{more}: {problem}; report it"
