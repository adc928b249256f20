"""What there is, a line each: read from the first lines of the files, so that nothing is listed twice."""

from __future__ import annotations

import difflib
import importlib
import pkgutil

from swarmtest import checks, scenarios
from swarmtest.errors import UsageError
from swarmtest.scenario import Scenario


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


def scenario_lines() -> list[tuple[str, str]]:
    """Each scenario's name and story."""
    return [(name, load_scenario(name).story) for name in scenario_names()]


def check_lines() -> list[tuple[str, str]]:
    """Each check's name and the first sentence of its module's docstring."""
    return [(name, checks.check_line(name)) for name in checks.check_names()]
