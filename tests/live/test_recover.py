"""swarmtest killed with SIGKILL in the middle of a hurt: `swarmtest recover` restores each, and says what it did."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from swarmtest.events import Event, read_events
from swarmtest.recovery.orphans import orphans_of
from swarmtest.store import RunFolder
from tests.live.conftest import ROOT, Live, docker, ours, swarmtest_command

pytestmark = pytest.mark.live


@dataclass
class Victim:
    """A run of swarmtest that was killed."""

    folder: RunFolder
    stack: str

    def recover(self, *flags: str) -> tuple[int, str]:
        return swarmtest("recover", str(self.folder.path), *flags)


def swarmtest(*words: str) -> tuple[int, str]:
    done = subprocess.run(swarmtest_command(*words), cwd=ROOT, capture_output=True, text=True, timeout=150, check=False)
    return done.returncode, done.stdout + done.stderr


@contextmanager
def killed_at(scenario: str, moment: Callable[[Event], bool], out: Path, name: str) -> Iterator[Victim]:
    """Runs a scenario and kills swarmtest, all of it but its children, at an event of its trace."""
    command = swarmtest_command(
        "run", "stacks/api.yml", "--scenario", scenario, "--name", name, "--out", str(out), "--baseline", "1s"
    )
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        folder = _await(out, moment, process)
        if scenario == "rolling":
            time.sleep(1.0)  # an instance is being replaced
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    try:
        yield Victim(folder, name)
    finally:
        if ours():
            subprocess.run(["docker", "stack", "rm", name], check=False, capture_output=True)


def _await(out: Path, moment: Callable[[Event], bool], process: subprocess.Popen[bytes]) -> RunFolder:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        assert process.poll() is None, f"swarmtest ended with {process.returncode} before it could be killed"
        for path in out.glob("*/events.jsonl"):
            if any(moment(event) for event in read_events(path)):
                return RunFolder(path.parent)
        time.sleep(0.1)
    raise AssertionError("the moment didn't come")


def done(name: str) -> Callable[[Event], bool]:
    """The moment when an act is done."""
    return lambda event: event.kind == "act" and event.get("name") == name and event.get("edge") == "ended"


def assert_nothing_left_and_judgeable(victim: Victim) -> None:
    assert ours() == [], "left on the engine"
    assert orphans_of(victim.folder.path) == [], "a child outlived its run"
    assert [(event.get("outcome"), event.get("error")) for event in _events(victim) if event.kind == "ended"] == [
        ("interrupted", "killed; healed by swarmtest recover")
    ]
    code, output = swarmtest("judge", str(victim.folder.path))
    assert code in (1, 3), output
    assert "Traceback" not in output
    assert victim.recover() == (0, f"{victim.folder.path}: interrupted; nothing to recover\n")


def _events(victim: Victim) -> list[Event]:
    return list(read_events(victim.folder.events))


def paused(stack: str) -> list[str]:
    filters = ("--filter", f"label=com.docker.stack.namespace={stack}", "--filter", "status=paused")
    return docker("ps", "--quiet", "--no-trunc", *filters).split()


def replicas(service: str) -> int:
    return int(docker("service", "inspect", service, "--format", "{{.Spec.Mode.Replicated.Replicas}}"))


def test_killed_while_an_instance_is_frozen(live: Live, tmp_path: Path) -> None:
    with killed_at("freeze", done("freeze"), tmp_path / "runs", f"live-{os.getpid()}-killed") as victim:
        (frozen,) = paused(victim.stack)
        code, said = victim.recover()
        assert code == 0, said
        assert f"(container {frozen[:12]})" in said
        assert "  unpaused api." in said
        assert f"  removed the stack {victim.stack}: 4 services, " in said
        assert_nothing_left_and_judgeable(victim)


def test_killed_while_a_service_is_scaled(live: Live, tmp_path: Path) -> None:
    with killed_at("scale-out", done("scale"), tmp_path / "runs", f"live-{os.getpid()}-killed") as victim:
        for orphan in orphans_of(victim.folder.path):  # as where memory ran out, or the power went
            os.kill(orphan.pid, signal.SIGKILL)
        assert replicas(f"{victim.stack}_api") == 5
        code, said = victim.recover("--keep")
        assert code == 0, said
        assert "  scaled api back from 5 to 3" in said
        assert replicas(f"{victim.stack}_api") == 3
        assert f"`swarmtest recover --stack {victim.stack}` removes it" in said
        code, said = swarmtest("recover", "--stack", victim.stack)
        assert code == 0, said
        assert said.startswith(f"removed the stack {victim.stack} of the run {victim.folder.path.name}: 4 services")
        assert_nothing_left_and_judgeable(victim)


def test_killed_while_an_update_runs(live: Live, tmp_path: Path) -> None:
    with killed_at("rolling", done("update"), tmp_path / "runs", f"live-{os.getpid()}-killed") as victim:
        assert swarmtest("recover", "--out", str(tmp_path / "elsewhere"))[1].count(f"recover {victim.folder.path}") == 1
        code, said = victim.recover()
        assert code == 0, said
        assert "  an update of api was under way" in said
        assert f"  removed the stack {victim.stack}: " in said
        assert_nothing_left_and_judgeable(victim)


@pytest.mark.repeats
def test_an_update_is_rolled_back_where_the_stack_is_kept(live: Live, tmp_path: Path) -> None:
    with killed_at("rolling", done("update"), tmp_path / "runs", f"live-{os.getpid()}-killed") as victim:
        code, said = victim.recover("--keep")
        assert code == 0, said
        assert "  rolled back the update of api, which was under way" in said
        status = docker("service", "inspect", f"{victim.stack}_api", "--format", "{{.UpdateStatus.State}}").strip()
        assert status == "rollback_completed"
        assert swarmtest("recover", "--stack", victim.stack)[0] == 0
        assert_nothing_left_and_judgeable(victim)


@pytest.mark.repeats
@pytest.mark.parametrize("name", ["deploy", "heal"])
def test_killed_while_it_deploys_or_heals(live: Live, tmp_path: Path, name: str) -> None:
    def begun(event: Event) -> bool:
        return event.kind == "act" and event.get("name") == name

    with killed_at("freeze", begun, tmp_path / "runs", f"live-{os.getpid()}-killed") as victim:
        code, said = victim.recover()
        assert code == 0, said
        assert_nothing_left_and_judgeable(victim)


def test_a_run_that_goes_on_is_not_touched(live: Live, tmp_path: Path) -> None:
    name, out = f"live-{os.getpid()}-alive", tmp_path / "runs"
    command = swarmtest_command("run", "stacks/api.yml", "--scenario", "baseline", "--name", name, "--out", str(out))
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        folder = _await(out, lambda event: event.kind == "act" and event.get("edge") == "ended", process)
        code, said = swarmtest("recover", str(folder.path))
        assert (code, "its run goes on, and isn't touched" in said) == (2, True), said
        code, said = swarmtest("recover", "--stack", name)
        assert (code, "goes on, or may" in said) == (2, True), said
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(90) == 130
    assert ours() == []
