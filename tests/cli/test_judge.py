"""What `swarmtest judge` leaves in a folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from swarmtest.cli.judge import judge, judge_and_report
from swarmtest.errors import RunFolderError
from swarmtest.judge.seconds import read_seconds
from tests.judge.builder import Rollout
from tests.judge.test_judge import folder_of

MADE = {"verdicts.json", "seconds.json", "junit.xml", "report.md", "report.html"}


def test_a_folder_gets_its_document_its_seconds_and_its_reports(tmp_path: Path) -> None:
    folder = folder_of(Rollout(), tmp_path / "run")
    before = {path.name for path in folder.iterdir()}
    assert judge_and_report(folder) == 0
    assert {path.name for path in folder.iterdir()} - before == MADE
    assert sum(read_seconds(folder).all.sent) > 0
    assert "0 lost of" in (folder / "report.html").read_text()


def test_judged_again_a_folder_has_the_same_bytes(tmp_path: Path) -> None:
    folder = folder_of(Rollout(), tmp_path / "run")
    judge_and_report(folder)
    first = {name: (folder / name).read_bytes() for name in MADE}
    judge_and_report(folder)
    assert {name: (folder / name).read_bytes() for name in MADE} == first


def test_a_run_that_sent_nothing_has_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = folder_of(Rollout(), tmp_path / "run")
    (folder / "requests" / "requests-1.jsonl").unlink()
    assert judge_and_report(folder) == 3
    assert "nothing is proved" in (folder / "report.html").read_text()


def test_a_plan_that_no_version_wrote_is_refused_in_one_line(tmp_path: Path) -> None:
    folder = folder_of(Rollout(), tmp_path / "run")
    plan = json.loads((folder / "plan.json").read_text())
    plan["stack"]["rollback"] = {"order": "stop-first", "delay_seconds": [[]]}
    (folder / "plan.json").write_text(json.dumps(plan))
    result = CliRunner().invoke(judge, [str(folder)], standalone_mode=False)
    assert isinstance(result.exception, RunFolderError)
    assert "was it edited" in str(result.exception)
    assert "\n" not in str(result.exception)
