"""Limits of the stack file on a real rollout: verdicts beside the checks, and one that stops the run."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from swarmtest.events import read_events
from tests.live.conftest import ROOT, Live, spoil
from tests.live.truth import assert_every_class_is_right

pytestmark = pytest.mark.live


def outcomes(live_run: object) -> dict[str, str]:
    document = live_run.document  # type: ignore[attr-defined]
    return {check.name.removeprefix("limit "): check.outcome for check in document.checks if check.limit is not None}


@pytest.mark.repeats
def test_each_limit_of_a_rollout_has_a_verdict_of_its_own(live: Live, stack: Path) -> None:
    spoil(
        stack, "  baseline: 7s\n", "  limits: [lost = 0, success per second >= 99%, max of long < 1s]\n  baseline: 7s\n"
    )
    run = live.once(str(stack), "--limit", "p99.99 < 30s", "--limit", "refused <= 2 per rollout")
    assert outcomes(run) == {
        "lost = 0": "passed",
        "success per second >= 99%": "passed",
        "max of long < 1s": "failed",
        "p99.99 < 30s": "not_proved",
        "refused <= 2 per rollout": "passed",
    }, run.explain()
    assert run.exit_code == 1


def test_a_limit_that_is_broken_stops_the_rollout_while_it_runs(live: Live, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "stacks" / "edge", tmp_path / "edge")
    (tmp_path / "broken").mkdir()
    stack = Path(shutil.copy(ROOT / "stacks" / "broken" / "exits-at-once.yml", tmp_path / "broken" / "exits.yml"))
    spoil(stack, "  baseline: 4s\n", "  limits: [{limit: lost <= 5, abort: true}]\n  baseline: 4s\n")
    run = live.once(str(stack))
    events = list(read_events(run.folder.events))
    (guard,) = [event for event in events if event.kind == "guard"]
    assert guard.get("name") == "limit"
    assert str(guard.get("text")).startswith("the limit lost <= 5 was broken: ")
    acts = [(event.get("name"), event.get("edge"), event.get("outcome")) for event in events if event.kind == "act"]
    assert acts[-2:] == [("rollback", "began", None), ("rollback", "ended", "ok")], run.explain()
    assert outcomes(run) == {"lost <= 5": "failed"}, run.explain()
    assert any("the limit lost <= 5 was broken" in note for note in run.document.notes), run.explain()
    assert run.exit_code == 1
    assert_every_class_is_right(run)
