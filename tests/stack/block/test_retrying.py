"""Retries in the stack file: off unless asked for, and never without a budget."""

from __future__ import annotations

from pathlib import Path

import pytest

from swarmtest.errors import StackError
from swarmtest.stack.block.brief import read_brief
from swarmtest.stack.block.retrying import DEFAULT_ON, Retrying
from swarmtest.stack.services import read_stack


def retries(tmp_path: Path, keys: str) -> Retrying | None:
    file = tmp_path / "stack.yml"
    services = 'version: "3.8"\nservices:\n  api: {image: api, ports: ["80:80"]}\n'
    file.write_text(f"x-swarmtest:\n  traffic:\n    kinds:\n      a: {{{keys}}}\n{services}")
    return read_brief(read_stack(file, {})).kinds[0].retries


def test_nothing_is_sent_again_unless_the_file_says_so(tmp_path: Path) -> None:
    assert retries(tmp_path, "rate: 1/s") is None


def test_a_budget_is_all_that_has_to_be_said(tmp_path: Path) -> None:
    assert retries(tmp_path, "retries: {budget: 10%}") == Retrying(0.1, 3, 0.1, DEFAULT_ON, None)


def test_all_of_it_can_be_said(tmp_path: Path) -> None:
    keys = "retries: {budget: 0.5, attempts: 5, backoff: 1s, on: [refused, 503], idempotency_key: X-Once}"
    assert retries(tmp_path, keys) == Retrying(0.5, 5, 1.0, ("refused", "503"), "X-Once")


@pytest.mark.parametrize(("value", "header"), [("true", "Idempotency-Key"), ("false", None), ("X-Once", "X-Once")])
def test_the_key_s_header_has_a_usual_name(tmp_path: Path, value: str, header: str | None) -> None:
    found = retries(tmp_path, f"retries: {{budget: 10%, idempotency_key: {value}}}")
    assert found is not None
    assert found.key_header == header


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ("retries: {attempts: 3}", "retries need a budget"),
        ("retries: {budget: 0}", "above zero"),
        ("retries: {budget: 200%}", 'up to "100%"'),
        ("retries: {budget: some}", "a share of the requests"),
        ("retries: {budget: 10%, attempts: 1}", "a whole number of 2 or more"),
        ("retries: {budget: 10%, attempts: 11}", "up to 10 tries"),
        ("retries: {budget: 10%, on: [200]}", "found '200'"),
        ("retries: {budget: 10%, on: [lost]}", "found 'lost'"),
        ("retries: {budget: 10%, idempotency_key: a b}", "name of a header"),
        ("retries: {budget: 10%, budgte: 1}", "did you mean budget"),
        ("retries: true", "expected a mapping"),
        ("protocol: websocket, retries: {budget: 10%}", "says nothing to a kind with the protocol websocket"),
    ],
)
def test_what_cannot_be_is_refused_at_its_key(tmp_path: Path, keys: str, problem: str) -> None:
    with pytest.raises(StackError, match=problem):
        retries(tmp_path, keys)
