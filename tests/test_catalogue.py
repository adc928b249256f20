"""What there is: scenarios and checks, by their files."""

from __future__ import annotations

import importlib.util

import pytest

from swarmtest.catalogue import (
    GROUPS,
    STOP_MODES,
    check_lines,
    expand,
    group_lines,
    load_scenario,
    scenario_lines,
    scenario_names,
)
from swarmtest.errors import UsageError


def test_each_scenario_has_a_story_of_one_line_and_checks_that_exist() -> None:
    checks = {name for name, _ in check_lines()}
    for name, story in scenario_lines():
        scenario = load_scenario(name)
        assert story == scenario.story
        assert "\n" not in story
        assert scenario.checks
        assert set(scenario.checks) <= checks, name
        assert len(set(scenario.checks)) == len(scenario.checks)
        assert scenario.plan.steps
    assert {"baseline", "rolling"} <= set(scenario_names())


def test_each_check_has_a_line() -> None:
    for name, line in check_lines():
        assert line.strip(), name
        assert importlib.util.find_spec(f"swarmtest.checks.{name}") is not None


@pytest.mark.parametrize(
    ("name", "said"),
    [("roling", "did you mean rolling?"), ("base_line", "did you mean baseline?"), ("zzz", "there are: baseline")],
)
def test_an_unknown_scenario_is_answered_with_the_near_names(name: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        load_scenario(name)
    assert said in str(caught.value)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("name", ["__init__", "../rolling", "", "rolling.py"])
def test_a_name_that_is_no_scenario_loads_nothing(name: str) -> None:
    with pytest.raises(UsageError, match="no scenario"):
        load_scenario(name)


def test_all_has_every_scenario_but_those_that_are_named_as_left_out() -> None:
    left_out = {"chaos", "crash-loop", "drain", *STOP_MODES}
    assert set(expand("all")) == set(scenario_names()) - left_out
    assert len(expand("all")) == len(set(expand("all")))
    assert expand("all")[:2] == ["baseline", "rolling"], "the harmless first"


def test_each_group_has_a_line_and_names_scenarios_that_there_are() -> None:
    assert [name for name, _ in group_lines()] == list(GROUPS)
    for name, line in group_lines():
        assert line.strip()
        assert "\n" not in line
        assert set(GROUPS[name].scenarios) <= set(scenario_names())
        assert name not in scenario_names()


def test_a_list_is_taken_in_its_order_and_each_name_once() -> None:
    assert expand("kill, baseline,kill") == ["kill", "baseline"]
    assert expand("rolling,stop-modes") == ["rolling", *STOP_MODES]


@pytest.mark.parametrize("asked", ["rolling,", ",", "", "rolling,roling", "al"])
def test_a_list_with_a_name_that_is_none_is_refused(asked: str) -> None:
    with pytest.raises(UsageError, match="no scenario"):
        expand(asked)
