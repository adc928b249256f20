from __future__ import annotations

from typing import Any

import pytest

from swarmtest.timeline import Timeline
from tests.judge.builder import T0, Life, Rollout


def hurt(rollout: Rollout, number: int, name: str, at: float, lives: list[Life], **fields: Any) -> None:
    """An act in the trace that hurts these instances, and takes a tenth of a second."""
    named = [{"task": life.task, "container": life.container, "slot": life.slot, "node": "n1"} for life in lives]
    both = {"id": number, "name": name, "target": "api", "settings": {}, "instances": named, "before": {}}
    both |= {"prepares": False, "lasting": name == "freeze", **fields}
    rollout.event(at, "act", edge="began", **both)
    rollout.event(at + 0.1, "act", edge="ended", outcome="ok", error=None, **both)


def quiet(replicas: int = 3) -> Rollout:
    rollout = Rollout(replicas, update=False)
    rollout.plan["steps"].append({"phase": "hurt", "fault": "kill", "replaces": False, "prepares": False})
    return rollout


def tasks(timeline: Timeline) -> set[str]:
    return {life.task for life in timeline.meant_to_stop}


def test_what_is_healed_or_prepared_begins_nothing_that_is_judged() -> None:
    rollout = quiet()
    hurt(rollout, 0, "deploy", -40.0, [])
    hurt(rollout, 1, "release", -5.0, [], prepares=True)
    hurt(rollout, 2, "heal", 1.0, [], heals=1)
    hurt(rollout, 3, "kill", 2.0, [rollout.old[0]])
    hurt(rollout, 4, "update", 4.0, [])
    assert rollout.judged().timeline.t0 == T0 + 2.0


def test_a_trace_that_knows_no_preparing_begins_with_its_update() -> None:
    rollout = Rollout()
    rollout.event(-1.0, "act", id=7, name="kill", edge="began", target="x", settings={})
    assert rollout.judged().timeline.t0 == T0


def test_a_victim_is_hurt_from_the_act_s_beginning_until_its_healing_is_done() -> None:
    rollout = quiet()
    hurt(rollout, 1, "freeze", 1.0, rollout.old[:2])
    hurt(rollout, 2, "heal", 5.0, rollout.old[:2], heals=1, lasting=False)
    timeline = rollout.judged().timeline
    frozen = [victim for victim in timeline.victims if victim.name == "freeze"]
    assert [(v.task, v.hurt_at, v.healed_at, v.outcome) for v in frozen] == [
        (life.task, T0 + 1.0, T0 + 5.1, "ok") for life in rollout.old[:2]
    ]
    assert not any(victim.orderly for victim in frozen)


def test_healing_that_failed_heals_nothing() -> None:
    rollout = quiet()
    hurt(rollout, 1, "freeze", 1.0, rollout.old[:1])
    both = {"id": 2, "name": "heal", "target": "api", "settings": {}, "heals": 1, "prepares": False}
    rollout.event(5.0, "act", edge="began", **both)
    rollout.event(5.1, "act", edge="ended", outcome="failed", error="no such container", **both)
    assert rollout.judged().timeline.victims[0].healed_at is None


def test_a_step_that_a_guard_rail_forbade_is_kept_apart() -> None:
    rollout = quiet()
    rollout.event(1.0, "act", edge="skipped", id=1, name="kill", target="api", settings={}, reason="2 run")
    timeline = rollout.judged().timeline
    assert [act.get("reason") for act in timeline.skipped] == ["2 run"]
    assert timeline.victims == ()
    assert timeline.t0 is None


def test_who_is_killed_or_stays_is_not_meant_to_stop() -> None:
    rollout = quiet()
    victim = rollout.old[0]
    victim.killed, victim.exited, victim.exit_code, victim.state_error = 1.05, 1.06, 137, "task: non-zero exit (137)"
    victim.desired = 1.1
    hurt(rollout, 1, "kill", 1.0, [victim])
    timeline = rollout.judged().timeline
    assert tasks(timeline) == set()
    assert len(timeline.old) == 3
    assert next(life for life in timeline.old if life.task == victim.task).cause == "killed by swarmtest"


@pytest.mark.parametrize(
    ("name", "change", "cause"),
    [
        ("stop", {"exited": 3.0}, "stopped by swarmtest"),
        ("stop", {"killed": 31.1, "exited": 31.2, "exit_code": 137}, "SIGKILL at the end of the grace"),
        ("stop", {"killed": 4.0, "exited": 4.1, "exit_code": 137}, "killed by somebody else"),
        ("signal", {"exited": 3.0}, "stopped by swarmtest"),
        ("kill", {"signalled": None, "killed": 1.1, "exited": 1.1, "exit_code": 137}, "killed by swarmtest"),
    ],
)
def test_what_ended_a_victim_is_told_by_the_act_that_names_it(name: str, change: dict[str, Any], cause: str) -> None:
    rollout = quiet()
    life = rollout.old[0]
    life.signalled = 1.05
    for field, value in change.items():
        setattr(life, field, value)
    life.desired = (life.exited or 0) + 0.1
    rollout.ends = 40.0
    hurt(rollout, 1, name, 1.0, [life])
    timeline = rollout.judged().timeline
    assert next(one for one in timeline.old if one.task == life.task).cause == cause
    assert tasks(timeline) == ({life.task} if "somebody" not in cause and name != "kill" else set())


