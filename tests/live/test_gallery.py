"""Each stack of the gallery fails as its header says, with the classes that it names, and with no others."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.live.conftest import ROOT, Live, LiveRun
from tests.live.truth import assert_every_class_is_right

pytestmark = pytest.mark.live

GALLERY = sorted(path.name for path in (ROOT / "stacks" / "broken").glob("*.yml"))
REPEATS = 5


@dataclass(frozen=True)
class Header:
    """What a stack's header promises."""

    must_fail: frozenset[str]
    loss_classes: frozenset[str]
    exit_code: int


def read_header(path: Path) -> Header:
    found = dict(re.findall(r"^# (must fail|loss classes|exit code): *(.*)$", path.read_text(), re.MULTILINE))
    words = {key: frozenset(re.findall(r"[a-z_]+", value)) - {"none"} for key, value in found.items()}
    return Header(words["must fail"], words["loss classes"], int(found["exit code"]))


def assert_as_promised(run: LiveRun, header: Header) -> None:
    assert run.failed() == header.must_fail, run.explain()
    assert run.loss_classes() == header.loss_classes, run.explain()
    assert run.exit_code == header.exit_code, run.explain()


@pytest.mark.parametrize("name", GALLERY)
def test_a_broken_stack_fails_as_its_header_says(live: Live, name: str) -> None:
    path = ROOT / "stacks" / "broken" / name
    run = live.once(f"stacks/broken/{name}")
    assert_as_promised(run, read_header(path))
    assert_every_class_is_right(run)


@pytest.mark.repeats
@pytest.mark.parametrize("name", GALLERY)
def test_five_runs_of_a_broken_stack_agree(live: Live, name: str) -> None:
    header = read_header(ROOT / "stacks" / "broken" / name)
    for _ in range(REPEATS):
        run = live.again(f"stacks/broken/{name}")
        assert_as_promised(run, header)
        assert_every_class_is_right(run)
