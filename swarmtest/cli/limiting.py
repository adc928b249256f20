"""Which limits are for which run: by the scenario's name, and by the phases that its plan has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from swarmtest.catalogue import load_scenario, scenario_names
from swarmtest.limits import ROLLOUT, Limit
from swarmtest.plan import Plan, Step
from swarmtest.running.limit_guard import minded
from swarmtest.scenario import Scenario
from swarmtest.stack.block.limits import AskedLimit
from swarmtest.stack.reader import near

WAYS = ("orderly", "destructive")
ALWAYS = ("warmup", "settle")
"""Phases that every run has, around the steps of its plan."""


def limits_for(asked: Iterable[AskedLimit], name: str, scenario: Scenario, plan: Plan) -> tuple[Limit, ...]:
    """The limits that a run of this scenario is held to."""
    phases = phases_of(plan)
    meant = [one.limit for one in asked if one.limit.meant_for(name, scenario.kind)]
    return tuple(limit for limit in meant if limit.phase is None or limit.phase in phases)


def not_asked(asked: Iterable[AskedLimit], name: str, scenario: Scenario, plan: Plan) -> tuple[str, ...]:
    """What a run of this scenario can't be held to, though the limits are meant for it."""
    phases, words = phases_of(plan), []
    for limit in (one.limit for one in asked if one.limit.meant_for(name, scenario.kind)):
        if limit.phase is not None and limit.phase not in phases:
            words.append(f"{limit.text}: isn't asked of {name}, which has no phase {limit.phase}")
        elif limit.abort and limit not in minded([limit], scenario.kind):
            why = "which of its losses belong to the fault is known when it's judged"
            words.append(f"{limit.text}: doesn't stop {name} while it runs; {why}")
    return tuple(words)


def phases_of(plan: Plan) -> list[str]:
    """The phases that a run of the plan has, and ``rollout`` where something is done in it."""
    steps = [*plan.steps, *(step for step, _, _ in (plan.mix.steps if plan.mix is not None else ()))]
    names = [*ALWAYS, *([ROLLOUT] if any(map(_does_something, steps)) else []), *(step.phase for step in steps)]
    return list(dict.fromkeys(names))


def _does_something(step: Step) -> bool:
    return step.fault is not None and not step.prepares


def refuse_useless(asked: Iterable[AskedLimit], names: Iterable[str]) -> None:
    """A limit that names what there isn't, or one of the command line that's for none of the scenarios.

    One of the file may be for scenarios that aren't asked for today.

    Raises:
        UsageError: it points at the limit.
    """
    names = list(names)
    for one in asked:
        known = [*scenario_names(), *WAYS]
        for name in one.limit.scenarios:
            if name not in known:
                raise one.error(f"no scenario is called {name!r}; {near(name, known)}")
        phase = one.limit.phase
        if phase is None:
            continue
        everywhere = list(dict.fromkeys(_all_phases()))
        if phase not in everywhere and not phase[-1].isdigit():  # those of a mix are numbered
            raise one.error(f"no scenario has a phase {phase!r}; {near(phase, everywhere)}")
        if one.reader is None and not any(phase in phases_of(load_scenario(name).plan) for name in names):
            there = dict.fromkeys(phase for name in names for phase in phases_of(load_scenario(name).plan))
            raise one.error(f"{', '.join(names)} has no phase {phase!r}; {near(phase, list(there))}")


def _all_phases() -> Iterator[str]:
    for name in scenario_names():
        yield from phases_of(load_scenario(name).plan)


def limit_lines(limits: Iterable[Limit], kind: str) -> list[str]:
    """The limits of a run of this kind for a person who reads its plan."""
    limits = list(limits)
    stopping = minded(limits, kind)
    return [f"{limit.text}{' (stops the run)' if limit in stopping else ''}" for limit in limits]
