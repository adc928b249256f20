"""Load comes from the kernel's counters on this machine, from the engine elsewhere, and from nobody else."""

from __future__ import annotations

from pathlib import Path

import pytest

from swarmtest.engine.client import Client
from swarmtest.engine.load import Load, LoadMeter, control_groups
from tests.engine.conftest import FakeEngine

TEXT = "9:name=systemd:/docker/c1\n4:memory:/docker/c1\n2:cpu,cpuacct:/docker/c1\n0::/docker/c1\n"


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    (tmp_path / "proc/7").mkdir(parents=True)
    (tmp_path / "proc/7/cgroup").write_text(TEXT)
    return tmp_path / "proc"


def test_counters_of_version_one_are_read_from_their_controllers(
    client: Client, engine: FakeEngine, tmp_path: Path, proc: Path
) -> None:
    engine.before = lambda _verb, _path: (200, {"State": {"Pid": 7}})
    root = tmp_path / "sys"
    (root / "cpuacct/docker/c1").mkdir(parents=True)
    (root / "memory/docker/c1").mkdir(parents=True)
    (root / "cpuacct/docker/c1/cpuacct.usage").write_text("2500000000\n")
    (root / "memory/docker/c1/memory.usage_in_bytes").write_text("4096\n")
    assert LoadMeter(client, local=True, root=root, proc=proc).of("c1") == Load(2.5, 4096)


def test_counters_of_version_two_are_read_from_the_one_group(
    client: Client, engine: FakeEngine, tmp_path: Path, proc: Path
) -> None:
    engine.before = lambda _verb, _path: (200, {"State": {"Pid": 7}})
    group = tmp_path / "sys/docker/c1"
    group.mkdir(parents=True)
    (group / "cpu.stat").write_text("usage_usec 1500000\nuser_usec 1\n")
    (group / "memory.current").write_text("8192\n")
    assert LoadMeter(client, local=True, root=tmp_path / "sys", proc=proc).of("c1") == Load(1.5, 8192)


def test_elsewhere_the_engine_is_asked(client: Client, engine: FakeEngine) -> None:
    stats = {
        "read": "2026-01-01T00:00:00Z",
        "cpu_stats": {"cpu_usage": {"total_usage": 5_000_000_000}},
        "memory_stats": {"usage": 7},
    }
    engine.before = lambda _verb, _path: (200, stats)
    assert LoadMeter(client, local=False).of("c1") == Load(5.0, 7)


def test_statistics_that_the_engine_never_read_are_no_load(client: Client, engine: FakeEngine) -> None:
    engine.before = lambda _verb, _path: (200, {"read": "0001-01-01T00:00:00Z", "cpu_stats": {}, "memory_stats": {}})
    assert LoadMeter(client, local=False).of("c1") is None


def test_a_container_that_is_gone_has_no_load(client: Client, engine: FakeEngine, tmp_path: Path) -> None:
    engine.before = lambda _verb, _path: (404, {"message": "no such container"})
    assert LoadMeter(client, local=True, root=tmp_path, proc=tmp_path).of("c1") is None


def test_groups_that_do_not_exist_are_left_out(tmp_path: Path) -> None:
    assert control_groups(TEXT, tmp_path) == {}
