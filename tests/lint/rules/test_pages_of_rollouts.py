"""The examples on the pages are held to their rules: what's wrong is found, what's right isn't."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

from tests.lint.looking import look

MODULES = (
    "host_ports", "rollout", "rollout_modes", "capacity", "volumes", "rollback", "monitor", "restarts", "targets",
    "pools",
)  # fmt: skip
RULES = [rule.name for name in MODULES for rule in import_module(f"swarmtest.lint.rules.{name}").RULES]
PAGES = Path(__file__).parents[3] / "docs" / "lint"


def _examples(rule: str) -> list[str]:
    text = (PAGES / f"{rule}.md").read_text(encoding="utf-8")
    return [
        re.findall(r"```yaml\n(.*?)```", part, re.DOTALL)[0] for part in re.split(r"## (?:Wrong|Right)\n", text)[1:]
    ]


@pytest.mark.parametrize("rule", RULES)
def test_the_wrong_example_is_found_and_the_right_one_is_not(rule: str) -> None:
    head = (PAGES / f"{rule}.md").read_text(encoding="utf-8").partition("## Why")[0]
    target = "compose" if "for Compose only" in head else "swarm"
    wrong, right = _examples(rule)
    assert [found.rule for found in look(rule, wrong, target)][:1] == [rule]
    assert look(rule, right, target) == []


@pytest.mark.parametrize("rule", RULES)
def test_the_head_of_a_page_names_what_the_rule_finds(rule: str) -> None:
    head = (PAGES / f"{rule}.md").read_text(encoding="utf-8").partition("## Why")[0]
    target = "compose" if "for Compose only" in head else "swarm"
    found = look(rule, _examples(rule)[0], target)[0]
    assert found.severity in head
    assert found.certainty in head
