"""Runs in which something was hurt, made of numbers: each goes well until a test changes it."""

from __future__ import annotations

from typing import Any

from tests.judge.builder import Life, Rollout

HURT = (
    "hurt_what_was_planned",
    "lost_only_to_the_fault",
    "recovered_in_time",
    "delivered_the_traffic",
    "ids_on_every_record",
    "handled_each_request_once",
)
DELAY = 5.0
"""Restart delay of the stack."""


def hurting(
    fault: str, kind: str = "destructive", replicas: int = 3, front_door: str = "proxy", **step: Any
) -> Rollout:
    """A run whose only step hurts, with nothing hurt yet."""
    rollout = Rollout(replicas, front_door=front_door, update=False)
    rollout.ends = 20.0
    base = {"phase": "hurt", "settings": {}, "replaces": False, "prepares": False, "target": {"ranks": [0]}}
    rollout.plan["steps"].append({**base, "fault": fault, **step})
    rollout.plan |= {"scenario": fault, "kind": kind, "checks": list(HURT)}
    rollout.plan["stack"] |= {"restart_condition": "any", "restart_delay_seconds": DELAY}
    return rollout


def replacement(of: Life, created: float, started: float, number: int = 11) -> Life:
    """A task that takes the place of another one, ready 2.7 s after its start."""
    name = f"new{number}".ljust(25, "n")
    ready = started + 2.7
    return Life(name, of.slot, number, created, started, healthy=ready, warm=ready - 0.5)


def dies(rollout: Rollout, life: Life, at: float, number: int = 11) -> Life:
    """An instance that gets SIGKILL, and what Swarm puts in its place."""
    life.killed, life.exited, life.exit_code = at + 0.05, at + 0.06, 137
    life.let_go, life.state_error = at + 0.8, "task: non-zero exit (137)"
    new = replacement(life, at + 0.2, at + DELAY + 0.3, number)
    rollout.new.append(new)
    return new


def killed(ranks: tuple[int, ...] = (0,), **how: Any) -> Rollout:
    """Instances are killed at T0; the front door notices within 0.8 s, Swarm replaces them after 5 s."""
    rollout = hurting("kill", target={"ranks": list(ranks)}, **how)
    for n, rank in enumerate(ranks):
        dies(rollout, rollout.old[rank], 0.0, 11 + n)
    return rollout.act(1, "kill", 0.0, [rollout.old[rank] for rank in ranks])


def frozen(seconds: float = 5.0, **how: Any) -> Rollout:
    """The first instance stands still for some seconds; the front door notices within 0.8 s."""
    rollout = hurting("freeze", seconds=seconds, **how)
    life = rollout.old[0]
    life.frozen, life.let_go = (0.05, seconds + 0.08), 0.8
    rollout.act(1, "freeze", 0.0, [life], before={"containers": [life.container]})
    return rollout.heals(2, of=1, at=seconds, lives=[life])


def stopped_by_hand(kind: str = "orderly", act: str = "stop", **how: Any) -> Rollout:
    """The first instance is stopped by hand, drains, and is replaced 5 s after its exit."""
    rollout = hurting(act, kind, **how)
    life = rollout.old[0]
    life.signalled = life.unready = 0.05
    life.let_go, life.closed, life.exited = 0.9, 2.05, 6.0
    rollout.new.append(replacement(life, 6.2, 6.0 + DELAY + 0.3))
    return rollout.act(1, act, 0.0, [life])


def scaled_in(**how: Any) -> Rollout:
    """One instance less from T0 to second 10."""
    rollout = hurting("scale", "orderly", settings={"by": -1}, target=None, seconds=3.0, **how)
    life = rollout.old[-1]
    life.desired, life.announced, life.signalled, life.unready = 0.1, 0.2, 2.1, 2.1
    life.closed, life.exited = 4.1, 6.0
    rollout.new.append(replacement(life, 10.2, 10.3))
    rollout.act(1, "scale", 0.0, settings={"by": -1}, before={"replicas": 3})
    return rollout.heals(2, of=1, at=10.0)


