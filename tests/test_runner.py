"""One run with everything around it played: what's begun is undone, whatever happens, and whenever."""

from __future__ import annotations

import json
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from swarmtest import runner
from swarmtest.engine import EngineInfo, TaskView, UpdateView
from swarmtest.engine.client import NoAnswer, Refused
from swarmtest.errors import EngineError, Interrupted, SwarmtestError, TimedOut, TrafficError, UsageError
from swarmtest.events import Event, read_events
from swarmtest.faults import Aim
from swarmtest.interrupts import Interrupts
from swarmtest.plan import Line, Plan, Step, Target
from swarmtest.running import Run, clients, deploying, steps
from swarmtest.running.finding import Finding
from swarmtest.running.order import Order
from swarmtest.stack.block.brief import read_brief
from swarmtest.stack.block.wishes import StopAt
from swarmtest.stack.services import read_stack
from swarmtest.store import RunFolder
from tests.views import UP

INFO = EngineInfo("20.10", "1.41", "1.12", "127.0.0.1", True, "active", True, 1, True, "6.1", "20.10.24", "node1")
OLD = replace(UP, id="old", service="web", container="c-old", addresses=())
NEW = replace(OLD, id="new", container="c-new")


@dataclass
class World:
    """What the fakes share: what happened, in order, and what a test makes happen there.

    Attributes:
        at: called when the moment of that name comes.
    """

    happened: list[str] = field(default_factory=list)
    at: dict[str, Callable[[], object]] = field(default_factory=dict)
    tasks: tuple[TaskView, ...] = (OLD,)
    status: UpdateView = field(default_factory=lambda: UpdateView(None, None, None, ""))
    exited: set[str] = field(default_factory=set)
    unhealthy: set[str] = field(default_factory=set)
    said: Counter[tuple[str | None, str]] = field(default_factory=Counter)
    leftovers: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    exit_code: int | None = None
    hear: Callable[[Mapping[str, Any]], None] = lambda _message: None

    def lose(self) -> None:
        """Has the traffic say that half of all requests were lost in the last six seconds."""
        for n in range(7):
            self.hear({"event": "tick", "t": 10.0 + n, "sent": 40 * n, "done": 40 * n, "lost": 20 * n})

    def now(self, moment: str) -> None:
        """Notes a moment, and does what belongs to it."""
        self.happened.append(moment)
        if moment in self.at:
            self.at[moment]()

    def rolled(self) -> None:
        """The whole rollout, in no time."""
        self.tasks = (NEW,)
        self.exited = {"c-old"}
        self.status = UpdateView("completed", 9e9, 9e9, "update completed")


@dataclass
class Roll:
    """A fault that rolls at once, and has nothing to heal."""

    world: World
    name: str = "update"
    lasting: bool = False
    ends: bool = False
    replaces: bool = True

    def settings(self) -> dict[str, Any]:
        return {"force": True}

    def before(self, _deployment: object, _aim: Aim) -> dict[str, Any]:
        return {"replicas": 1}

    def hurt(self, _deployment: object, _aim: Aim) -> None:
        self.world.now("hurt")
        self.world.rolled()

    def heal(self, _deployment: object, _aim: Aim, before: Mapping[str, Any]) -> None:
        self.world.now("heal")
        assert before == {"replicas": 1}


@dataclass
class Hold(Roll):
    """A fault that lasts until it's healed."""

    name: str = "freeze"
    lasting: bool = True
    replaces: bool = False

    def hurt(self, _deployment: object, aim: Aim) -> None:
        self.world.now("hurt")
        self.world.happened.append(f"aimed at {' '.join(aim.containers)}")


class FakeClient:
    def info(self) -> EngineInfo:
        return INFO


class FakeDeployment:
    def __init__(self, world: World, name: str) -> None:
        self.world, self.name = world, name

    def leftovers(self) -> list[str]:
        return self.world.leftovers

    def replicas(self, _service: str) -> int:
        return 1

    def rollback(self, _service: str) -> None:
        self.world.now("roll back")
        self.world.status = UpdateView("rollback_completed", 9e9, 9e9, "rollback completed")

    def remove(self, timeout_seconds: float) -> None:
        self.world.now("remove")


