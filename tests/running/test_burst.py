"""A burst beside the steady traffic: when it begins and ends, what it's told, and how it's let go of."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any

import pytest

from swarmtest.engine import TaskView
from swarmtest.errors import TrafficError
from swarmtest.plan import Burst
from swarmtest.running import burst as module
from swarmtest.running.burst import Burster
from swarmtest.running.guard import GuardTripped
from swarmtest.traffic.settings import Kind, TrafficSettings


def task(container: str, **changed: Any) -> TaskView:
    fields: dict[str, Any] = {"desired": "running", "state": "running", "error": None, "exit_code": None, "message": ""}
    fields |= {"id": container, "service": "api", "slot": 1, "node": "n", "container": container, "addresses": ()}
    fields |= {"host_ports": {}, "grace_seconds": 10.0, "image": "demo", "created": 1.0, "force_update": 0}
    return TaskView(**fields | changed)


class Child:
    """A traffic child that notes what it's told."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.exit_code: int | None = None
        self.log_file = "traffic-burst.log"
        self.calibrated: dict[str, Any] | None = {"ok": True}

    def last(self, _event: str) -> dict[str, Any] | None:
        return self.calibrated

    def wait_until_calibrated(self, _seconds: float) -> None:
        if self.calibrated is None or not self.calibrated["ok"]:
            raise TrafficError("miscounted")
        self.told.append("calibrated")

    def go(self) -> None:
        self.told.append("go")

    def stop(self) -> None:
        self.told.append("stop")

    def wait(self, _seconds: float) -> int:
        self.told.append("answers")
        return 0

    def kill(self) -> None:
        self.told.append("kill")


class World:
    """One child, the tasks as they are, and the time."""

    def __init__(self) -> None:
        self.child = Child()
        self.tasks: tuple[TaskView, ...] = (task("a"), task("b"))
        self.now = 0.0
        self.notes: list[str] = []
        self.told: list[tuple[str, TrafficSettings]] = []
        trace = SimpleNamespace(add=lambda _kind, text: self.notes.append(text))
        order = SimpleNamespace(brief=SimpleNamespace(timeout_seconds=30.0))
        watch = SimpleNamespace(tasks=lambda: self.tasks)
        self.work: Any = SimpleNamespace(bursts=0, watch=watch, trace=trace, order=order)

    def start(
        self,
        _work: Any,
        undo: ExitStack,
        client: str,
        changed: Callable[[TrafficSettings], TrafficSettings],
    ) -> Child:
        kind = Kind(name="short", path="/work", rate=20.0, lanes=None, count=480)
        chat = Kind(name="chat", path="/ws", rate=1.0, protocol="websocket", sessions=3)
        settings = TrafficSettings(run="ab12cd", out="out", kinds=[kind, chat], url="http://x")
        self.told.append((client, changed(settings)))
        undo.callback(self.child.kill)
        return self.child

    def burster(self, old: set[str] | None = None) -> Burster:
        return Burster(self.work, Burst(3.0, 8.0), {"a", "b"} if old is None else old, clock=lambda: self.now)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    world = World()
    monkeypatch.setattr(module, "start_client", world.start)
    return world


@pytest.mark.parametrize(
    "tasks",
    [
        (task("a", desired="shutdown"), task("b")),  # Swarm wants it gone; it still runs
        (task("a", state="failed"), task("b")),
        (task("b"), task("new")),  # Swarm has forgotten it
    ],
)
def test_it_begins_when_the_first_old_instance_goes_and_lasts_its_time(
    world: World, tasks: tuple[TaskView, ...]
) -> None:
    with world.burster() as burster:
        burster.tick()
        world.tasks = (*world.tasks, task("new", state="starting"))
        burster.tick()
        assert world.child.told == []
        world.tasks, world.now = tasks, 5.0
        burster.tick()
        assert world.child.told == ["go"]
        world.now = 12.9
        burster.tick()
        assert not burster.over
        world.now = 13.0
        burster.tick()
        burster.tick()
        assert burster.over
        assert world.child.told == ["go", "stop"]
    assert world.child.told == ["go", "stop", "answers", "kill"]
    assert world.notes == []


def test_a_burst_of_a_step_that_hurts_nobody_begins_at_once(world: World) -> None:
    with world.burster(set()) as burster:
        burster.tick()
        assert world.child.told == ["go"]


def test_one_that_is_cut_short_is_stopped_and_its_answers_are_waited_for(world: World) -> None:
    with world.burster(set()) as burster:
        burster.tick()
    assert world.child.told == ["go", "stop", "answers", "kill"]


def test_one_that_never_began_is_said(world: World) -> None:
    with world.burster() as burster:
        burster.tick()
    assert world.notes == ["the burst wasn't sent: no instance of before the step went"]
    assert world.child.told == ["stop", "answers", "kill"]


def left_by(world: World, error: BaseException) -> None:
    with world.burster(set()) as burster:
        burster.tick()
        raise error


@pytest.mark.parametrize(
    ("error", "told"),
    [(GuardTripped("9 % lost"), ["go", "stop", "answers", "kill"]), (KeyboardInterrupt(), ["go", "kill"])],
)
def test_a_stop_by_the_guard_lets_it_end_in_order_and_an_error_kills_it(
    world: World, error: BaseException, told: list[str]
) -> None:
    with pytest.raises(type(error)):
        left_by(world, error)
    assert world.child.told == told


def test_a_child_that_dies_in_mid_burst_ends_the_run(world: World) -> None:
    burster = world.burster(set())
    burster.tick()
    world.child.exit_code = -9
    with pytest.raises(TrafficError, match=r"mid-burst.*traffic-burst\.log"):
        burster.tick()


def test_it_is_ready_when_it_has_proved_that_it_can_count(world: World) -> None:
    world.child.calibrated = None
    burster = world.burster()
    assert not burster.ready()
    world.child.calibrated = {"ok": True}
    assert burster.ready()
    world.child.calibrated = {"ok": False}
    with pytest.raises(TrafficError):
        burster.ready()
    world.child.calibrated, world.child.exit_code = None, 1
    with pytest.raises(TrafficError):
        burster.ready()


def test_it_sends_what_the_factor_adds_under_ids_of_its_own(world: World) -> None:
    world.burster()
    world.burster()
    (first, told), (second, again) = world.told
    assert (first, second) == ("burst", "burst 2")
    assert [(kind.rate, kind.count) for kind in told.kinds] == [(40.0, None)], "streams are the steady traffic's alone"
    assert [told.run, again.run] == ["ab12cd.burst1", "ab12cd.burst2"]
    assert len({told.seed, again.seed, 42}) == 3
