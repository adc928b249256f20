"""What all scenarios have in common, and what sets each apart."""

from __future__ import annotations

import importlib
import json

import pytest

from swarmtest.catalogue import load_scenario, scenario_names
from swarmtest.checks import check_names
from swarmtest.drawing import draw_plan, plan_lines
from swarmtest.plan import Draw
from swarmtest.scenario import Scenario

WISHES = {
    "release": {"image": "api:2", "environment": {}},
    "dependency": "bank",
    "reload": {"service": "edge", "signal": "SIGUSR2"},
}
NAMES = scenario_names()


@pytest.fixture(params=NAMES)
def scenario(request: pytest.FixtureRequest) -> Scenario:
    return load_scenario(request.param)


def test_each_check_exists_and_is_asked_once(scenario: Scenario) -> None:
    assert set(scenario.checks) <= set(check_names())
    assert len(set(scenario.checks)) == len(scenario.checks)


def test_each_begins_quietly_or_with_what_only_prepares(scenario: Scenario) -> None:
    judged = [step for step in scenario.plan.steps if not step.prepares]
    assert judged[0].fault is None, "records are reconciled in the baseline"


def test_phases_have_names_of_their_own(scenario: Scenario) -> None:
    phases = [step.phase for step in scenario.plan.steps]
    assert len(set(phases)) == len(phases)


def test_only_a_destructive_one_excuses_losses(scenario: Scenario) -> None:
    excuses = "lost_only_to_the_fault" in scenario.checks
    assert excuses == (scenario.kind == "destructive")
    assert ("answered_every_request" in scenario.checks) == (scenario.kind == "orderly")


def test_all_see_to_it_that_the_traffic_was_sent(scenario: Scenario) -> None:
    assert {"delivered_the_traffic", "ids_on_every_record", "handled_each_request_once"} <= set(scenario.checks)


@pytest.mark.parametrize("name", NAMES)
def test_the_docstring_says_what_passing_means(name: str) -> None:
    module = importlib.import_module(f"swarmtest.scenarios.{name.replace('-', '_')}")
    assert "pass" in (module.__doc__ or "")


def test_each_plan_can_be_drawn_and_written(scenario: Scenario) -> None:
    plan = draw_plan(scenario.plan, Draw(seed=7, replicas=3, minutes=3.0, wishes=WISHES))
    lines = json.dumps(plan_lines(plan, 8.0))
    again = draw_plan(scenario.plan, Draw(seed=7, replicas=3, minutes=3.0, wishes=WISHES))
    assert lines == json.dumps(plan_lines(again, 8.0))
    assert all(step.target is None or step.target.ranks for step in plan.steps)


def test_whatever_is_done_lasts_or_comes_to_its_own_end(scenario: Scenario) -> None:
    plan = draw_plan(scenario.plan, Draw(seed=1, replicas=3, minutes=3.0, wishes=WISHES))
    for step in plan.steps:
        if step.fault is not None and step.fault.lasting:
            assert step.hold_seconds is not None, "a hurt that's healed at once proves nothing"


def test_chaos_in_three_minutes_is_more_than_one_kind_of_trouble() -> None:
    plan = draw_plan(load_scenario("chaos").plan, Draw(seed=7, replicas=3, minutes=3.0, wishes=WISHES))
    assert len({step.fault.name for step in plan.steps if step.fault is not None}) >= 4
