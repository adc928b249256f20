"""Variables in a text, as ``docker stack`` and as Compose replace them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmtest.stack.syntax.variables import Missing, replaced_by_compose, replaced_by_swarm

SET = {"S": "val", "E": ""}


@pytest.mark.parametrize(
    ("text", "swarm", "compose"),
    [
        ("$S", "val", "val"),
        ("${S}x", "valx", "valx"),
        ("${X:-a}", "a", "a"),
        ("${E:-a}", "a", "a"),
        ("${E-a}", "", ""),
        ("${X-a?b}", "a?b", "a?b"),
        ("$$S", "$S", "$S"),
        ("$$$S", "$val", "$val"),
        ("$X-a", "a", "-a"),
        ("$X:-a b", "a b", ":-a b"),
        ("${X:-${S}}", "${S}", "val"),
        ("${X:-${Y:-b}}", "${Y:-b}", "b"),
        ("${X:-{}}", "{}", "{}"),
    ],
)
def test_both_know_defaults_and_each_in_its_own_way(text: str, swarm: str, compose: str) -> None:
    assert replaced_by_swarm(text, SET).text == swarm
    assert replaced_by_compose(text, SET).text == compose


@pytest.mark.parametrize(
    ("text", "value"),
    [("${S:+a}", "a"), ("${E:+a}", ""), ("${E+a}", "a"), ("${X+a}", "")],
)
def test_only_compose_knows_what_stands_if_a_variable_is_set(text: str, value: str) -> None:
    assert replaced_by_compose(text, SET).text == value
    assert not replaced_by_compose(text, SET).invalid
    assert replaced_by_swarm(text, SET).invalid
    assert replaced_by_compose("${S:+${S}s}", SET).text == "vals"


@pytest.mark.parametrize("text", ["$", "a$", "$1", "$-", "$(date)"])
def test_a_dollar_sign_that_begins_no_variable_is_invalid_in_a_stack_and_left_by_compose(text: str) -> None:
    assert replaced_by_swarm(text, SET).invalid
    assert replaced_by_compose(text, SET).text == text
    assert not replaced_by_compose(text, SET).invalid


@pytest.mark.parametrize("text", ["${", "${S", "${}", "${ S }", "${S!}"])
def test_braces_that_hold_no_variable_are_invalid_for_both(text: str) -> None:
    assert replaced_by_swarm(text, SET).invalid
    assert replaced_by_compose(text, SET).invalid


@pytest.mark.parametrize("replaced", [replaced_by_swarm, replaced_by_compose])
def test_what_is_unset_and_what_is_required_is_in_the_result(replaced: object) -> None:
    assert callable(replaced)
    assert replaced("$X ${S} ${E}", SET).unset == ["X"]
    assert replaced("${X:?say it}", SET).missing == [Missing("X", "say it")]
    assert replaced("${E?}", SET).missing == []
    assert replaced("${E:?}", SET).missing == [Missing("E", "")]


def test_docker_stack_forgets_an_error_when_another_variable_follows() -> None:
    assert replaced_by_swarm("${X:?m} $S", SET).missing == [Missing("X", "m", lost=True)]
    assert not replaced_by_swarm("$ $S", SET).invalid
    assert replaced_by_swarm("$S $", SET).invalid


@given(st.text(alphabet="$Sx{}:-?+E \n", max_size=30))
def test_any_text_comes_to_an_end(text: str) -> None:
    for replaced in (replaced_by_swarm, replaced_by_compose):
        assert isinstance(replaced(text, SET).text, str)
