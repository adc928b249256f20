"""A series on a real engine, interrupted in its second run; and a plan that's printed is the one that's carried out."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from swarmtest.reports.series import Series, read_series
from tests.live.conftest import ROOT, Live, ours, swarmtest_command

pytestmark = pytest.mark.live

ALL_SECONDS = 25 * 60
"""How long every scenario together may take."""


def series_in(out: Path) -> Path:
    (folder,) = out.iterdir()
    return folder


def test_ctrl_c_in_the_second_run_heals_it_judges_it_and_says_what_was_not_run(live: Live, tmp_path: Path) -> None:
    words = ("--scenario", "baseline,rolling,kill", "--baseline", "1s", "--name", f"live-{os.getpid()}-series")
    command = swarmtest_command("run", "stacks/api.yml", *words, "--out", str(tmp_path / "runs"))
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 180
    while not [*(tmp_path / "runs").glob("*/*-rolling-*/events.jsonl")] and time.monotonic() < deadline:
        time.sleep(0.2)
    time.sleep(12)  # into the rollout
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=150)
    assert process.returncode == 130, err
    folder = series_in(tmp_path / "runs")
    series = read_series(folder)
    assert [(member.scenario, member.ended) for member in series.members] == [
        ("baseline", "finished"),
        ("rolling", "interrupted"),
        ("kill", None),
    ]
    assert series.exit_code == 130
    assert series.members[1].losses["sent"] > 0
    assert "not run, since the series was interrupted: kill" in out
    assert ours() == []
    before = (folder / "series.json").read_bytes()
    again = subprocess.run(swarmtest_command("judge", str(folder)), cwd=ROOT, capture_output=True, check=False)
    assert again.returncode == 130
    assert (folder / "series.json").read_bytes() == before


@pytest.mark.repeats
def test_the_plan_that_is_printed_is_the_one_that_is_carried_out(live: Live) -> None:
    words = ("--scenario", "chaos", "--seed", "7", "--minutes", "1", "--baseline", "2s")
    command = swarmtest_command("run", "stacks/api.yml", *words, "--dry-run")
    first, second = (
        subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout for _ in range(2)
    )
    assert first == second
    run = live.once("stacks/api.yml", *words)
    assert first in run.output, "it's printed before anything happens"
    steps = run.folder.read_plan()["steps"]
    printed = [line.split(maxsplit=1)[1] for line in first.splitlines()[1:]]
    for step, line in zip(steps, printed, strict=True):
        assert line.startswith(step["phase"])
        assert not step.get("fault") or step["fault"] in line
    begun = [json.loads(line) for line in run.folder.events.read_text().splitlines()]
    phases = [event["name"] for event in begun if event["kind"] == "phase" and event["edge"] == "began"]
    planned = [step["phase"] for step in steps]
    assert [name for name in phases if name in planned] == planned
    acts = [event["name"] for event in begun if event["kind"] == "act" and event["edge"] in ("began", "skipped")]
    faults = [step["fault"] for step in steps if step.get("fault")]
    assert [name for name in acts if name in faults] == faults


@pytest.mark.repeats
def test_every_scenario_of_the_good_stack_passes_and_each_line_of_the_checklist_too(live: Live, tmp_path: Path) -> None:
    command = swarmtest_command("run", "stacks/api.yml", "--scenario", "all", "--out", str(tmp_path / "runs"))
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=ALL_SECONDS, check=False)
    series = read_series(series_in(tmp_path / "runs"))
    assert done.returncode == 0, done.stdout
    assert series.not_run == []
    assert {member.scenario: member.outcome for member in series.members if member.outcome != "passed"} == {}
    assert unproved(series) == set(), done.stdout


def unproved(series: Series) -> set[int]:
    assert not [line for line in series.checklist if line.outcome == "failed"]
    return {line.number for line in series.checklist if line.outcome == "not_proved"}
