"""Runs swarmtest on a real engine, each stack once a session, and reads the bank's ledger beside it.

The bank is the oracle: it books an order before it confirms, and neither the classifier nor anything
else of swarmtest reads its ledger.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from swarmtest.reports import Document, read_document
from swarmtest.store import RunFolder

ROOT = Path(__file__).resolve().parents[2]
BUDGET_SECONDS = 300
LEDGER = "/tmp/ledger.jsonl"


@dataclass
class LiveRun:
    """What came of one `swarmtest run`."""

    exit_code: int
    output: str
    folder: RunFolder
    ledger: Counter[str]
    document: Document = field(init=False)

    def __post_init__(self) -> None:
        self.document = read_document(self.folder.verdicts)

    def failed(self) -> set[str]:
        return {check.name for check in self.document.checks if check.outcome == "failed"}

    def not_proved(self) -> set[str]:
        return {check.name for check in self.document.checks if check.outcome == "not_proved"}

    def loss_classes(self) -> set[str]:
        counted = self.document.losses.items()
        return {name for name, count in counted if count and name not in ("sent", "ok", "duplicates")}

    def explain(self) -> str:
        """What a person needs when an assertion on this run fails."""
        checks = "\n".join(
            f"  {check.outcome:<10} {check.name}: {check.sentence} {check.evidence}"
            for check in self.document.checks
            if check.outcome != "passed"
        )
        losses = {name: count for name, count in self.document.losses.items() if count}
        return f"{self.folder.path}\n{checks}\n  {losses}\n  {self.document.notes}\n{self.output[-3000:]}"


def swarmtest_command(*words: str) -> list[str]:
    return [sys.executable, "-m", "swarmtest", *words]


def docker(*words: str) -> str:
    return subprocess.run(["docker", *words], check=True, capture_output=True, text=True, timeout=60).stdout


class Ledger(threading.Thread):
    """Follows the ledgers of all banks of one stack, one after the other, until the last one is gone."""

    def __init__(self, stack: str) -> None:
        super().__init__(daemon=True)
        self._label = f"label=com.docker.swarm.service.name={stack}_bank"
        self._over = threading.Event()
        self._booked: dict[str, list[str]] = {}

    def run(self) -> None:
        while not self._over.is_set():
            for container in docker("ps", "--quiet", "--filter", self._label).split():
                if container not in self._booked:
                    self._booked[container] = self._follow(container)
            time.sleep(0.2)

    def _follow(self, container: str) -> list[str]:
        """Its orders, to its end; its last lines are read from what's left of it, unless that's gone too."""
        command = ["docker", "exec", container, "tail", "-n", "+1", "-F", LEDGER]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as tail:
            assert tail.stdout is not None
            heard = list(tail.stdout)
        done = subprocess.run(["docker", "cp", f"{container}:{LEDGER}", "-"], capture_output=True, check=False)
        left = re.findall(rb'{"request_id"[^\n]*}', done.stdout)
        return [json.loads(line)["request_id"] for line in (left if len(left) > len(heard) else heard)]

    def close(self) -> Counter[str]:
        self._over.set()
        self.join(timeout=10)
        return Counter(order for orders in self._booked.values() for order in orders)


class Live:
    """Runs stacks, one after the other, and remembers what came of each."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._done: dict[tuple[str, ...], LiveRun] = {}
        self._count = 0

    def once(self, stack: str, *flags: str) -> LiveRun:
        """The run of this stack with these flags, made now unless there is one."""
        key = (stack, *flags)
        if key not in self._done:
            self._done[key] = self.again(stack, *flags)
        return self._done[key]

    def again(self, stack: str, *flags: str) -> LiveRun:
        """A new run."""
        self._count += 1
        name = f"live-{os.getpid()}-{self._count}"
        out = self._out / str(self._count)
        ledger = Ledger(name)
        ledger.start()
        done = subprocess.run(
            swarmtest_command("run", stack, "--name", name, "--out", str(out), *flags),
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=BUDGET_SECONDS,
            check=False,
        )
        booked = ledger.close()
        folders = sorted(out.iterdir()) if out.is_dir() else []
        assert folders, f"no run folder; exit {done.returncode}:\n{done.stdout}\n{done.stderr}"
        return LiveRun(done.returncode, done.stdout + done.stderr, RunFolder(folders[-1]), booked)


@pytest.fixture(scope="session")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    try:
        state = docker("info", "--format", "{{.Swarm.LocalNodeState}}").strip()
    except (OSError, subprocess.SubprocessError) as error:
        pytest.fail(f"live tests need an engine, and none answers ({error}); `make test` sets one up")
    assert state == "active", f"live tests need swarm mode, it is {state}; `make test` sets it up"
    yield Live(tmp_path_factory.mktemp("runs"))
    assert ours() == [], "something of ours was left on the engine"


@pytest.fixture
def stack(tmp_path: Path) -> Path:
    """A copy of the reference stack that a test may spoil."""
    shutil.copytree(ROOT / "stacks" / "edge", tmp_path / "edge")
    return Path(shutil.copy(ROOT / "stacks" / "api.yml", tmp_path / "api.yml"))


def spoil(stack: Path, old: str, new: str) -> None:
    text = stack.read_text()
    assert old in text
    stack.write_text(text.replace(old, new))


def ours() -> list[str]:
    """All objects on the engine that carry the label of a stack of these tests."""
    left = []
    for kind, words in {
        "service": ("service", "ls", "--format", "{{.Name}}"),
        "container": ("ps", "--all", "--format", "{{.Names}}"),
        "network": ("network", "ls", "--format", "{{.Name}}"),
        "config": ("config", "ls", "--format", "{{.Name}}"),
        "volume": ("volume", "ls", "--format", "{{.Name}}"),
    }.items():
        left += [f"{kind} {name}" for name in docker(*words).split() if name.startswith(f"live-{os.getpid()}-")]
    return left
