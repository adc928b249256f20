"""The corpus of good stacks: what typical teams write when they know what they do, and on which every rule is silent.

The head comment of a stack may say ``# Target: compose``, and ``# May be said: RULE, …`` for findings that are true and
do no harm. Errors and warnings aren't among those: on a good stack they're false alarms.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from swarmtest.lint import Certainty, Severity, Target
from swarmtest.lint.linting import lint

GOOD = sorted((Path(__file__).parent / "good").glob("*.yml"))


def _said(path: Path, word: str) -> str:
    found = re.search(rf"^# {word}: (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else ""


def _target(path: Path) -> Target:
    return Target(_said(path, "Target") or "swarm")


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_a_good_stack_yields_no_error_and_no_warning(path: Path) -> None:
    wrong = [
        f"{each.place.line}: {each.severity} {each.rule}: {each.effect}"
        for each in lint([path], _target(path), {}).findings
        if each.severity is not Severity.INFO and each.certainty is not Certainty.UNKNOWN
    ]
    assert wrong == []


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_what_else_is_said_of_a_good_stack_is_what_its_head_allows(path: Path) -> None:
    allowed = {each.strip() for each in _said(path, "May be said").split(",")} - {""}
    assert {each.rule for each in lint([path], _target(path), {}).findings} == allowed


def _has_stack_config() -> bool:
    if not shutil.which("docker"):
        return False
    asked = subprocess.run(["docker", "stack", "config", "--help"], capture_output=True, text=True, check=False)
    return asked.returncode == 0 and "--compose-file" in asked.stdout


@pytest.mark.skipif(not _has_stack_config(), reason="this docker CLI has no `docker stack config`")
@pytest.mark.parametrize("path", [each for each in GOOD if _target(each) is Target.SWARM], ids=lambda path: path.stem)
def test_docker_takes_a_good_stack(path: Path) -> None:
    taken = subprocess.run(["docker", "stack", "config", "-c", str(path)], capture_output=True, text=True, check=False)
    assert taken.returncode == 0, taken.stderr


def test_there_are_good_stacks_for_both_targets() -> None:
    assert len(GOOD) >= 12
    assert {_target(path) for path in GOOD} == {Target.SWARM, Target.COMPOSE}
