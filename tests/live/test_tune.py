"""`swarmtest tune` on a real engine: a proved value that moves as the app does, and cures that aren't the grace."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import msgspec
import pytest

from swarmtest.reports.tune import TUNE_FILE, Tune
from tests.live.conftest import ROOT, Live, ours, spoil, swarmtest_command

pytestmark = pytest.mark.live

TUNE_SECONDS = 20 * 60


def command(stack: Path | str, out: Path, *words: str) -> list[str]:
    return swarmtest_command("tune", str(stack), "--name", f"live-{os.getpid()}-tune", "--out", str(out), *words)


def tune_in(out: Path) -> Tune:
    (document,) = out.glob(f"*/{TUNE_FILE}")
    return msgspec.json.decode(document.read_bytes(), type=Tune)


def tuned(stack: Path | str, out: Path, *words: str) -> tuple[int, Tune, str]:
    done = subprocess.run(
        command(stack, out, *words), cwd=ROOT, capture_output=True, text=True, timeout=TUNE_SECONDS, check=False
    )
    assert [*out.glob(f"*/{TUNE_FILE}")], f"no tune.json; exit {done.returncode}:\n{done.stdout}\n{done.stderr}"
    return done.returncode, tune_in(out), done.stdout


def test_where_the_signal_is_ignored_the_grace_isnt_the_cure(live: Live, tmp_path: Path) -> None:
    """TryGhost/docker-library-ghost #37: one run tells, and no value is given."""
    code, tune, output = tuned("stacks/broken/ignores-term.yml", tmp_path)
    assert code == 1, output
    assert [run.purpose for run in tune.runs] == ["signal path"]
    assert "make the stop signal reach the app" in tune.cures[0]
    assert tune.recommendation is None
    assert {stop.grace_seconds for stop in tune.stops} == {float(tune.runs[0].grace_seconds)}
    assert ours() == []


@pytest.mark.repeats
@pytest.mark.parametrize(
    ("stack", "cure"),
    [
        ("exits-at-once", "the drain is missing"),
        ("keep-alive-not-wound-down", "Connection: close"),
        ("server-sent-events-hold-the-shutdown", "tell open streams"),
        ("websockets-cut-without-a-close-frame", "close frame"),
        ("destroys-sockets", "the sockets were destroyed"),
        ("no-goaway", "send GOAWAY"),
    ],
)
def test_a_broken_stack_is_told_its_own_cure(live: Live, tmp_path: Path, stack: str, cure: str) -> None:
    code, tune, output = tuned(f"stacks/broken/{stack}.yml", tmp_path)
    assert code == 1, output
    assert any(cure in line for line in tune.cures), tune.cures
    assert tune.recommendation is None


@pytest.mark.repeats
def test_a_shell_that_swallows_the_signal_is_named(live: Live, stack: Path, tmp_path: Path) -> None:
    spoil(
        stack,
        "  api:\n    <<: *image\n",
        '  api:\n    <<: *image\n    command: ["sh", "-c", "python -m sample; true"]\n',
    )
    code, tune, output = tuned(stack, tmp_path / "runs")
    assert code == 1, output
    assert "make the stop signal reach the app" in tune.cures[0]


@pytest.mark.repeats
def test_the_reference_gets_a_value_a_proof_and_an_edge_and_the_file_just_these_lines(
    live: Live, stack: Path, tmp_path: Path
) -> None:
    before = stack.read_text()
    code, tune, output = tuned(stack, tmp_path / "runs", "--edge", "--write")
    assert code == 0, output
    found = tune.recommendation
    assert found is not None
    assert 11 <= found.grace_seconds <= 13
    assert (found.bound.coverage, found.bound.confidence) == (0.9, 0.9)
    assert found.bound.reached >= 0.9
    assert found.bound.stops >= 22
    assert all(stop.grace_seconds == tune.runs[stop.run - 1].grace_seconds for stop in tune.stops)
    assert tune.edge is not None
    assert tune.edge.killed_seconds is not None
    assert tune.edge.safe_seconds == tune.edge.killed_seconds + 1
    after = stack.read_text()
    changed = [pair for pair in zip(before.splitlines(), after.splitlines(), strict=True) if pair[0] != pair[1]]
    keys = [new.split(":")[0].strip() for _, new in changed]
    assert keys[0] == "stop_grace_period"
    assert set(keys) <= {"stop_grace_period", "delay", "monitor"}
    assert ours() == []


@pytest.mark.repeats
def test_five_seconds_more_of_drain_are_five_seconds_more_of_grace(live: Live, stack: Path, tmp_path: Path) -> None:
    """Nothing else is changed in the file, and the planned longest request stays as it is."""
    _, plain, _ = tuned(stack, tmp_path / "plain")
    spoil(stack, '      WARM_UP_SECONDS: "1"\n', '      WARM_UP_SECONDS: "1"\n      DRAIN_EXTRA_SECONDS: "5"\n')
    _, slower, output = tuned(stack, tmp_path / "slower")
    assert plain.recommendation is not None
    assert slower.recommendation is not None, output
    assert 4 <= slower.recommendation.grace_seconds - plain.recommendation.grace_seconds <= 6


@pytest.mark.repeats
def test_ctrl_c_in_a_tune_heals_and_says_how_far_it_came(live: Live, tmp_path: Path) -> None:
    process = subprocess.Popen(
        command("stacks/api.yml", tmp_path), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 300
    while len([*tmp_path.glob("*/*/events.jsonl")]) < 2 and time.monotonic() < deadline:
        time.sleep(0.2)
    time.sleep(12)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=150)
    assert process.returncode == 130, err
    tune = tune_in(tmp_path)
    assert [run.ended for run in tune.runs] == ["finished", "interrupted"]
    assert (tune.ended, tune.exit_code, tune.recommendation) == ("interrupted", 130, None)
    assert "interrupted" in out
    assert ours() == []
