"""A scenario: a plan, and the names of the checks that judge what came of it.

Scenarios are the only place that sees both the acting and the judging side, and sees of the second
only names, so that reading a scenario loads no engine and judging an old run none either.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from swarmtest.plan import Plan

Kind = Literal["orderly", "destructive"]


@dataclass(frozen=True, slots=True)
class Scenario:
    """A story that a person would tell, as data.

    Attributes:
        story: one line: what is done and what it proves.
        plan: what happens when.
        checks: names of modules in :mod:`swarmtest.checks`, in the order of the report.
        kind: an orderly one passes with nothing lost; a destructive one passes when every loss belongs to
            what was hurt, nothing else was lost, and capacity was back in time.
        deployed_with: keys of the service under test as a compose file has them, put over the stack's own,
            such as ``{"stop_grace_period": "1s"}``.
        needs: what it can't be run without: ``release`` or ``dependency`` (keys of ``x-swarmtest``),
            ``second_node``.
    """

    story: str
    plan: Plan
    checks: tuple[str, ...]
    kind: Kind = "orderly"
    deployed_with: Mapping[str, Any] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
