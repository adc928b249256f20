"""A scenario: a plan, and the names of the checks that judge what came of it.

Scenarios are the only place that sees both the acting and the judging side, and sees of the second
only names, so that reading a scenario loads no engine and judging an old run none either.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from dataclasses import dataclass

from swarmtest import scenarios
from swarmtest.errors import UsageError
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


def scenario_names() -> list[str]:
    """All scenarios, by the names of their files."""
    return sorted(found.name.replace("_", "-") for found in pkgutil.iter_modules(scenarios.__path__))


def load_scenario(name: str) -> Scenario:
    """The scenario of a name.

    Raises:
        UsageError: there's none; the message has the near names.
    """
    names = scenario_names()
    if name not in names:
        near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are: {', '.join(names)}"
        raise UsageError(f"no scenario {name!r}; {hint}")
    module = importlib.import_module(f"swarmtest.scenarios.{name.replace('-', '_')}")
    found: Scenario = module.SCENARIO
    return found
