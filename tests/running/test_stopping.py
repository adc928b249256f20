"""A run of which too much is lost: said once, the update turned back, and waited for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from swarmtest.engine import TaskView, UpdateView
from swarmtest.engine.client import Refused
from swarmtest.running.guard import LossGuard
from swarmtest.running.limit_guard import LimitGuard
from swarmtest.running.stopping import GuardTripped, await_rolled_back, mind
from tests.views import UP

LIMIT = SimpleNamespace(share=0.05, seconds=5.0)
OLD = replace(UP, id="old", container="c-old")


class World:
    """What a run consists of, as far as it's needed to stop one."""

    def __init__(self, state: str | None) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.rolled_back: list[str] = []
        self.status = UpdateView(state, 1.0, None, "update in progress")
        self.tasks: tuple[TaskView, ...] = (OLD,)
        self.exited: set[str] = set()
        self.refuses = False
        watch = SimpleNamespace(
            status=lambda: self.status, tasks=lambda: self.tasks, has_exited=lambda name: name in self.exited
        )
        self.work: Any = SimpleNamespace(
            guard=LossGuard(LIMIT),
            limits=LimitGuard((), Path()),
            trace=SimpleNamespace(add=lambda kind, **fields: self.events.append((kind, fields))),
            watch=watch,
            order=SimpleNamespace(subject=SimpleNamespace(name="api")),
            deployment=SimpleNamespace(rollback=self.rollback),
            acts=3,
            hurt_instances=0,
        )

    def rollback(self, service: str) -> None:
        if self.refuses:
            raise Refused("no previous spec", 400)
        self.rolled_back.append(service)

    def lose(self, share: float) -> None:
        for n in range(7):
            fields = {"event": "tick", "t": 10.0 + n, "done": 20 * n, "lost": int(20 * n * share)}
            self.work.guard.hear("", fields)

    def kinds(self) -> list[str]:
        return [kind if kind != "act" else f"{fields['name']} {fields['edge']}" for kind, fields in self.events]


def test_nothing_happens_while_little_is_lost() -> None:
    world = World("updating")
    world.lose(0.01)
    mind(world.work)
    assert world.events == []


@pytest.mark.parametrize("state", ["updating", "paused"])
def test_an_update_that_is_under_way_is_rolled_back_and_it_is_said_once(state: str) -> None:
    world = World(state)
    world.lose(0.5)
    with pytest.raises(GuardTripped, match="lost over 5 s"):
        mind(world.work)
    assert world.kinds() == ["guard", "rollback began", "rollback ended"]
    assert world.events[0][1] == {"name": "stop-at", "text": "50.0 % lost over 5 s: 50 of 100; limit 5 %"}
    assert world.events[1][1]["id"] == 4
    assert world.events[2][1]["outcome"] == "ok"
    assert world.rolled_back == ["api"]
    mind(world.work)
    assert len(world.events) == 3


@pytest.mark.parametrize("state", [None, "completed", "rollback_started", "rollback_completed", "rollback_paused"])
def test_where_no_update_is_under_way_the_run_is_stopped_and_nothing_turned_back(state: str | None) -> None:
    world = World(state)
    world.lose(0.5)
    with pytest.raises(GuardTripped):
        mind(world.work)
    assert world.kinds() == ["guard"]


def test_a_rollback_that_is_refused_is_an_act_that_failed_and_stops_the_run_all_the_same() -> None:
    world = World("updating")
    world.refuses = True
    world.lose(0.5)
    with pytest.raises(GuardTripped):
        mind(world.work)
    assert world.kinds() == ["guard", "rollback began", "rollback ended"]
    assert world.events[-1][1]["outcome"] == "failed"


@pytest.mark.parametrize(
    ("state", "changed", "over"),
    [
        ("updating", {}, False),
        ("rollback_started", {}, False),
        ("rollback_paused", {}, True),
        ("rollback_completed", {}, True),
        ("rollback_completed", {"desired": "shutdown"}, False),
        ("rollback_completed", {"desired": "shutdown", "state": "shutdown"}, True),
        # one that should be gone, as the engine has it, and has exited: moby/moby #41885
        ("rollback_completed", {"desired": "shutdown", "container": "c-gone"}, True),
    ],
)
def test_a_rollback_is_over_when_it_says_so_and_those_it_stopped_have_exited(
    state: str, changed: dict[str, Any], over: bool
) -> None:
    world = World("updating")
    world.exited = {"c-gone"}
    asked: list[bool] = []

    def wait(done: Any, _deadline: float) -> bool:
        world.status = replace(world.status, state=state)
        world.tasks = (OLD, replace(OLD, id="new", **{"container": "c-new"} | changed))
        asked.append(done())
        return asked[-1]

    await_rolled_back(world.work, wait)
    assert asked == [over]
    assert world.kinds() == ([] if over else ["note"])


def test_what_is_not_turned_back_is_not_waited_for() -> None:
    await_rolled_back(World("completed").work, lambda _done, _deadline: pytest.fail("waited"))


def test_a_broken_limit_stops_it_as_well_and_is_named() -> None:
    world = World("updating")
    world.work.limits.text = "lost <= 5: 6 of 120 requests"
    with pytest.raises(GuardTripped, match="lost <= 5"):
        mind(world.work)
    assert world.events[0] == ("guard", {"name": "limit", "text": "lost <= 5: 6 of 120 requests"})
    assert world.rolled_back == ["api"]
    mind(world.work)
    assert len(world.rolled_back) == 1
