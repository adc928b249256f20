"""A scenario: a plan, and the names of the checks that judge what came of it.

Scenarios are the only place that sees both the acting and the judging side, and sees of the second
only names, so that reading a scenario loads no engine and judging an old run none either.
"""

from __future__ import annotations

from dataclasses import dataclass

from swarmtest.plan import Plan


@dataclass(frozen=True, slots=True)
class Scenario:
    """A story that a person would tell, as data.

    Attributes:
        story: one line: what is done and what it proves.
        plan: what happens when.
        checks: names of modules in :mod:`swarmtest.checks`, in the order of the report.
    """

    story: str
    plan: Plan
    checks: tuple[str, ...]
