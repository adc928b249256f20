"""From a plan with draws in it to the plan that's carried out: the same seed gives the same plan.

All chance is spent here, before anything happens, so that the plan can be printed and read first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any, cast

from swarmtest.errors import UsageError
from swarmtest.faults import Fault, Wishing
from swarmtest.plan import Draw, Mix, Plan, Step, Target


def draw_plan(plan: Plan, draw: Draw) -> Plan:
    """The plan with ranks drawn, mixes spelled out, and what the stack says of itself filled in.

    Raises:
        UsageError: a fault needs what the stack doesn't say, or a mix has no time for anything.
    """
    generator = Random(f"{draw.seed}/plan")
    steps = [_drawn(_granted(step, draw), generator, draw) for step in plan.steps]
    if plan.mix is None:
        return replace(plan, steps=tuple(steps))
    steps += _mixed(plan.mix, generator, draw, most=draw.replicas - plan.floor)
    most = max(plan.most_hurts, sum(_hurts(step, draw.replicas) for step in steps))
    return replace(plan, steps=tuple(steps), mix=None, most_hurts=most)


def _hurts(step: Step, replicas: int) -> int:
    """How many instances a step hurts at most: a mix may hurt as many as its length asks for."""
    return (step.target.count if step.target is not None else 0) + (replicas if step.on_stop is not None else 0)


def describe(plan: Plan, baseline_seconds: float) -> list[str]:
    """The plan in lines for a person, before anything is done."""
    width = max([16, *(len(step.phase) for step in plan.steps)])
    words = (f"{step.phase:<{width}} {_words(step, baseline_seconds)}" for step in plan.steps)
    return [f"{number:>3}  {line}" for number, line in enumerate(words, 1)]


def _words(step: Step, baseline_seconds: float) -> str:
    if step.fault is None:
        seconds = f"{step.seconds(baseline_seconds):g} s"
        if step.awaits is not None:
            whose = _victims(Target(step.awaits.ranks)) or "of each instance"
            return f"traffic until the line {step.awaits.name} {whose}, {seconds} at most"
        return f"{seconds} of traffic, nothing is done"
    settings = " ".join(f"{key}={value}" for key, value in step.fault.settings().items() if value not in (None, {}, []))
    words = [step.fault.name, settings, _victims(step.target) if step.target is not None else ""]
    if step.hold_seconds is not None:
        words.append(f"for {step.hold_seconds:g} s")
    if step.on_stop is not None:
        words.append(f"with {step.on_stop.fault.name} for {step.on_stop.seconds:g} s of each one that stops")
    if step.burst is not None:
        words.append(f"with {step.burst.factor:g} times the traffic for {step.burst.seconds:g} s")
    return " ".join(word for word in words if word)


def _victims(target: Target) -> str:
    """``of instances 1 and 3 by slot``: slots begin with 1, as in ``api.1``."""
    places = [str(rank + 1) for rank in target.ranks]
    return f"of instance{'s' if len(places) > 1 else ''} {' and '.join(places)} by slot" if places else ""


def _granted(step: Step, draw: Draw) -> Step:
    if step.fault is None or not hasattr(step.fault, "granted"):
        return step
    return replace(step, fault=cast(Wishing, step.fault).granted(draw.wishes))


def _drawn(step: Step, generator: Random, draw: Draw) -> Step:
    if step.target is None:
        return step
    return replace(step, target=step.target.drawn(generator, draw.replicas))


def _mixed(mix: Mix, generator: Random, draw: Draw, most: int) -> Iterator[Step]:
    """Steps with pauses between them, until the time is full by their nominal lengths.

    Every kind of step comes once before any comes twice: a short night would else try but one or two.

    Arguments:
        most: so many may be hurt at once. A step that hurts several, and more than that, isn't drawn: it'd be
            skipped each time. One that hurts a single one is, so that it's said that even that can't be.
    """
    budget, longest_rest = 60.0 * (mix.minutes if draw.minutes is None else draw.minutes), mix.rest_seconds[1]
    fitting = [choice for choice in mix.steps if choice[0].target is None or choice[0].target.count <= max(1, most)]
    possible = [(found, weight, seconds) for step, weight, seconds in fitting if (found := _possible(step, draw))]
    choices = [choice for choice in possible if choice[2] + longest_rest <= budget]
    if not choices:
        least = (min(seconds for _, _, seconds in possible) + longest_rest) / 60
        enough = f"{math.ceil(10 * least) / 10:g}"
        raise UsageError(f"a plan of {budget:g} s has no room for a single step; give --minutes {enough} or more")
    spent, number, bag = 0.0, 0, list[tuple[Step, int, float]]()
    while True:
        bag = bag or list(choices)
        step, weight, seconds = _weighted(bag, generator)
        bag.remove((step, weight, seconds))
        shortest, longest = mix.rest_seconds
        rest = round(shortest + (longest - shortest) * generator.random(), 1)
        if spent + rest + seconds > budget:
            return
        number, spent = number + 1, spent + rest + seconds
        yield Step(f"rest {number}", hold_seconds=rest)
        yield replace(_drawn(step, generator, draw), phase=f"{step.phase} {number}")


def _possible(step: Step, draw: Draw) -> Step | None:
    """The step, unless the stack doesn't say what it needs: a mix goes without."""
    try:
        return _granted(step, draw)
    except UsageError:
        return None


def _weighted(bag: list[tuple[Step, int, float]], generator: Random) -> tuple[Step, int, float]:
    # Only random() is promised to give the same numbers in every version of Python.
    point = generator.random() * sum(weight for _, weight, _ in bag)
    for choice in bag:
        point -= choice[1]
        if point < 0:
            return choice
    return bag[-1]


def plan_lines(plan: Plan, baseline_seconds: float) -> list[dict[str, Any]]:
    """The steps as they stand in ``plan.json``."""
    return [step.as_json(baseline_seconds) for step in plan.steps]


def faults_of(plan: Plan) -> list[Fault]:
    """All faults of a plan, those done at a stop included."""
    found = [step.fault for step in plan.steps if step.fault is not None]
    return found + [step.on_stop.fault for step in plan.steps if step.on_stop is not None]