def test_an_instance_that_swarm_stops_by_itself_was_not_stopped_by_an_earlier_signal_of_ours() -> None:
    rollout = Rollout()
    life = rollout.old[1]
    hurt(rollout, 9, "signal", 9.5, [life], settings={"signal": "SIGUSR1"})
    assert next(one for one in rollout.judged().timeline.old if one.task == life.task).cause == "stopped as asked"


def test_a_rollout_means_all_old_ones_but_those_that_were_killed() -> None:
    rollout = Rollout()
    rollout.plan["steps"].append({"phase": "kill", "fault": "kill", "replaces": False, "prepares": False})
    life = rollout.old[2]
    life.announced = life.desired = life.signalled = life.unready = life.closed = None
    life.killed, life.exited = 11.0, 11.01
    hurt(rollout, 2, "kill", 10.9, [life])
    assert tasks(rollout.judged().timeline) == {life.task for life in rollout.old[:2]}


def test_one_that_froze_while_it_stopped_is_judged_as_any_other() -> None:
    rollout = Rollout()
    hurt(rollout, 2, "freeze", 5.1, [rollout.old[0]])
    hurt(rollout, 3, "freeze", 1.0, [rollout.old[1]])
    timeline = rollout.judged().timeline
    assert [victim.in_stop for victim in timeline.victims] == [False, True]
    assert tasks(timeline) == {rollout.old[0].task, rollout.old[2].task}


def test_in_a_mix_new_ones_that_were_asked_to_stop_are_judged_too() -> None:
    rollout = Rollout()
    rollout.plan["steps"].append({"phase": "in", "fault": "scale", "replaces": False, "prepares": False})
    life = rollout.new[0]
    life.desired, life.announced, life.signalled, life.exited = 14.95, 15.0, 17.0, 18.0
    assert tasks(rollout.judged().timeline) == {one.task for one in (*rollout.old, life)}


@pytest.mark.parametrize(("fault", "expected"), [("update", 3), ("unhealthy", 1)])
def test_a_version_that_is_not_meant_to_stay_replaces_nobody_for_good(fault: str, expected: int) -> None:
    rollout = Rollout()
    rollout.plan["steps"][1] |= {"fault": fault, "replaces": True, "prepares": False}
    for life in rollout.old[1:]:
        life.announced = life.desired = life.signalled = life.unready = life.closed = life.exited = None
    assert len(rollout.judged().timeline.meant_to_stop) == expected


def test_a_stop_after_the_traffic_proves_nothing_and_is_not_judged() -> None:
    rollout = quiet()
    rollout.plan["steps"][-1]["fault"] = "scale"
    hurt(rollout, 1, "scale", 0.0, [])
    rollout.requests()
    last = max(one.fields["sent"] for one in rollout.sent) - T0
    life = rollout.old[2]
    life.desired, life.announced, life.signalled, life.exited = last + 1.0, last + 1.1, last + 3.0, last + 3.1
    assert tasks(rollout.judged().timeline) == set()


def test_the_words_of_two_clients_are_added_up() -> None:
    rollout = quiet()
    rollout.event(9.0, "traffic", event="stopped", client="burst", sent=40, cpu_share_max=0.7, late_ms_p99=1.0)
    rollout.event(8.9, "traffic", event="calibrated", client="burst", ok=False)
    rollout.traffic |= {"sent": 100}
    traffic = rollout.judged().timeline.traffic
    assert (traffic["stopped"]["sent"], traffic["stopped"]["cpu_share_max"]) == (140, 0.7)
    assert traffic["calibrated"]["ok"] is False


def test_a_client_that_never_said_how_much_it_sent_leaves_the_sum_unsaid() -> None:
    rollout = quiet()
    rollout.event(9.0, "traffic", event="tick", client="burst", sent=40)
    assert "stopped" not in rollout.judged().timeline.traffic


def test_what_the_guard_said_is_kept() -> None:
    rollout = quiet()
    rollout.event(3.0, "guard", name="stop-at", text="9.1 % lost over 5 s (limit 5 %)")
    assert rollout.judged().timeline.stopped_by_guard == "9.1 % lost over 5 s (limit 5 %)"


def test_a_rollout_that_the_guard_took_back_is_judged_by_those_that_went() -> None:
    rollout = Rollout()
    hurt(rollout, 2, "rollback", 9.0, [])
    stays, gone = rollout.old[2], rollout.new[0]
    stays.announced = stays.desired = stays.signalled = stays.unready = stays.closed = stays.exited = None
    gone.desired, gone.announced, gone.signalled, gone.exited = 9.5, 9.6, 11.6, 13.0
    rollout.ends = 20.0
    assert tasks(rollout.judged().timeline) == {rollout.old[0].task, rollout.old[1].task, gone.task}
