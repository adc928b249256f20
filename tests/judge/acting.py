"""Acts and what comes of them, put into a rollout made of numbers."""

from __future__ import annotations

from typing import Any

from tests.judge.builder import T0, Life, Rollout

TURNED = 6.0
"""When Swarm turns back."""

HEALED = 9.0
"""When a scaling is undone."""


def stays(life: Life) -> Life:
    """Nobody stops it."""
    life.announced = life.desired = life.signalled = life.unready = life.closed = life.exited = None
    return life


def acted(rollout: Rollout, name: str, at: float = 0.0, number: int = 1, **fields: Any) -> Rollout:
    """An act that was carried out."""
    act = {"id": number, "name": name, "target": "api", "settings": {}, "prepares": False, "lasting": False, **fields}
    rollout.event(at, "act", **act, edge="began")
    return rollout.event(at + 0.1, "act", **act, edge="ended", outcome="ok", error=None)


def without_the_update(rollout: Rollout) -> Rollout:
    """Takes the builder's own act out, for another one in its place."""
    return rollout.drop(lambda event: event["kind"] == "act" and event["name"] == "update")


def ordered_back() -> Rollout:
    """A release that only prepares, and a rollback by order."""
    rollout = Rollout()
    without_the_update(rollout)
    acted(rollout, "release", -9.5, prepares=True)
    acted(rollout, "rollback", number=2)
    rollout.plan["steps"][1] |= {"fault": "rollback", "replaces": True}
    rollout.plan["steps"].insert(0, {"phase": "release", "fault": "release", "prepares": True, "replaces": True})
    old = {"service": "api", "state": "completed", "started": T0 - 9.4, "completed": T0 - 9.1}
    rollout.event(-9.0, "update_status", **old)
    rollout.status = [(0.2, "rollback_started"), (16.0, "rollback_completed")]
    return rollout


def bad_release(way: str = "never", *, order: str = "start-first") -> Rollout:
    """A release that fails in its first slot, and that Swarm takes back."""
    rollout = without_the_update(Rollout())
    acted(rollout, "unhealthy", settings={"way": way})
    rollout.plan["stack"] |= {"order": order, "failure_action": "rollback", "monitor_seconds": 10.0}
    rollout.plan["stack"]["healthcheck"] |= {"interval_seconds": 2.0, "timeout_seconds": 1.0, "retries": 3}
    rollout.plan["steps"][1] = {
        "phase": "bad release",
        "fault": "unhealthy",
        "replaces": True,
        "settings": {"way": way},
    }
    rollout.status = [(0.2, "updating"), (TURNED, "rollback_started"), (8.0, "rollback_completed")]
    for life in rollout.old:
        stays(life)
    bad = rollout.new[0]
    bad.created, bad.started = 0.5, 0.7
    bad.warm = None
    bad.healthy = None if way == "never" else 2.0
    bad.let_go = -1.0 if way == "never" else None
    bad.signalled, bad.exited, bad.exit_code = None, 5.0, 137
    bad.state_error = "task: non-zero exit (137): dockerexec: unhealthy container"
    rollout.new = [bad]
    rollout.event(4.8, "container", action="health_status", health="unhealthy", **box(bad))
    if way != "never" or order == "stop-first":
        gone, back = rollout.old[0], Rollout().new[0]
        gone.announced = 0.3 if order == "stop-first" else 2.1
        gone.desired = gone.announced - 0.05
        gone.signalled = gone.announced + 2.0
        gone.exited = gone.signalled + 2.0
        back.task, back.number = "againtask1".ljust(25, "b"), 21
        back.created, back.started, back.warm, back.healthy = 6.2, 6.4, 7.0, 7.2
        rollout.new.append(back)
    return rollout


def box(life: Any) -> dict[str, Any]:
    return {"container": life.container, "service": "api", "task": life.task}


def scaled(by: int, *, healed: bool = True) -> Rollout:
    """One instance more for some seconds, or one less, and back."""
    rollout = without_the_update(Rollout())
    rollout.status = []
    rollout.plan["steps"][1] = {"phase": "scale", "fault": "scale", "replaces": False, "settings": {"by": by}}
    acted(rollout, "scale", settings={"by": by}, before={"replicas": 3}, lasting=True)
    if healed:
        acted(rollout, "heal", HEALED, number=2, heals=1)
    for life in rollout.old:
        stays(life)
    more = rollout.new[0]
    rollout.new = [more]
    if by > 0:
        more.slot = 4
        starts(more, 0.5)
        goes(more, HEALED + 0.2) if healed else stays(more)
    else:
        goes(rollout.old[2], 0.2)
        more.slot = 3
        starts(more, HEALED + 0.5)
        rollout.new = [more] if healed else []
    return rollout


def starts(life: Life, at: float) -> None:
    life.created, life.started, life.warm, life.healthy = at, at + 0.2, at + 1.5, at + 2.0


def goes(life: Life, at: float) -> None:
    life.announced, life.desired, life.signalled = at, at - 0.05, at + 2.0
    life.unready, life.closed, life.exited = at + 2.0, at + 4.0, at + 5.5


def without_the_bank(*, off: float = 0.4, until: float | None = 10.4) -> Rollout:
    """Three instances, and a dependency without a container for some seconds."""
    rollout = without_the_update(Rollout())
    rollout.status, rollout.new = [], []
    for life in rollout.old:
        stays(life)
    rollout.plan["kind"] = "destructive"
    rollout.plan["stack"]["healthcheck"] |= {"interval_seconds": 2.0, "timeout_seconds": 1.0, "retries": 2}
    rollout.plan["steps"][1] = {"phase": "without", "fault": "switch_off", "replaces": False, "settings": {}}
    settings = {"service": "bank"}
    acted(rollout, "switch_off", settings=settings, before={"service": "bank", "replicas": 1}, lasting=True)
    acted(rollout, "heal", 10.0, number=2, heals=1)
    rollout.event(-30.0, "container", service="bank", container="b1", action="start")
    rollout.event(off, "container", service="bank", container="b1", action="die", exit_code=0)
    if until is not None:
        rollout.event(until, "container", service="bank", container="b2", action="start")
    return rollout


def killed_by_its_health(rollout: Rollout, slot: int, at: float) -> Any:
    life = rollout.old[slot - 1]
    life.desired, life.signalled, life.exited, life.exit_code = at + 0.1, at, at + 0.5, 137
    life.state_error = "task: non-zero exit (137): dockerexec: unhealthy container"
    box = {"container": life.container, "service": "api", "task": life.task}
    rollout.event(at - 0.05, "container", action="health_status", health="unhealthy", **box)
    return life
