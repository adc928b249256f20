"""Processes of a run that outlived it: its traffic children, and the docker CLI that was deploying for it.

Children run in sessions of their own, so a SIGKILL of swarmtest doesn't reach them. The traffic child
ends by itself when its parent's end of the pipe closes, after its last answer. Each is known by what
only it was given, a file in the run's folder, so that no other process is ever ended; and it's held by
a file descriptor, so that none is that got its number meanwhile.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from swarmtest.traffic.settings import ENVIRONMENT_VARIABLE

TRAFFIC, DEPLOYING = "traffic child", "`docker stack deploy`"

OVERRIDE = "override.json"

POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Orphan:
    """A process of a run; ``what`` is in words for people."""

    pid: int
    what: str


def orphans_of(folder: Path, processes: Path = Path("/proc")) -> list[Orphan]:
    """The processes of a run that live; none where the system doesn't show them."""
    home = folder.resolve()
    seen = ((pid, _what(processes / str(pid), home)) for pid in _pids(processes))
    return [Orphan(pid, what) for pid, what in seen if what is not None]


def _pids(processes: Path) -> Iterator[int]:
    with contextlib.suppress(OSError):
        yield from sorted(int(entry.name) for entry in processes.iterdir() if entry.name.isdigit())


def _what(process: Path, folder: Path) -> str | None:
    with contextlib.suppress(OSError):  # it ended meanwhile, or is somebody else's
        words = [os.fsdecode(word) for word in (process / "cmdline").read_bytes().split(b"\0")]
        if Path(words[0]).name == "docker" and "deploy" in words:
            place = Path(_target(process / "cwd"))
            if any(word.endswith(OVERRIDE) and (place / word).resolve() == folder / OVERRIDE for word in words):
                return DEPLOYING
        for entry in (process / "environ").read_bytes().split(b"\0"):
            name, _, value = os.fsdecode(entry).partition("=")
            if name == ENVIRONMENT_VARIABLE and Path(value).parent == folder:
                return TRAFFIC
    return None


def is_open(path: Path, processes: Path = Path("/proc")) -> bool:
    """Whether a process has a file open that was deleted, by the name that it had."""
    name = f"{path} (deleted)"
    for pid in _pids(processes):
        with contextlib.suppress(OSError):
            if any(_target(entry) == name for entry in (processes / str(pid) / "fd").iterdir()):
                return True
    return False


def _target(link: Path) -> str:
    with contextlib.suppress(OSError):
        return os.readlink(link)  # noqa: PTH115 - a target that's no path, such as a socket's
    return ""


def await_end(
    folder: Path,
    patience_seconds: float,
    *,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> list[Orphan]:
    """Waits for a run's processes to end by themselves; gives those that are still there."""
    deadline = clock() + patience_seconds
    while (left := orphans_of(folder)) and clock() < deadline:
        sleep(POLL_SECONDS)
    return left


def end(orphan: Orphan, folder: Path) -> None:
    """Kills a process of a run, if it's still that."""
    with contextlib.suppress(ProcessLookupError):
        handle = os.pidfd_open(orphan.pid)
        try:
            if orphan in orphans_of(folder):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
        finally:
            os.close(handle)
