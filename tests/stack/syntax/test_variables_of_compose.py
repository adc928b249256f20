from __future__ import annotations

import pytest

from swarmtest.stack.syntax.variables import replaced_by_compose, replaced_by_swarm


@pytest.mark.parametrize("text", ["echo $(date)", "price in $", "$1 and $-", "a$ b"])
def test_a_dollar_sign_that_begins_nothing_stays_in_compose_and_is_refused_in_a_stack(text: str) -> None:
    """docker/compose ``pkg/e2e/fixtures/build-test/escaped/compose.yaml``: a script within a file for Compose."""
    compose = replaced_by_compose(text, {})
    assert (compose.text, compose.invalid) == (text, False)
    assert replaced_by_swarm(text, {}).invalid


@pytest.mark.parametrize("text", ["${", "${1}", "${A", "${A!}"])
def test_braces_that_name_no_variable_are_refused_by_both(text: str) -> None:
    assert replaced_by_compose(text, {}).invalid
    assert replaced_by_swarm(text, {}).invalid


@pytest.mark.parametrize(
    ("text", "left"), [("admin:$2y$05$hash", "admin:2y05"), ("${1}${A:-x}", "{1}x"), ("$1$A", "1")]
)
def test_in_a_stack_a_dollar_sign_that_begins_nothing_is_lost_where_a_variable_follows(text: str, left: str) -> None:
    """As ``docker stack config`` has it: the error is forgotten, and the sign is gone."""
    replaced = replaced_by_swarm(text, {})
    assert (replaced.text, replaced.invalid) == (left, False)
