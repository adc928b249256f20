"""The machine that the figures belong to, and processes on a processor of their own."""

from __future__ import annotations

import contextlib
import os
import platform
import resource
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


def description() -> str:
    """Processor, kernel and Python in a line."""
    model = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    loads = ", ".join(f"{load:.1f}" for load in os.getloadavg())
    return f"{os.cpu_count()} × {model}; Linux {platform.release()}; Python {platform.python_version()}; load {loads}"


def on_core(core: int) -> Callable[[], None]:
    """Runs in a new process before its program does."""
    return lambda: os.sched_setaffinity(0, {core})


def move(pid: int, core: int) -> None:
    """Puts a process with all its threads on one processor, as urgent there as this one is.

    Linux weighs sessions against each other, and forgets the urgency of what a session of its own was started by.
    """
    with contextlib.suppress(OSError):
        Path(f"/proc/{pid}/autogroup").write_text(str(os.nice(0)))
    for thread in Path(f"/proc/{pid}/task").iterdir():
        os.sched_setaffinity(int(thread.name), {core})


@dataclass(frozen=True, slots=True)
class Spent:
    """What a program took, and what it said."""

    seconds: float
    cpu_seconds: float
    output: str


def run_on(core: int, command: Sequence[str], environment: Mapping[str, str] | None = None) -> Spent:
    """Runs a program on one processor to its end; raises ``CalledProcessError`` where that's a bad one."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(
        command,
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        preexec_fn=on_core(core),
        env={**os.environ, **(environment or {})},
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Spent(time.monotonic() - began, cpu, done.stdout)
