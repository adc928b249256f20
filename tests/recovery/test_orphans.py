"""Processes of a run are known by what only they were given, and no other is ended."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from swarmtest.recovery.orphans import DEPLOYING, TRAFFIC, Orphan, await_end, end, is_open, orphans_of
from swarmtest.traffic.settings import ENVIRONMENT_VARIABLE

Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "runs" / "one"
    made.mkdir(parents=True)
    return made


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a process that sleeps, with an environment and with words after its name."""
    started: list[subprocess.Popen[bytes]] = []

    def begin(*words: str, program: str = sys.executable, cwd: Path | None = None, **environment: str) -> object:
        command = [program, "-c", "print(flush=True); import time; time.sleep(60)", *words]
        child = subprocess.Popen(
            command, executable=sys.executable, env=os.environ | environment, cwd=cwd, stdout=subprocess.PIPE
        )
        started.append(child)
        assert child.stdout is not None
        child.stdout.readline()
        return child

    yield begin  # type: ignore[misc]
    for child in started:
        child.kill()
        child.wait()
        assert child.stdout is not None
        child.stdout.close()


def test_a_traffic_child_is_known_by_its_settings_and_ended(folder: Path, start: Start) -> None:
    child = start(**{ENVIRONMENT_VARIABLE: str(folder / "traffic-burst-1.json")})
    start(**{ENVIRONMENT_VARIABLE: str(folder.parent / "another" / "traffic.json")})
    assert orphans_of(folder) == [Orphan(child.pid, TRAFFIC)]
    now = iter(range(100))
    assert await_end(folder, 2.0, sleep=lambda _s: None, clock=lambda: float(next(now))) == [Orphan(child.pid, TRAFFIC)]
    end(Orphan(child.pid, TRAFFIC), folder)
    assert child.wait(10) == -9
    assert orphans_of(folder) == []


@pytest.mark.parametrize("relative", [False, True])
def test_the_docker_cli_that_deploys_for_a_run_is_known_by_its_override(
    folder: Path, start: Start, relative: bool
) -> None:
    path = "one/override.json" if relative else str(folder / "override.json")
    child = start("stack", "deploy", "--compose-file", path, "x", program="/usr/bin/docker", cwd=folder.parent)
    assert orphans_of(folder) == [Orphan(child.pid, DEPLOYING)]


def test_who_only_looks_into_the_folder_is_no_orphan(folder: Path, start: Start) -> None:
    start(str(folder / "override.json"), "deploy", cwd=folder)
    start(str(folder / "events.jsonl"), program="/usr/bin/tail", cwd=folder)
    start(OTHER=str(folder / "traffic.json"))
    assert orphans_of(folder) == []


def test_a_number_that_is_another_process_by_now_is_not_ended(folder: Path, start: Start) -> None:
    child = start()
    end(Orphan(child.pid, TRAFFIC), folder)
    assert child.poll() is None
    end(Orphan(2**22 - 7, TRAFFIC), folder)


def test_a_system_that_shows_no_processes_has_none(folder: Path, tmp_path: Path) -> None:
    assert orphans_of(folder, tmp_path / "proc") == []
    assert not is_open(folder, tmp_path / "proc")


def test_a_deleted_file_that_is_open_is_found(folder: Path) -> None:
    path = folder / "events.jsonl"
    with path.open("w"):
        assert not is_open(path), "it's still there"
        path.unlink()
        assert is_open(path)
    assert not is_open(path)
