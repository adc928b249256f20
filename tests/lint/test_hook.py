"""The hook of pre-commit: what it calls, and on which files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from swarmtest.cli import commands
from swarmtest.stack.syntax.yamlfile import read_yaml

ROOT = Path(__file__).resolve().parents[2]
(HOOK,) = read_yaml(ROOT / ".pre-commit-hooks.yaml", "the hooks").tree


def test_it_calls_a_verb_that_there_is() -> None:
    program, verb = HOOK["entry"].split()
    assert (program, HOOK["id"]) == ("swarmtest", f"swarmtest-{verb}")
    assert verb in commands.commands


@pytest.mark.parametrize(
    ("file", "taken"),
    [
        ("compose.yaml", True),
        ("docker-compose.prod.yml", True),
        ("deploy/docker-stack.yml", True),
        ("stack.yml", True),
        ("stacks/shop.yml", True),
        (".github/workflows/ci.yml", False),
        ("mkdocs.yml", False),
        ("stacks/api/settings.yml", False),
        ("compose.md", False),
    ],
)
def test_it_takes_files_that_are_named_like_stack_files(file: str, taken: bool) -> None:
    assert bool(re.search(HOOK["files"], file)) == taken
