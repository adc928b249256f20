"""The traffic children of a run: where their files are, and who hears what they say."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from swarmtest.errors import TrafficError
from swarmtest.running import clients
from swarmtest.running.clients import await_answers, start_client
from swarmtest.running.guard import LossGuard
from swarmtest.traffic.settings import Kind, TrafficSettings


class World:
    """A run with a folder, whose children only remember what they were made with."""

    def __init__(self, folder: Path, mode: str) -> None:
        self.folder = folder
        self.events: list[dict[str, Any]] = []
        self.made: list[tuple[TrafficSettings, Path, Path, Any]] = []
        self.killed = 0
        door = SimpleNamespace(mode=mode)
        self.work: Any = SimpleNamespace(
            folder=SimpleNamespace(path=folder, requests=folder / "requests"),
            order=SimpleNamespace(brief=SimpleNamespace(front_door=door, timeout_seconds=30.0), token="ab12cd"),
            trace=SimpleNamespace(
                add=lambda kind, t=None, **fields: self.events.append({"kind": kind, "t": t, **fields})
            ),
            guard=LossGuard(SimpleNamespace(share=0.05, seconds=5.0)),
            url="http://x",
        )

    def make(self, settings: TrafficSettings, file: Path, log: Path, hear: Any) -> Any:
        self.made.append((settings, file, log, hear))
        return SimpleNamespace(kill=self.kill)

    def kill(self) -> None:
        self.killed += 1


def settings_of(_order: Any, run: str, out: Path, url: str | None, targets: Path | None) -> TrafficSettings:
    kind = Kind(name="short", path="/work", rate=20.0)
    return TrafficSettings(run=run, out=str(out), kinds=[kind], url=url, targets_file=str(targets) if targets else None)


@pytest.fixture(params=["proxy", "direct"])
def world(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    world = World(tmp_path, request.param)
    monkeypatch.setattr(clients, "TrafficProcess", world.make)
    monkeypatch.setattr(clients, "traffic_settings", settings_of)
    return world


def test_two_clients_share_the_folder_of_requests_and_the_targets_and_nothing_else(world: World) -> None:
    with ExitStack() as undo:
        start_client(world.work, undo)
        if world.work.order.brief.front_door.mode == "direct":
            (world.folder / "targets.json").write_text("what the runner listed")
        start_client(world.work, undo, "burst 2", lambda settings: settings)
        assert world.killed == 0
    assert world.killed == 2
    (steady, *steady_files, _), (burst, *burst_files, _) = world.made
    assert [path.name for path in steady_files] == ["traffic.json", "traffic.log"]
    assert [path.name for path in burst_files] == ["traffic-burst-2.json", "traffic-burst-2.log"]
    assert steady.out == burst.out
    assert steady.targets_file == burst.targets_file
    if burst.targets_file is not None:
        assert Path(burst.targets_file).read_text() == "what the runner listed"


def test_each_word_is_written_down_with_its_own_time_and_its_clients_name(world: World) -> None:
    with ExitStack() as undo:
        start_client(world.work, undo)
        start_client(world.work, undo, "burst")
        for _, _, _, hear in world.made:
            hear({"event": "tick", "t": 7.0, "sent": 9, "done": 8, "lost": 0})
    tick = {"kind": "traffic", "event": "tick", "t": 7.0, "sent": 9, "done": 8, "lost": 0}
    assert world.events == [tick, tick | {"client": "burst"}]


def test_the_guard_hears_every_client(world: World) -> None:
    with ExitStack() as undo:
        start_client(world.work, undo)
        start_client(world.work, undo, "burst")
        steady, burst = (hear for _, _, _, hear in world.made)
        for n in range(7):
            steady({"event": "tick", "t": 10.0 + n, "done": 20 * n, "lost": 0})
        assert world.work.guard.text is None
        for n in range(3):
            burst({"event": "tick", "t": 14.5 + n, "done": 20 * n, "lost": 20 * n})
    assert world.work.guard.text is not None


class Slow:
    """A child whose last answer takes long."""

    log_file = "traffic.log"

    def __init__(self, code: int) -> None:
        self.code, self.told = code, [""]

    def wait(self, seconds: float) -> int:
        if self.told[-1] != "hurry":
            self.told.append(f"waited {seconds:g}")
            raise TrafficError("didn't end")
        return self.code

    def hurry(self) -> None:
        self.told.append("hurry")


def test_a_client_that_waits_for_ever_is_hurried_and_one_that_broke_ends_the_run(world: World) -> None:
    child: Any = Slow(0)
    await_answers(world.work, child)
    assert child.told[1:] == ["waited 45", "hurry"]
    broken: Any = Slow(1)
    with pytest.raises(TrafficError, match=r"ended with 1; see traffic\.log"):
        await_answers(world.work, broken)