def terminated_by_force() -> Rollout:
    """A rollout with a grace of 1 s on purpose: what still runs is killed."""
    rollout = Rollout()
    rollout.plan |= {"scenario": "forced-termination", "kind": "destructive", "checks": list(HURT)}
    rollout.plan |= {"deployed_with": {"stop_grace_period": "1s"}}
    rollout.plan["steps"][1] |= {"replaces": True, "prepares": False}
    rollout.plan["stack"] |= {"grace_seconds": 1, "restart_condition": "any", "restart_delay_seconds": DELAY}
    for life in rollout.old:
        life.closed = None
        life.killed = (life.signalled or 0) + 1.05
        life.exited, life.exit_code = life.killed + 0.02, 137
    return rollout


def drained_too_long() -> Rollout:
    """A rollout in which each old instance stands still from its signal on, until its grace is over."""
    rollout = terminated_by_force()
    rollout.plan["deployed_with"] = {"stop_grace_period": "4s"}
    rollout.plan["stack"]["grace_seconds"] = 4
    rollout.plan["steps"][1] |= {"on_stop": {"fault": "freeze", "settings": {}, "seconds": 20.0}}
    for n, life in enumerate(rollout.old):
        life.unready = life.closed = None
        life.killed = (life.signalled or 0) + 4.05
        life.exited = life.killed + 0.02
        life.frozen = ((life.signalled or 0) + 0.15, life.exited + 1.0)
        rollout.act(2 + 2 * n, "freeze", (life.signalled or 0) + 0.1, [life])
        rollout.heals(3 + 2 * n, of=2 + 2 * n, at=life.exited + 1.0, lives=[life])
    return rollout


def without_its_dependency(seconds: float = 4.0) -> Rollout:
    """A service that the one under test needs is off for a while; the app says 500 meanwhile."""
    rollout = hurting("switch_off", settings={"service": "bank"}, target=None, seconds=seconds)
    bank = {"container": "bb" * 32, "service": "bank", "task": "bank1"}
    later = {"container": "cc" * 32, "service": "bank", "task": "bank2"}
    rollout.event(-35.0, "container", action="start", **bank)
    rollout.event(0.3, "container", action="die", exit_code=0, **bank)
    rollout.event(seconds + 1.0, "container", action="start", **later)
    rollout.act(1, "switch_off", 0.0, settings={"service": "bank"}, before={"service": "bank", "replicas": 1})
    rollout.heals(2, of=1, at=seconds)
    rollout.requests()
    for one in rollout.sent:
        began = float(one.fields["sent"]) - 1_000_000.0
        if 0.3 < began < seconds + 1.0 and one.fields["kind"] == "short":
            one.fields["status"] = 500
    return rollout


def turns_bad_late() -> Rollout:
    """A release that gets healthy, and whose health check fails when the update is long over."""
    rollout = Rollout()
    rollout.plan |= {"scenario": "unhealthy-late", "kind": "destructive", "checks": list(HURT)}
    rollout.plan["steps"][1] |= {"fault": "unhealthy", "settings": {"way": "late"}, "replaces": True, "prepares": False}
    rollout.drop(lambda event: event["kind"] == "act" and event["name"] == "update")
    rollout.act(1, "unhealthy", 0.0, settings={"way": "late"})
    for life in rollout.new:
        life.announced, life.desired, life.signalled, life.exited = 19.0, 18.9, 21.0, 25.0
        life.state_error = "task: non-zero exit (0): dockerexec: unhealthy container"
        box = {"container": life.container, "service": "api", "task": life.task}
        rollout.event(18.0, "container", action="health_status", health="unhealthy", **box)
    return rollout


def killed_at_the_end_of_the_grace(rollout: Rollout, seconds: float = 4.0) -> list[Life]:
    """The old instances, each killed when its grace was over."""
    rollout.plan["stack"]["grace_seconds"] = seconds
    for life in rollout.old:
        life.killed = life.signalled + seconds + 0.05  # type: ignore[operator]
        life.exited, life.exit_code = life.killed + 0.02, 137
    return rollout.old
