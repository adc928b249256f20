"""The same seed draws the same plan, and every plan is one that can be carried out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmtest.drawing import describe, draw_plan, plan_lines
from swarmtest.errors import UsageError
from swarmtest.faults.kill import Kill
from swarmtest.faults.update import Update
from swarmtest.plan import Draw, Line, Mix, Plan, Step, Target


@dataclass(frozen=True)
class Wanting(Update):
    """A fault that can't do without the stack's word."""

    image: str | None = None

    def granted(self, wishes: Mapping[str, Any]) -> Wanting:
        if "release" not in wishes:
            raise UsageError("no release")
        return replace(self, image=wishes["release"])


MIX = Mix(
    steps=(
        (Step("kill", fault=Update(), target=Target(draw=1)), 3, 12.0),
        (Step("kill both", fault=Update(), target=Target(draw=2)), 1, 15.0),
        (Step("roll", fault=Update()), 1, 30.0),
    )
)


def spelled(seed: int, minutes: float = 3.0, replicas: int = 3) -> Plan:
    return draw_plan(Plan((Step("baseline"),), mix=MIX), Draw(seed, replicas, minutes))


def test_the_same_seed_gives_the_same_plan_to_the_byte() -> None:
    first, second = (json.dumps(plan_lines(spelled(7), 8.0)) for _ in range(2))
    assert first == second
    assert first != json.dumps(plan_lines(spelled(8), 8.0))


@given(st.integers(0, 500), st.floats(0.5, 20.0), st.integers(2, 9))
def test_a_mix_keeps_within_its_time_and_within_the_replicas(seed: int, minutes: float, replicas: int) -> None:
    plan = spelled(seed, minutes, replicas)
    nominal = {"kill": 12.0, "kill both": 15.0, "roll": 30.0}
    spent = sum(
        step.hold_seconds or 0.0 if step.fault is None else nominal[step.phase.rsplit(" ", 1)[0]]
        for step in plan.steps[1:]
    )
    assert spent <= minutes * 60
    for step in plan.steps:
        if step.target is not None:
            assert len(set(step.target.ranks)) == len(step.target.ranks) > 0
            assert all(0 <= rank < replicas for rank in step.target.ranks)


def test_every_kind_comes_once_before_any_comes_twice() -> None:
    phases = [step.phase.rsplit(" ", 1)[0] for step in spelled(3, 5.0).steps if step.fault is not None]
    assert set(phases[:3]) == {"kill", "kill both", "roll"}


def test_a_mix_that_has_no_time_for_anything_is_refused() -> None:
    with pytest.raises(UsageError, match=r"a plan of 6 s has no room for a single step; give --minutes 0\.4 or more"):
        spelled(7, 0.1)
    assert any(step.fault is not None for step in spelled(7, 0.4).steps)


@pytest.mark.parametrize(
    ("replicas", "kinds"),
    [(1, {"kill", "roll"}), (2, {"kill", "roll"}), (3, {"kill", "kill both", "roll"})],
)
def test_a_mix_does_not_hurt_several_where_the_floor_always_forbids_it(replicas: int, kinds: set[str]) -> None:
    plan = spelled(3, 5.0, replicas)
    assert {step.phase.rsplit(" ", 1)[0] for step in plan.steps if step.fault is not None} == kinds


def test_a_long_night_is_not_cut_short_by_the_limit_on_hurts() -> None:
    """Every step of it was asked for, by its length; one that's skipped would keep the run from a pass."""
    plan = spelled(7, 60.0)
    hurts = sum(step.target.count for step in plan.steps if step.target is not None)
    assert plan.most_hurts == hurts > 50
    assert spelled(7, 3.0).most_hurts == 50


def test_phases_have_names_of_their_own() -> None:
    phases = [step.phase for step in spelled(1, 10.0).steps]
    assert len(set(phases)) == len(phases)


def test_a_step_gets_what_the_stack_says() -> None:
    drawn = draw_plan(Plan((Step("roll", fault=Wanting()),)), Draw(1, 3, wishes={"release": "api:2"}))
    assert drawn.steps[0].fault == Wanting(image="api:2")


def test_a_plan_that_needs_what_the_stack_does_not_say_is_refused() -> None:
    with pytest.raises(UsageError, match="no release"):
        draw_plan(Plan((Step("roll", fault=Wanting()),)), Draw(1, 3))


def test_a_mix_goes_without_what_the_stack_does_not_say() -> None:
    mix = Mix(steps=((Step("release", fault=Wanting()), 1, 5.0), (Step("roll", fault=Update()), 1, 5.0)))
    drawn = draw_plan(Plan((), mix=mix), Draw(1, 3, 1.0))
    assert {type(step.fault) for step in drawn.steps if step.fault is not None} == {Update}


def test_more_victims_than_replicas_are_not_drawn() -> None:
    step = Step("kill", fault=Update(), target=Target(draw=5))
    assert len(draw_plan(Plan((step,)), Draw(1, 2)).steps[0].target.ranks) == 2  # type: ignore[union-attr]


def test_a_plan_reads_as_a_list() -> None:
    lines = describe(spelled(7), 8.0)
    assert lines[0].split() == ["1", "baseline", "8", "s", "of", "traffic,", "nothing", "is", "done"]
    assert any("of instance" in line for line in lines)


def test_a_plan_counts_instances_as_their_names_do() -> None:
    one, two = (Step("kill the second", fault=Kill(), target=Target(ranks=ranks)) for ranks in ((0,), (0, 2)))
    assert describe(Plan((one, two)), 8.0) == [
        "  1  kill the second  kill of instance 1 by slot",
        "  2  kill the second  kill of instances 1 and 3 by slot",
    ]


def test_a_plan_is_in_columns_whatever_its_steps_are_called() -> None:
    steps = (Step("withdraw the second", fault=Update()), Step("on", hold_seconds=3.0))
    assert {line.index(word) for line, word in zip(describe(Plan(steps), 8.0), ("update", "3 s"), strict=True)} == {25}


def test_a_plan_says_what_a_step_waits_for() -> None:
    steps = (
        Step("found ready", awaits=Line("asked"), hold_seconds=5.0),
        Step("just asked", awaits=Line("asked", (0, 2)), hold_seconds=2.0),
    )
    lines = [line.split(maxsplit=1)[1] for line in describe(Plan(steps), 8.0)]
    assert [" ".join(line.split()) for line in lines] == [
        "found ready traffic until the line asked of each instance, 5 s at most",
        "just asked traffic until the line asked of instances 1 and 3 by slot, 2 s at most",
    ]
    first, second = (step.as_json(8.0) for step in steps)
    assert first == {"phase": "found ready", "seconds": 5.0, "awaits": {"line": "asked", "ranks": []}}
    assert second["awaits"]["ranks"] == [0, 2]
