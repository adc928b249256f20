"""A worker on another machine: what it leaves behind, and what it ends with."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from swarmtest.errors import Interrupted, TrafficError
from swarmtest.traffic import worker

FAMILY = """
import os, sys, time
if os.fork() == 0:
    time.sleep(60)
open(sys.argv[1], "w").write(str(os.getpid()))
{then}
"""


def as_child(monkeypatch: pytest.MonkeyPatch, then: str, place: Path) -> None:
    """Lets a program that has a child of its own stand for Locust."""
    command = [sys.executable, "-c", FAMILY.format(then=then), str(place)]
    monkeypatch.setattr(worker, "worker_command", lambda *_: command)


def nobody_is_left(place: Path) -> bool:
    """Whether no process of the session runs any more, or is just dying; one that nobody has waited for is none."""
    until = time.monotonic() + 5.0
    while (found := left(place)) and time.monotonic() < until:
        time.sleep(0.01)
    return not found


def left(place: Path) -> list[str]:
    session, found = place.read_text(), []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, group, *_ = stat.read_text().rpartition(")")[2].split()
            found += [state] if group == session and state != "Z" else []
    return found


@pytest.mark.parametrize(
    ("then", "error"),
    [
        ("sys.exit(3)", TrafficError),
        ("os.kill(os.getpid(), 15)", Interrupted),
        ("os.kill(os.getpid(), 9)", TrafficError),
    ],
)
def test_a_worker_that_ends_badly_takes_its_processes_along(
    then: str, error: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_child(monkeypatch, then, tmp_path / "pid")
    with pytest.raises(error):
        worker.run_worker("127.0.0.1", 5557, 2)
    assert nobody_is_left(tmp_path / "pid")


@pytest.fixture
def interruptible() -> Iterator[None]:
    def interrupted(*_: object) -> None:
        raise Interrupted("by a signal")

    before = signal.signal(signal.SIGTERM, interrupted)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_ends_all_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "pid"
    as_child(monkeypatch, f"os.kill({os.getpid()}, 15); time.sleep(60)", place)
    with pytest.raises(Interrupted, match="by a signal"):
        worker.run_worker("127.0.0.1", 5557, 2)
    assert nobody_is_left(place)


@pytest.mark.usefixtures("interruptible")
def test_one_in_the_moment_of_their_start_does_so_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "pid"
    as_child(monkeypatch, "time.sleep(60)", place)

    class Interrupting(subprocess.Popen[bytes]):
        def __init__(self, *words: Any, **settings: Any) -> None:
            super().__init__(*words, **settings)
            while not place.exists() or not place.read_text():
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(subprocess, "Popen", Interrupting)
    with pytest.raises(Interrupted, match="by a signal"):
        worker.run_worker("127.0.0.1", 5557, 2)
    assert nobody_is_left(place)


def test_one_that_has_sent_its_share_ends_with_0(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    as_child(monkeypatch, "sys.exit(0)", tmp_path / "pid")
    assert worker.run_worker("127.0.0.1", 5557, 1) == 0
    assert nobody_is_left(tmp_path / "pid")
