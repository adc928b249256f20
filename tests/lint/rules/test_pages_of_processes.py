"""What the pages of these rules show as wrong is found, and what they show as right isn't."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from swarmtest.lint import pages
from swarmtest.lint.rules import (
    checklist_front_door,
    grace,
    grace_limits,
    health,
    health_passes,
    health_policy,
    health_tools,
    signals,
    signals_behind,
    stop_signal,
    workers,
)
from tests.lint.looking import look

HEALTH = (health, health_passes, health_policy, health_tools)
STOPS = (signals, signals_behind, stop_signal, grace, grace_limits, workers, checklist_front_door)
NAMES = [rule.name for family in (*HEALTH, *STOPS) for rule in family.RULES]


def examples(name: str) -> Iterator[str]:
    text = pages.page_text(name)
    for part in ("## Wrong", "## Right"):
        found = re.search(r"```yaml\n(.*?)```", text.partition(part)[2], re.DOTALL)
        assert found, part
        yield found[1]


@pytest.mark.parametrize("name", NAMES)
def test_the_wrong_example_is_found_and_the_right_one_is_not(name: str) -> None:
    wrong, right = examples(name)
    assert look(name, wrong), "the wrong example isn't found"
    assert look(name, right) == []


@pytest.mark.parametrize("name", NAMES)
def test_the_right_example_is_right_for_every_rule_of_these_families(name: str) -> None:
    _, right = examples(name)
    found = {each for each in NAMES if look(each, right)} - {"main-process-unknown", "health-timeout-beyond-interval"}
    assert found == set()


@pytest.mark.parametrize("name", NAMES)
def test_the_page_says_how_bad_and_how_sure_as_the_rule_does(name: str) -> None:
    head = pages.page_text(name).partition("##")[0]
    wrong, _ = examples(name)
    for found in look(name, wrong):
        assert str(found.severity) in head
        assert str(found.certainty) in head
