"""What there is, a line each: read from the first lines of the files, so that nothing is listed twice."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from dataclasses import dataclass

from swarmtest import checks, scenarios
from swarmtest.errors import UsageError
from swarmtest.lint.linting import all_rules
from swarmtest.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Group:
    """Scenarios that are asked for by one name, and run as a series.

    Attributes:
        scenarios: in the order in which they're run; those that there are.
        but: every other scenario follows, save these; None: no other does.
        repeat: how often each is run, unless the command line says.
        checklist: whether the checklist is part of the verdict.
    """

    story: str
    scenarios: tuple[str, ...]
    but: tuple[str, ...] | None = None
    repeat: int = 1
    checklist: bool = False


STOP_MODES = ("stop-by-kill", "stop-by-term", "withdraw-then-term", "withdraw-then-term-1s")

GROUPS = {
    "all": Group(
        "one run of each scenario, from the harmless to the harmful, and the checklist with a verdict on each line",
        (
            *("baseline", "rolling", "release", "burst", "start-first", "stop-first"),
            *("scale-out", "scale-in", "stop", "slow-shutdown", "rollback", "reload", "unhealthy"),
            *("unhealthy-soon", "unhealthy-late", "kill", "kill-two", "freeze", "overlong-shutdown"),
            *("forced-termination", "dependency"),
        ),
        but=("chaos", "crash-loop", "drain", *STOP_MODES),
        checklist=True,
    ),
    "stop-modes": Group("four ways of stopping an instance, five runs of each, in one table", STOP_MODES, repeat=5),
}
"""``all`` leaves out what has a length of its own (chaos, stop-modes), what never ends well (crash-loop), and what
needs a second node (drain)."""


def expand(asked: str) -> list[str]:
    """The scenarios of ``rolling,kill`` or ``all``, each once, in the order in which they're asked for.

    Raises:
        UsageError: one of them isn't known.
    """
    found: list[str] = []
    for name in (part.strip() for part in asked.split(",")):
        if name in GROUPS:
            found += _of_group(GROUPS[name])
        else:
            load_scenario(name)
            found.append(name)
    return list(dict.fromkeys(found))


def _of_group(group: Group) -> list[str]:
    there = scenario_names()
    first = [name for name in group.scenarios if name in there]
    if group.but is None:
        return first
    return first + [name for name in there if name not in (*first, *group.but)]


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
        known = [*names, *GROUPS]
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are: {', '.join(known)}"
        raise UsageError(f"no scenario {name!r}; {hint}")
    module = importlib.import_module(f"swarmtest.scenarios.{name.replace('-', '_')}")
    found: Scenario = module.SCENARIO
    return found


def scenario_lines() -> list[tuple[str, str]]:
    """Each scenario's name and story."""
    return [(name, load_scenario(name).story) for name in scenario_names()]


def group_lines() -> list[tuple[str, str]]:
    """Each group's name and what it's for."""
    return [(name, group.story) for name, group in GROUPS.items()]


def check_lines() -> list[tuple[str, str]]:
    """Each check's name and the first sentence of its module's docstring."""
    return [(name, checks.check_line(name)) for name in checks.check_names()]


def rule_lines() -> list[tuple[str, str]]:
    """Each rule of ``swarmtest lint`` and what it finds."""
    return [(rule.name, rule.summary) for rule in all_rules()]
