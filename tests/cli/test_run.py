"""How one run ends, where that isn't by its verdict."""

from __future__ import annotations

from pathlib import Path

import pytest

from swarmtest import runner
from swarmtest.cli import run
from swarmtest.errors import EngineError, Interrupted, SwarmtestError
from swarmtest.interrupts import Interrupts
from swarmtest.plan import Plan
from swarmtest.running.order import Order
from swarmtest.stack.block.brief import read_brief
from swarmtest.stack.services import read_stack
from swarmtest.store import RunFolder
from tests.judge.builder import Rollout
from tests.judge.test_judge import folder_of


@pytest.mark.parametrize(
    ("broke", "caught", "last"),
    [
        (None, None, "passed · exit code 0 ·"),
        (None, "SIGINT", "passed · interrupted · exit code 130 ·"),
        (EngineError("gone"), None, "passed · broke off · exit code 4 ·"),
    ],
)
def test_the_report_ends_with_the_code_that_the_command_ends_with(
    broke: SwarmtestError | None,
    caught: str | None,
    last: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (file := tmp_path / "stack.yml").write_text("services: {web: {image: demo, ports: ['8080:80']}}\n")
    stack, folder = read_stack(file), RunFolder(folder_of(Rollout(), tmp_path / "run"))
    order, interrupts = Order(stack, read_brief(stack), "rolling", Plan(()), (), tmp_path, "ours", "abc"), Interrupts()
    interrupts.caught = caught
    monkeypatch.setattr(runner, "run", lambda *_things: (folder, broke))
    try:
        code = run._run_once(order, interrupts)
    except (SwarmtestError, Interrupted) as error:
        code = error.exit_code
    assert f"exit code {code} ·" in last
    assert capsys.readouterr().out.splitlines()[-1].startswith(last)
