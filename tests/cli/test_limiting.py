"""Which limits are for which run, and those that are for none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from swarmtest.catalogue import load_scenario
from swarmtest.cli import commands
from swarmtest.cli.limiting import limits_for, not_asked, phases_of, refuse_useless
from swarmtest.errors import UsageError
from swarmtest.limits.grammar import parse_limit
from swarmtest.stack.block.limits import AskedLimit

STACK = """\
services: {web: {image: demo, ports: ['8080:80'], deploy: {replicas: 3}}}
x-swarmtest:
  limits:
    - p99 < 800ms
    - {limit: lost in rollout = 0, abort: true, scenarios: orderly}
"""


def asked(*texts: str) -> list[AskedLimit]:
    return [AskedLimit(parse_limit(text)) for text in texts]


def texts_for(scenario: str, *texts: str) -> list[str]:
    loaded = load_scenario(scenario)
    return [limit.text for limit in limits_for(asked(*texts), scenario, loaded, loaded.plan)]


def test_a_phase_is_one_that_the_plan_has() -> None:
    assert phases_of(load_scenario("baseline").plan) == ["warmup", "settle", "baseline", "hold"]
    assert phases_of(load_scenario("rolling").plan) == ["warmup", "settle", "rollout", "baseline"]


def test_a_limit_is_for_the_runs_that_have_its_phase() -> None:
    texts = ("p99 < 1s", "lost in rollout = 0", "lost in kill = 0", "lost in baseline = 0")
    assert texts_for("baseline", *texts) == ["p99 < 1s", "lost in baseline = 0"]
    assert texts_for("rolling", *texts) == ["p99 < 1s", "lost in rollout = 0", "lost in baseline = 0"]
    assert texts_for("kill", *texts) == ["p99 < 1s", "lost in rollout = 0", "lost in kill = 0", "lost in baseline = 0"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lost in rollot = 0", "no scenario has a phase 'rollot'; did you mean rollout?"),
        ("lost in kill = 0", "rolling has no phase 'kill'; there are: warmup, settle, rollout, baseline"),
    ],
)
def test_a_phase_that_there_is_not_is_refused_with_those_that_there_are(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        refuse_useless(asked(text), ["rolling"])
    assert message in str(caught.value)


def test_a_dry_run_shows_what_the_run_is_held_to(tmp_path: Path) -> None:
    file = tmp_path / "stack.yml"
    file.write_text(STACK)
    words = ["run", str(file), "--dry-run", "--limit", "refused <= 2 per rollout", "--scenario"]
    ended = CliRunner().invoke(commands, [*words, "rolling"])
    assert ended.exit_code == 0, ended.output
    shown = "  held to\n    p99 < 800ms\n    lost in rollout = 0 (stops the run)\n    refused <= 2 per rollout\n"
    assert shown in ended.output
    ended = CliRunner().invoke(commands, [*words, "kill"])
    assert "lost in rollout" not in ended.output
    ended = CliRunner().invoke(commands, [*words, "baseline,rolling"])
    assert "  · refused <= 2 per rollout: isn't asked of baseline, which has no phase rollout\n" in ended.output


def test_a_scenario_of_a_limit_has_to_be_one(tmp_path: Path) -> None:
    file = tmp_path / "stack.yml"
    file.write_text(STACK.replace("orderly", "rollin"))
    ended = CliRunner().invoke(commands, ["run", str(file), "--dry-run"])
    assert isinstance(ended.exception, UsageError)
    assert "no scenario is called 'rollin'; did you mean rolling?" in str(ended.exception)
    assert "stack.yml:5:" in str(ended.exception)


def test_what_a_run_is_not_held_to_is_said() -> None:
    kill, baseline = load_scenario("kill"), load_scenario("baseline")
    losing = AskedLimit(replace(parse_limit("lost = 0"), abort=True))
    slow = AskedLimit(replace(parse_limit("p99 < 1s"), abort=True))
    (words,) = not_asked([losing, slow], "kill", kill, kill.plan)
    assert words.startswith("lost = 0: doesn't stop kill while it runs; ")
    assert not_asked([losing, slow], "baseline", baseline, baseline.plan) == ()
    (words,) = not_asked(asked("lost in kill = 0"), "baseline", baseline, baseline.plan)
    assert words == "lost in kill = 0: isn't asked of baseline, which has no phase kill"
