"""Processor time and memory of a container.

On the engine's own machine the kernel's counters are read straight from the control group: it costs
a few file reads, and works where the engine's own statistics come out empty because some controller
isn't mounted. Elsewhere the engine is asked, with ``one-shot``, which doesn't wait for a second sample.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from swarmtest.engine.client import Client
from swarmtest.errors import EngineError

_ROOT = Path("/sys/fs/cgroup")


@dataclass(frozen=True, slots=True)
class Load:
    """Processor time so far in seconds, and memory in bytes (None where it can't be read)."""

    cpu_seconds: float
    memory_bytes: int | None


class LoadMeter:
    """Reads the load of containers; remembers where each one's counters are."""

    def __init__(self, client: Client, *, local: bool, root: Path = _ROOT, proc: Path = Path("/proc")) -> None:
        self._client, self._local, self._root, self._proc = client, local, root, proc
        self._groups: dict[str, dict[str, Path]] = {}

    def of(self, container: str) -> Load | None:
        """The load of a container; None where nobody can tell, or it's gone."""
        if self._local and (load := self._from_group(container)) is not None:
            return load
        try:
            return self._from_engine(container)
        except EngineError:
            return None

    def _from_group(self, container: str) -> Load | None:
        try:
            if container not in self._groups:
                pid = int(self._client.get(f"/containers/{container}/json")["State"]["Pid"])
                self._groups[container] = control_groups((self._proc / str(pid) / "cgroup").read_text(), self._root)
            groups = self._groups[container]
            if "cpuacct" in groups:
                cpu = int((groups["cpuacct"] / "cpuacct.usage").read_text()) / 1e9
                return Load(cpu, _number(groups.get("memory"), "memory.usage_in_bytes"))
            if "" in groups:
                lines = (groups[""] / "cpu.stat").read_text().splitlines()
                usage = next(int(line.split()[1]) for line in lines if line.startswith("usage_usec"))
                return Load(usage / 1e6, _number(groups[""], "memory.current"))
        except (EngineError, OSError, ValueError, KeyError, StopIteration):
            return None
        return None

    def _from_engine(self, container: str) -> Load | None:
        stats = self._client.get(f"/containers/{container}/stats", **{"stream": "false", "one-shot": "true"})
        if str(stats.get("read", "0001")).startswith("0001"):
            return None
        cpu = ((stats.get("cpu_stats") or {}).get("cpu_usage") or {}).get("total_usage")
        memory = (stats.get("memory_stats") or {}).get("usage")
        return Load(int(cpu) / 1e9, int(memory) if memory else None) if cpu else None


def control_groups(text: str, root: Path) -> dict[str, Path]:
    """Folder of each controller out of ``/proc/PID/cgroup``; version 2 has one, under the empty name."""
    groups: dict[str, Path] = {}
    for line in text.splitlines():
        _, controllers, path = line.split(":", 2)
        for name in controllers.split(","):
            folder = root / name / path.lstrip("/") if name else root / path.lstrip("/")
            if folder.is_dir():
                groups[name] = folder
    return groups


def _number(folder: Path | None, name: str) -> int | None:
    try:
        return int((folder / name).read_text()) if folder is not None else None
    except (OSError, ValueError):
        return None
