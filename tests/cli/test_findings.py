"""What a run says of its stack file before it deploys."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from swarmtest.cli import commands
from swarmtest.cli.findings import MOST_BEFOREHAND, told_beforehand
from swarmtest.lint import linting
from tests.lint import stand_ins


@pytest.fixture(autouse=True)
def _rules(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(linting, "all_rules", lambda: stand_ins.RULES)
    monkeypatch.chdir(tmp_path)


def write(services: int, tail: str = "") -> Path:
    file = Path("stack.yml")
    body = "{image: 'a:latest', stop_grace_period: 2s, ports: ['80']}"
    file.write_text("services:\n" + "".join(f"  s{n}: {body}\n" for n in range(services)) + tail)
    return file


def test_errors_come_first_and_the_rest_is_counted() -> None:
    lines = told_beforehand(write(3))
    assert [line.split(": ")[2] for line in lines[:-1]] == ["error", "error", "error", "warning"]
    assert lines[0] == (
        "lint: stack.yml:2: error: services.s0.deploy.replicas:"
        " s0 has 1 replica, and nobody serves for the 5 s in which it's replaced [one-replica]"
    )
    assert lines[-1] == "lint: 2 more; swarmtest lint stack.yml says what to do about it"
    assert len(lines) == MOST_BEFOREHAND + 1


def test_of_a_few_none_is_left_out() -> None:
    lines = told_beforehand(write(1))
    assert len(lines) == 3
    assert lines[-1] == "lint: swarmtest lint stack.yml says what to do about it"


@pytest.mark.parametrize(
    "text", ["services: {a: {image: 'a:latest', deploy: {replicas: 2}}}\n", "services: [\n", "- 1\n"]
)
def test_an_info_is_not_told_and_a_file_that_cannot_be_read_is_the_runs_business(text: str) -> None:
    Path("stack.yml").write_text(text)
    assert told_beforehand(Path("stack.yml")) == ()


def test_what_a_comment_allows_is_not_told() -> None:
    file = write(1)
    head = "# swarmtest: allow one-replica, short-grace: a test\n"
    file.write_text(head + file.read_text())
    assert told_beforehand(file) == ()


def test_a_rule_that_breaks_is_of_no_weight() -> None:
    Path("stack.yml").write_text("services: {breaks: {image: a}}\n")
    assert told_beforehand(Path("stack.yml"))[0].endswith("[one-replica]")


def test_a_dry_run_shows_them_between_the_plan_and_the_traffic() -> None:
    ended = CliRunner().invoke(commands, ["run", str(write(1)), "--dry-run", "--url", "http://localhost"])
    assert ended.exit_code == 0, ended.output
    plan, found, traffic = ended.output.split("\n\n")
    assert plan.startswith("plan of rolling")
    assert [line.partition(":")[0] for line in found.splitlines()] == ["lint"] * 3
    assert traffic.startswith("traffic to http://localhost:")


def test_the_shell_gives_the_values(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("stack.yml").write_text("services: {a: {image: a, deploy: {replicas: $REPLICAS}}}\n")
    monkeypatch.setitem(os.environ, "REPLICAS", "2")
    assert told_beforehand(Path("stack.yml")) == ()
    monkeypatch.setitem(os.environ, "REPLICAS", "1")
    assert len(told_beforehand(Path("stack.yml"))) == 2
