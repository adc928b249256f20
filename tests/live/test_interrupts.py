"""Stopped at any moment, swarmtest removes what's its own, leaves a folder that can be judged, and exits 130."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import time
from pathlib import Path

import pytest

from swarmtest.events import read_events
from tests.live.conftest import ROOT, Live, docker, ours, swarmtest_command

pytestmark = pytest.mark.live

MOMENTS = (0.4, 1.0, 2.0, 3.5, 6.0, 10.0, 15.0, 20.0, 26.0, 33.0)
"""Seconds from the start: imports, deploy, getting healthy, warm-up, baseline, rollout, settling, removal."""
QUICK = (2.0, 15.0)
WAYS = ("SIGINT", "SIGTERM", "Ctrl-C")


def stop_at(seconds: float, way: str, out: Path, name: str) -> int:
    """Runs swarmtest and stops it at a moment; gives its exit code."""
    command = swarmtest_command("run", "stacks/api.yml", "--name", name, "--out", str(out), "--baseline", "4s")
    if way == "Ctrl-C":
        return _in_terminal(command, seconds)
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(seconds)
    process.send_signal(signal.Signals[way])
    return process.wait(timeout=150)


def _in_terminal(command: list[str], seconds: float) -> int:
    """In a pseudo-terminal, as a person would: the terminal sends SIGINT to the whole foreground group."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.execv(command[0], command)
    time.sleep(seconds)
    os.write(terminal, b"\x03")
    deadline = time.monotonic() + 150
    while time.monotonic() < deadline:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            os.close(terminal)
            return os.waitstatus_to_exitcode(status)
        _drain(terminal)
    os.kill(pid, signal.SIGKILL)
    raise AssertionError("swarmtest didn't end after Ctrl-C")


def _drain(terminal: int) -> None:
    try:
        os.read(terminal, 65536)
    except OSError:
        time.sleep(0.1)


def assert_healed_and_judgeable(code: int, out: Path) -> None:
    assert code == 130
    assert ours() == [], "left on the engine"
    for folder in sorted(out.iterdir()) if out.is_dir() else []:
        if not (folder / "plan.json").exists():
            continue
        assert [event.get("outcome") for event in read_events(folder / "events.jsonl") if event.kind == "ended"] == [
            "interrupted"
        ]
        judged = subprocess.run(swarmtest_command("judge", str(folder)), capture_output=True, text=True, check=False)
        assert judged.returncode in (1, 3), judged.stderr
        assert "Traceback" not in judged.stderr


@pytest.mark.parametrize(("seconds", "way"), list(zip(QUICK, ("Ctrl-C", "SIGTERM"), strict=True)))
def test_a_run_that_is_stopped_is_healed_and_judgeable(live: Live, tmp_path: Path, seconds: float, way: str) -> None:
    code = stop_at(seconds, way, tmp_path / "runs", f"live-{os.getpid()}-stopped")
    assert_healed_and_judgeable(code, tmp_path / "runs")


@pytest.mark.repeats
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seconds", MOMENTS)
def test_a_run_can_be_stopped_at_any_moment(live: Live, tmp_path: Path, seconds: float, way: str) -> None:
    code = stop_at(seconds, way, tmp_path / "runs", f"live-{os.getpid()}-stopped")
    assert_healed_and_judgeable(code, tmp_path / "runs")


def test_a_run_that_is_stopped_while_an_instance_is_frozen_lets_it_go_on(live: Live, tmp_path: Path) -> None:
    out, name = tmp_path / "runs", f"live-{os.getpid()}-frozen"
    command = swarmtest_command("run", "stacks/api.yml", "--scenario", "freeze", "--name", name, "--out", str(out))
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 90
    while not (frozen := docker("ps", "--quiet", "--filter", "status=paused", "--filter", f"name={name}_").split()):
        assert process.poll() is None, f"it ended with {process.returncode} before anything was frozen"
        assert time.monotonic() < deadline, "nothing was frozen"
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    assert_healed_and_judgeable(process.wait(timeout=150), out)
    (folder,) = out.iterdir()
    acts = [event for event in read_events(folder / "events.jsonl") if event.kind == "act"]
    healed = [act for act in acts if act.get("name") == "heal" and act.get("outcome") == "ok"]
    assert [act.get("instances")[0]["container"][:12] for act in healed] == frozen