class FakeWatch:
    def __init__(self, world: World) -> None:
        self.world = world

    def start(self) -> None:
        self.world.now("watch")

    def stop(self) -> None:
        self.world.now("unwatch")

    def tasks(self) -> tuple[TaskView, ...]:
        self.world.now("look")
        return self.world.tasks

    def status(self) -> UpdateView:
        return self.world.status

    def has_exited(self, container: str) -> bool:
        return container in self.world.exited

    def said(self, container: str | None, line: str) -> int:
        return self.world.said[container, line]

    def signalled(self) -> dict[str, float]:
        return {}

    def unhealthy(self) -> set[str]:
        return self.world.unhealthy

    def last_lines(self, _service: str) -> list[str]:
        return ["its last line"]


class FakeTraffic:
    def __init__(self, world: World, hear: Callable[[Mapping[str, Any]], None]) -> None:
        self.world = world
        world.hear = hear
        world.now("child")

    @property
    def exit_code(self) -> int | None:
        return self.world.exit_code

    def wait_until_calibrated(self) -> None:
        self.world.now("calibrated")

    def go(self) -> None:
        self.world.now("go")

    def wait_for(self, _event: str, _seconds: float) -> None: ...

    def stop(self) -> None:
        self.world.now("stop")

    def wait(self, _seconds: float) -> int:
        self.world.now("answers")
        return 0

    def hurry(self) -> None:
        self.world.now("hurry")

    def kill(self) -> None:
        self.world.now("kill")


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture(autouse=True)
def _played(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    fakes: dict[str, object] = {
        "Client": FakeClient,
        "SwarmDeployment": lambda _client, name, **_more: FakeDeployment(world, name),
        "Watch": lambda *_things: FakeWatch(world),
        "TrafficProcess": lambda *things: FakeTraffic(world, things[3]),
        "examine": lambda *_things: world.findings,
        "image_facts": lambda *_things: {},
        "make_missing": lambda *_things: world.now("images"),
        "pull_released": lambda *_things: {},
        "local_only": lambda *_things: True,
        "deploy_stack": lambda *_things, **_more: world.now("deploy"),
        "wait_until_open": lambda *_things, **_more: world.now("door") or {"i1"},
        "why_not_up": lambda _client, name, _tasks: f"{name}: no task was ever made",
        "WARM_UP_SECONDS": 0.0,
        "SETTLE_SECONDS": 0.0,
        "TARGETS_SECONDS": 0.0,
    }
    for name, fake in fakes.items():
        owners = [module for module in (runner, clients, deploying, steps) if hasattr(module, name)]
        assert owners, name
        for module in owners:
            monkeypatch.setattr(module, name, fake)


@pytest.fixture
def order(tmp_path: Path, world: World) -> Order:
    file = tmp_path / "stack.yml"
    file.write_text("services: {web: {image: demo, ports: ['8080:80']}}\nx-swarmtest: {baseline: 0s}\n")
    stack = read_stack(file, {})
    plan = Plan((Step("baseline"), Step("rollout", fault=Roll(world))))
    return Order(stack, read_brief(stack), "rolling", plan, ("answered_every_request",), tmp_path / "runs", "st", "abc")


def carry_out(order: Order) -> tuple[RunFolder, SwarmtestError | None, list[Event]]:
    with Interrupts() as interrupts:
        folder, broke = runner.run(order, interrupts, lambda _event: None)
    assert json.loads(folder.plan.read_text())["version"] == 1
    return folder, broke, list(read_events(folder.events))


def moments(world: World) -> list[str]:
    return [moment for moment in world.happened if moment != "look"]


def acts(events: list[Event]) -> list[tuple[str, str, str | None]]:
    return [(event.get("name"), event.get("edge"), event.get("outcome")) for event in events if event.kind == "act"]


def outcome(events: list[Event]) -> tuple[str, str | None]:
    assert events[-1].kind == "ended"
    return events[-1].get("outcome"), events[-1].get("error")


def test_a_run_does_all_in_order_and_undoes_it_in_reverse_order(order: Order, world: World) -> None:
    _, broke, events = carry_out(order)
    assert broke is None
    assert moments(world) == [
        *("images", "child", "watch", "deploy", "door", "calibrated", "go"),
        *("hurt", "stop", "answers"),
        *("remove", "unwatch", "kill"),
    ]
    assert outcome(events) == ("finished", None)
    assert acts(events) == [
        ("deploy", "began", None),
        ("deploy", "ended", "ok"),
        ("update", "began", None),
        ("update", "ended", "ok"),
    ]
    phases = [(event.get("name"), event.get("edge")) for event in events if event.kind == "phase"]
    names = ["deploy", "warmup", "baseline", "rollout", "settle", "remove"]
    assert phases == [(name, edge) for name in names for edge in ("began", "ended")]
    assert events[0].kind == "trace"


def test_what_the_stack_file_tells_is_noted_before_anything_is_deployed(order: Order) -> None:
    _, _, events = carry_out(replace(order, beforehand=("lint: one", "lint: two")))
    assert [(event.kind, event.get("text")) for event in events[1:3]] == [("note", "lint: one"), ("note", "lint: two")]


STAGES = ["images", "child", "watch", "deploy", "door", "calibrated", "go", "hurt", "stop", "answers"]
HEALING = ["remove", "unwatch", "kill"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("stage", STAGES)
def test_an_interrupt_at_any_stage_undoes_what_was_begun_and_nothing_more(
    order: Order, world: World, stage: str, number: signal.Signals
) -> None:
    world.at[stage] = lambda: os.kill(os.getpid(), number)
    folder, broke, events = carry_out(order)
    assert broke is None
    assert outcome(events) == ("interrupted", number.name)
    begun = moments(world)
    assert ("remove" in begun) == ("deploy" in begun)
    assert ("unwatch" in begun) == ("watch" in begun and stage != "watch")
    assert ("stop" in begun) == (begun.index("hurt") > 0 if "hurt" in begun else False)
    undone = [moment for moment in begun if moment in HEALING]
    assert undone == [moment for moment in HEALING if moment in undone]
    assert begun[-len(undone) :] == undone if undone else True
    assert folder.read_plan()["scenario"] == "rolling"
    edges = [edge for _, edge, _ in acts(events)]
    assert edges.count("began") == edges.count("ended")


@pytest.mark.parametrize("stage", HEALING)
def test_a_signal_while_healing_does_not_cut_it_short(order: Order, world: World, stage: str) -> None:
    def signalled() -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        world.happened.append("on it went")

    world.at[stage] = signalled
    with Interrupts() as interrupts:
        folder, broke = runner.run(order, interrupts, lambda _event: None)
        with pytest.raises(Interrupted):
            interrupts.release()
    assert broke is None
    expected = list(HEALING)
    expected.insert(HEALING.index(stage) + 1, "on it went")
    assert moments(world)[-4:] == expected
    assert outcome(list(read_events(folder.events))) == ("interrupted", "SIGTERM")


def test_a_signal_before_the_folder_is_whole_leaves_a_folder_that_can_be_judged(
    order: Order, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = runner.new_run_folder

    def made(*things: Any) -> RunFolder:
        os.kill(os.getpid(), signal.SIGINT)
        return real(*things)

    monkeypatch.setattr(runner, "new_run_folder", made)
    folder, _, events = carry_out(order)
    assert moments(world) == []
    assert outcome(events) == ("interrupted", "SIGINT")
    assert folder.plan.exists()


def raising(error: BaseException) -> Callable[[], object]:
    def call() -> None:
        raise error

    return call


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (Refused("answered 400", 400), "failed"),
        (UsageError("refused"), "failed"),
        (NoAnswer("no engine answers"), "unknown"),
        (TimedOut("too long"), "unknown"),
    ],
)
def test_an_act_failed_where_it_was_refused_and_is_unknown_where_nobody_can_tell(
    order: Order, world: World, error: SwarmtestError, expected: str
) -> None:
    for moment, name in (("hurt", "update"), ("deploy", "deploy")):
        world.at = {moment: raising(error)}
        world.happened.clear()
        folder, broke, events = carry_out(replace(order, token=moment))
        assert broke is error
        assert acts(events)[-2:] == [(name, "began", None), (name, "ended", expected)]
        assert outcome(events) == ("failed", str(error))
        assert moments(world)[-3:] == HEALING
        assert folder.plan.exists()


def test_an_interrupted_act_is_unknown(order: Order, world: World) -> None:
    world.at["hurt"] = lambda: os.kill(os.getpid(), signal.SIGINT)
    _, _, events = carry_out(order)
    assert acts(events)[-1] == ("update", "ended", "unknown")


def test_an_engine_lost_after_an_act_leaves_the_act_as_it_was(order: Order, world: World) -> None:
    def lost() -> None:
        world.at["look"] = raising(EngineError("the engine went away in mid-run"))

    world.at["hurt"] = lost
    _, broke, events = carry_out(order)
    assert "went away" in str(broke)
    assert acts(events)[-2:] == [("update", "began", None), ("update", "ended", "ok")]
    assert moments(world)[-4:] == ["stop", *HEALING]


def test_errors_of_the_run_and_of_its_undoing_are_both_told_and_the_first_leads(order: Order, world: World) -> None:
    world.at = {"door": raising(UsageError("no steady answers")), "remove": raising(TimedOut("left with container x"))}
    _, broke, events = carry_out(order)
    assert isinstance(broke, UsageError)
    (note,) = broke.__notes__
    assert "couldn't be undone" in note
    assert "left with container x" in note
    assert outcome(events) == ("failed", "no steady answers")
    assert moments(world)[-3:] == HEALING


def test_an_error_of_an_act_says_what_was_to_be_done(order: Order, world: World) -> None:
    world.at = {"hurt": raising(Refused("409: already paused", 409))}
    _, broke, _ = carry_out(holding(order, world))
    assert isinstance(broke, Refused)
    assert broke.__notes__ == ["it was to freeze web.1"]
    world.happened, world.at = [], {"heal": raising(Refused("500: cannot resume", 500))}
    _, broke, _ = carry_out(replace(holding(order, world), name="other", token="other"))
    assert isinstance(broke, Refused)
    assert broke.__notes__ == ["it was to undo: freeze web.1"]


def test_a_stack_that_cannot_be_removed_after_an_interrupt_is_an_error(order: Order, world: World) -> None:
    world.at = {
        "door": lambda: os.kill(os.getpid(), signal.SIGINT),
        "remove": raising(TimedOut("left with container x")),
    }
    _, broke, events = carry_out(order)
    assert isinstance(broke, EngineError)
    assert "left with container x" in str(broke)
    assert outcome(events)[0] == "interrupted"


def test_a_dead_traffic_child_ends_the_run(order: Order, world: World) -> None:
    world.at["go"] = lambda: setattr(world, "exit_code", -9)
    _, broke, _ = carry_out(replace(order, plan=Plan((Step("hold", hold_seconds=5.0),))))
    assert isinstance(broke, TrafficError)
    assert "exit code -9" in str(broke)
    assert moments(world)[-4:] == ["stop", *HEALING]


def test_what_is_missing_is_said_before_anything_is_touched(order: Order, world: World) -> None:
    world.findings = [Finding("health check", "warning", "w"), Finding("port", "missing", "8080 is taken", "stop it")]
    with Interrupts() as interrupts, pytest.raises(UsageError, match="port: 8080 is taken; stop it"):
        runner.run(order, interrupts, lambda _event: None)
    assert not order.out.exists()


def test_a_hazard_of_the_plan_is_noted_before_anything_is_deployed(
    order: Order, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    risk = Finding("restart policy", "warning", "what kill ends stays away", "set `restart_policy`")
    monkeypatch.setattr(runner, "hazards", lambda *_args: [risk])
    _, _, events = carry_out(order)
    assert [event.kind for event in events[:2]] == ["trace", "note"]
    assert events[1].get("text") == "restart policy: what kill ends stays away; set `restart_policy`"


def test_a_plan_that_cannot_be_carried_out_here_is_refused(
    order: Order, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    risk = Finding("drain", "missing", "this cluster has one node", "join another")
    monkeypatch.setattr(runner, "hazards", lambda *_args: [risk])
    with Interrupts() as interrupts, pytest.raises(UsageError, match="drain: this cluster has one node; join another"):
        runner.run(order, interrupts, lambda _event: None)
    assert not order.out.exists()


def test_a_name_that_is_taken_is_left_alone(order: Order, world: World) -> None:
    world.leftovers = ["a service"]
    with Interrupts() as interrupts, pytest.raises(UsageError, match="named st is on the engine already"):
        runner.run(order, interrupts, lambda _event: None)
    assert moments(world) == []
    assert not order.out.exists()


def test_a_folder_that_cannot_be_made_is_said_before_anything_is_deployed(order: Order, world: World) -> None:
    order.out.write_text("a file")
    with Interrupts() as interrupts, pytest.raises(UsageError, match="--out"):
        runner.run(order, interrupts, lambda _event: None)
    assert moments(world) == []


def test_a_stack_that_never_gets_healthy_is_said_with_why(order: Order, world: World) -> None:
    world.tasks = (replace(OLD, state="starting"),)
    brief = replace(order.brief, ready_seconds=0.05)
    _, broke, _ = carry_out(replace(order, brief=brief))
    assert isinstance(broke, UsageError)
    assert "didn't get healthy" in str(broke)
    assert "no task was ever made" in str(broke)
    assert "its last line" in str(broke)
    assert moments(world)[-3:] == HEALING


@pytest.mark.parametrize(("ends", "said"), [(1, 0), (2, 1), (3, 1)])
def test_what_ends_again_and_again_is_told_of_once_while_it_is_waited_for(
    order: Order, world: World, monkeypatch: pytest.MonkeyPatch, ends: int, said: int
) -> None:
    monkeypatch.setattr(
        deploying, "why_not_up", lambda _client, name, tasks: f"{name}: {[task.error for task in tasks]}"
    )
    ended = [replace(OLD, id=f"t{n}", state="failed", error=f"exit {n}", created=float(n)) for n in range(ends)]
    world.tasks = (replace(OLD, state="starting", created=9.0), *ended)
    _, broke, events = carry_out(replace(order, brief=replace(order.brief, ready_seconds=0.25)))
    assert "didn't get healthy" in str(broke)
    notes = [str(event.get("text")) for event in events if event.kind == "note"]
    assert notes == [f"web doesn't get up so far: web: ['exit {ends - 1}']"] * said


def test_an_image_that_no_node_has_is_said_at_once(order: Order, world: World) -> None:
    world.tasks = (replace(OLD, state="rejected", error="No such image: demo:latest"),)
    _, broke, _ = carry_out(order)
    assert isinstance(broke, UsageError)
    assert "build or pull demo" in str(broke)


def test_a_rollout_that_never_ends_is_noted_and_the_run_goes_on(
    order: Order, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "of_rollout", lambda _service: 0.05)
    world.at["hurt"] = lambda: setattr(world, "rolled", lambda: None)
    _, broke, events = carry_out(order)
    assert broke is None
    (note,) = [event.get("text") for event in events if event.kind == "note"]
    assert "hadn't come to its end" in note
    assert "c-old" in note


@pytest.mark.parametrize(
    ("change", "steady"),
    [
        ({}, True),
        ({"status": UpdateView("updating", 9e9, None, "")}, False),
        ({"status": UpdateView("rollback_completed", 9e9, 9e9, "")}, True),
        ({"status": UpdateView("paused", 9e9, None, "")}, True),
        # a status left from an earlier update: docker/cli #6752
        ({"status": UpdateView("completed", 50.0, 60.0, "")}, False),
        ({"status": UpdateView(None, None, None, "")}, False),
        ({"exited": set()}, False),
        ({"tasks": (replace(NEW, state="starting"),)}, False),
        # one that should be gone counts neither as up nor as old: moby/moby #41885
        ({"tasks": (NEW, replace(OLD, id="zombie", container="c-z", desired="shutdown"))}, True),
        # the old one was kept, by a rollback
        ({"tasks": (OLD,), "exited": set()}, True),
    ],
)
def test_a_rollout_is_over_when_this_update_ended_and_the_old_ones_are_gone(
    order: Order, world: World, change: dict[str, Any], steady: bool
) -> None:
    world.rolled()
    for name, value in change.items():
        setattr(world, name, value)
    assert hurting(order, world, Roll(world)).steady() is steady


def hurting(order: Order, world: World, fault: Roll, *victims: TaskView) -> steps.Hurting:
    """A step that has begun at 100, when one instance ran and was to go on running."""
    watch, deployment = FakeWatch(world), FakeDeployment(world, "st")
    work = Run(order, INFO, None, None, None, deployment, watch, None)  # type: ignore[arg-type]
    found = steps.Hurting(work, None, fault, Aim("web", victims))  # type: ignore[arg-type]
    found.old, found.began, found.wanted = {"c-old"}, 100.0, 1
    return found


@pytest.mark.parametrize(
    ("change", "whole"),
    [
        ({"exited": {"c-old"}, "tasks": (NEW,)}, True),
        # killed a moment ago: neither its exit nor its task's state tells yet
        ({"exited": set(), "tasks": (OLD,)}, False),
        ({"exited": {"c-old"}, "tasks": (OLD,)}, False),
        ({"exited": {"c-old"}, "tasks": ()}, False),
        ({"exited": {"c-old"}, "tasks": (replace(NEW, state="starting"),)}, False),
    ],
)
def test_after_a_kill_the_deployment_is_whole_when_the_victim_is_replaced(
    order: Order, world: World, change: dict[str, Any], whole: bool
) -> None:
    for name, value in change.items():
        setattr(world, name, value)
    assert hurting(order, world, Roll(world, ends=True), OLD).whole() is whole


def test_after_a_freeze_the_deployment_is_whole_when_all_that_should_be_up_is(order: Order, world: World) -> None:
    assert hurting(order, world, Hold(world), OLD).whole()
    world.tasks = (replace(OLD, desired="shutdown"),)
    assert not hurting(order, world, Hold(world), OLD).whole()


def test_one_that_its_health_check_is_about_to_end_does_not_make_the_deployment_whole(
    order: Order, world: World
) -> None:
    """Swarm says that its task runs until it has exited, some seconds of pause and drain later."""
    world.unhealthy = {"c-old"}
    assert not hurting(order, world, Hold(world), OLD).whole()
    world.tasks, world.exited = (NEW,), {"c-old"}
    assert hurting(order, world, Hold(world), OLD).whole()


def holding(order: Order, world: World, floor: int = 0) -> Order:
    step = Step("frozen", fault=Hold(world), target=Target(ranks=(4,)), hold_seconds=0.0)
    return replace(order, plan=Plan((step,), floor=floor))


def test_a_fault_that_lasts_is_healed_and_both_are_acts_with_what_healing_has_to_know(
    order: Order, world: World
) -> None:
    _, broke, events = carry_out(holding(order, world))
    assert broke is None
    assert [moment for moment in moments(world) if moment in ("hurt", "aimed at c-old", "heal")] == [
        *("hurt", "aimed at c-old", "heal"),
    ]
    assert acts(events)[2:] == [
        ("freeze", "began", None),
        ("freeze", "ended", "ok"),
        ("heal", "began", None),
        ("heal", "ended", "ok"),
    ]
    began, _, healing, _ = [event for event in events if event.kind == "act"][2:]
    assert began.get("instances") == [{"task": "old", "container": "c-old", "slot": 1, "node": "node1"}]
    assert (began.get("before"), began.get("lasting")) == ({"replicas": 1}, True)
    assert healing.get("heals") == began.get("id")
    assert healing.get("instances") == began.get("instances")


@pytest.mark.parametrize(("gone", "notes"), [(True, 0), (False, 1)])
def test_what_a_fault_brought_and_its_healing_takes_is_followed_to_its_end(
    order: Order, world: World, monkeypatch: pytest.MonkeyPatch, gone: bool, notes: int
) -> None:
    """An instance that was scaled out drains after it's scaled in again, and that's what's to be seen."""
    monkeypatch.setattr(steps, "of_recovery", lambda _service: 0.05)
    world.at["hurt"] = lambda: setattr(world, "tasks", (NEW,))  # the old one's place, so that as many run

    def healed() -> None:
        world.tasks = (replace(NEW, id="third", container="c-third"), replace(NEW, desired="shutdown"))
        world.exited |= {"c-old", "c-new"} if gone else {"c-old"}

    world.exited = {"c-old"}
    world.at["heal"] = healed
    _, broke, events = carry_out(holding(order, world))
    assert broke is None
    assert len([event for event in events if event.kind == "note"]) == notes


def test_a_fault_that_lasts_is_healed_before_the_stack_goes_when_it_was_interrupted(order: Order, world: World) -> None:
    world.at["hurt"] = lambda: os.kill(os.getpid(), signal.SIGINT)
    _, _, events = carry_out(holding(order, world))
    assert moments(world)[-5:] == ["heal", "stop", *HEALING]
    assert acts(events)[-3:] == [("freeze", "ended", "unknown"), ("heal", "began", None), ("heal", "ended", "ok")]


def test_a_signal_while_a_fault_is_healed_does_not_cut_the_healing_short(order: Order, world: World) -> None:
    def signalled() -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        world.happened.append("on it went")

    world.at["heal"] = signalled
    _, _, events = carry_out(holding(order, world))
    assert "on it went" in moments(world)
    assert acts(events)[-1] == ("heal", "ended", "ok")
    assert outcome(events) == ("interrupted", "SIGTERM")


def test_a_step_that_would_leave_too_few_is_skipped_and_written_down(order: Order, world: World) -> None:
    _, broke, events = carry_out(holding(order, world, floor=1))
    assert broke is None
    assert "hurt" not in moments(world)
    (skipped,) = [event for event in events if event.get("edge") == "skipped"]
    assert skipped.get("reason") == "1 of web run; 1 must be left, so 1 can't be hurt"


@pytest.fixture
def guarded(order: Order) -> Order:
    return replace(order, stop_at=StopAt(0.05, 5.0))


def said_by_the_guard(events: list[Event]) -> list[str]:
    return [event.get("text") for event in events if event.kind == "guard"]


def test_a_run_of_which_too_much_is_lost_is_stopped_in_mid_hold_and_judged_as_far_as_it_got(
    guarded: Order, world: World
) -> None:
    world.at["go"] = world.lose
    plan = Plan((Step("baseline", hold_seconds=30.0), Step("rollout", fault=Roll(world))))
    _, broke, events = carry_out(replace(guarded, plan=plan))
    assert broke is None
    assert said_by_the_guard(events) == ["50.0 % lost over 5 s: 100 of 200; limit 5 %"]
    assert moments(world)[-6:] == ["go", "stop", "answers", *HEALING]
    assert outcome(events) == ("finished", None)
    began = [event.get("name") for event in events if event.kind == "phase" and event.get("edge") == "began"]
    assert began == ["deploy", "warmup", "baseline", "settle", "remove"]


def test_one_that_is_stopped_while_it_waits_for_a_rollout_has_it_rolled_back(guarded: Order, world: World) -> None:
    def stuck() -> None:
        world.status = UpdateView("updating", 9e9, None, "update in progress")
        world.lose()

    world.at["hurt"] = lambda: setattr(world, "rolled", stuck)
    _, broke, events = carry_out(guarded)
    assert broke is None
    assert len(said_by_the_guard(events)) == 1
    assert moments(world)[-7:] == ["hurt", "roll back", "stop", "answers", *HEALING]
    assert acts(events)[-4:] == [
        ("update", "began", None),
        ("update", "ended", "ok"),
        ("rollback", "began", None),
        ("rollback", "ended", "ok"),
    ]
    assert outcome(events) == ("finished", None)


def test_one_that_is_stopped_while_a_fault_lasts_has_it_healed(guarded: Order, world: World) -> None:
    world.at["hurt"] = world.lose
    step = Step("freeze", fault=Hold(world), target=Target(ranks=(0,)), hold_seconds=30.0)
    plan = Plan((step, Step("hold", hold_seconds=30.0)), floor=0)
    _, broke, events = carry_out(replace(guarded, plan=plan))
    assert broke is None
    assert moments(world)[-7:] == ["aimed at c-old", "heal", "stop", "answers", *HEALING]
    assert outcome(events) == ("finished", None)


def test_without_a_limit_nothing_is_stopped(order: Order, world: World) -> None:
    world.at["go"] = world.lose
    _, broke, events = carry_out(order)
    assert broke is None
    assert said_by_the_guard(events) == []
    assert "hurt" in world.happened


def test_losses_that_end_with_the_plan_stop_nothing_that_is_over(guarded: Order, world: World) -> None:
    world.at["stop"] = world.lose
    _, broke, events = carry_out(guarded)
    assert broke is None
    assert said_by_the_guard(events) == []


LINE = "asked"
AWAITED = Step("found ready", awaits=Line(LINE), hold_seconds=5.0)


@pytest.mark.parametrize("step", [AWAITED, replace(AWAITED, awaits=Line(LINE, (0,)))])
def test_a_step_that_awaits_a_line_is_over_as_soon_as_it_is_written(order: Order, world: World, step: Step) -> None:
    """Each that runs has to have written it; those that are named have to write it once more."""
    world.tasks = (NEW, replace(OLD, slot=2), replace(OLD, id="gone", container="c-gone", state="shutdown"))
    world.said.update({("c-old", LINE): 1, ("c-new", LINE): 7 if step.awaits != Line(LINE) else 0})

    world.at["look"] = lambda: world.said.update({("c-new", LINE): 1})
    _, broke, events = carry_out(replace(order, plan=Plan((step,))))
    assert broke is None
    assert [event for event in events if event.kind == "note"] == []


@pytest.mark.parametrize(
    ("line", "whose"), [(Line(LINE), "every instance of web"), (Line(LINE, (0,)), "c-old")], ids=["each", "one"]
)
def test_a_line_that_is_not_written_in_time_is_waited_for_no_longer(
    order: Order, world: World, line: Line, whose: str
) -> None:
    world.said["c-old", LINE] = 3 if line.ranks else 0
    step = Step("found ready", awaits=line, hold_seconds=0.01)
    _, broke, events = carry_out(replace(order, plan=Plan((step,))))
    assert broke is None
    notes = [event.get("text") for event in events if event.kind == "note"]
    assert notes == [f"the line asked of {whose} wasn't seen within 0.01 s"]


def test_the_run_goes_on_until_all_that_has_a_number_is_sent(order: Order, world: World) -> None:
    kind = replace(order.brief.kinds[0], rate=10.0, count=3)
    began = time.monotonic()
    carry_out(replace(order, plan=Plan(()), brief=replace(order.brief, kinds=(kind,))))
    assert time.monotonic() - began >= 0.3


def test_those_that_came_while_a_fault_lasted_are_waited_for_when_it_is_healed(
    order: Order, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "of_recovery", lambda _service: 0.05)
    world.at["hurt"] = lambda: setattr(world, "tasks", (OLD, NEW))
    world.at["heal"] = lambda: setattr(world, "tasks", (OLD,))
    monkeypatch.setattr(FakeDeployment, "replicas", lambda self, _service: len(self.world.tasks))
    _, _, events = carry_out(holding(order, world))
    assert ["c-new" in str(event.get("text")) for event in events if event.kind == "note"] == [True]
    world.happened.clear()
    world.tasks, world.exited = (OLD,), {"c-new"}
    _, _, events = carry_out(replace(holding(order, world), token="second"))
    assert [event for event in events if event.kind == "note"] == []


def test_a_door_that_stays_shut_for_a_while_is_told_of_in_the_trace(
    order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(_door: object, *, tell: Callable[[str, float], None], **_more: object) -> set[str]:
        tell("503 Service Unavailable", 1.04)
        return {"i1"}

    monkeypatch.setattr(deploying, "wait_until_open", opened)
    _, _, events = carry_out(order)
    waiting, now_open = [event for event in events if event.kind == "front_door"]
    assert (waiting.get("last"), waiting.get("seconds"), waiting.get("edge")) == (
        "503 Service Unavailable",
        1.0,
        "waiting",
    )
    assert waiting.get("within") == order.brief.ready_seconds
    assert (now_open.get("edge"), now_open.get("url")) == ("open", waiting.get("url"))
