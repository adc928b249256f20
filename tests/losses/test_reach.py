from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from swarmtest.evidence.facts import Whole
from swarmtest.evidence.request import Request
from swarmtest.losses import Charge, Loss
from swarmtest.losses.advice import advise
from swarmtest.losses.mechanisms import Mechanism, mechanism_of
from swarmtest.losses.reach import Faults
from swarmtest.losses.records import read_records
from swarmtest.timeline import Partition
from tests.judge.builder import Rollout
from tests.judge.stories import frozen, killed, stopped_by_hand, without_its_dependency


def found(run: Rollout, request: str) -> tuple[Charge | None, Mechanism | None]:
    """What a request's loss is charged to, and how it came about."""
    judged = run.judged()
    one = next(one for one in judged.losses.accounted if one.request.id == request)
    return one.charge, mechanism_of(one, judged.timeline, judged.witness, judged.promises)


def lose(run: Rollout, at: float, until: float, *, rank: int = 0, started: bool = True) -> None:
    """A request ``x`` that's sent to an instance and lost there; started or not."""
    life = run.old[rank]
    if started:
        one = run.unanswered("x", at, until)
        one.on, one.steps = life, {"start": at + 0.002}
    else:
        run.bad_gateway("x", at, until, life)


@pytest.mark.parametrize(
    ("at", "until", "started", "charge", "mechanism"),
    [
        (-1.0, 0.06, True, Charge.FAULT, Mechanism.ON_PURPOSE),  # ran on it
        (0.02, 0.06, True, Charge.FAULT, Mechanism.ON_PURPOSE),
        (0.9, 0.91, False, Charge.FAULT, Mechanism.DETECTION),  # nobody could know yet
        (1.45, 1.46, False, Charge.FAULT, Mechanism.DETECTION),  # the limit is 1 s, and half a second for polls
        (1.8, 1.81, False, Charge.FRONT_DOOR, Mechanism.FRONT_DOOR_STALE),
        (9.0, 9.1, False, Charge.FRONT_DOOR, Mechanism.FRONT_DOOR_STALE),
    ],
)
def test_a_kill_reaches_as_far_as_the_front_door_s_time(
    at: float, until: float, started: bool, charge: Charge, mechanism: Mechanism
) -> None:
    run = killed()
    lose(run, at, until, started=started)
    assert found(run, "x") == (charge, mechanism)


def test_a_kill_excuses_nothing_on_another_instance() -> None:
    run = killed()
    lose(run, 0.3, 0.31, rank=1, started=False)
    assert found(run, "x")[0] is not Charge.FAULT


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.floats(-5, 15), st.floats(0.01, 4), st.integers(1, 2), st.booleans()), max_size=12))
def test_nothing_that_is_known_to_be_lost_on_a_survivor_is_ever_a_fault_s(
    losses: list[tuple[float, float, int, bool]],
) -> None:
    run = killed()
    run.rates = {"short": 1.0, "long": 0.5}
    for n, (at, seconds, rank, started) in enumerate(losses):
        if started:
            one = run.unanswered(f"x-{n}", at, at + seconds)
            one.on, one.steps = run.old[rank], {"start": at + 0.002}
        else:
            run.bad_gateway(f"x-{n}", at, at + seconds, run.old[rank])
    charged = {one.request.id: one.charge for one in run.judged().losses.seen}
    assert all(charged[f"x-{n}"] is not Charge.FAULT for n in range(len(losses)))


def test_a_door_that_takes_its_declared_fifteen_seconds_loses_what_it_may() -> None:
    run = killed()
    run.plan["front_door"]["within_seconds"] = 15.0
    lose(run, 14.0, 14.1, started=False)
    assert found(run, "x") == (Charge.FAULT, Mechanism.DETECTION)


@pytest.mark.parametrize(
    ("at", "charge"), [(-0.5, Charge.FAULT), (0.9, Charge.FAULT), (3.0, Charge.FRONT_DOOR), (7.5, Charge.FRONT_DOOR)]
)
def test_a_freeze_reaches_what_waits_there_and_what_is_sent_before_it_is_noticed(at: float, charge: Charge) -> None:
    run = frozen(8.0)
    run.plan["traffic"]["timeout_seconds"] = 0.4
    one = run.unanswered("x", at, max(at + 0.4, 0.3), client_outcome="timed_out")
    one.on, one.steps = run.old[0], {"start": 8.2}
    expected = Mechanism.FROZEN if charge is Charge.FAULT else Mechanism.FROZEN_UNNOTICED
    assert found(run, "x") == (charge, expected)


def test_what_is_lost_on_a_thawed_instance_much_later_is_its_own_doing() -> None:
    run = frozen(5.0)
    lose(run, 9.0, 9.5)
    assert found(run, "x")[0] is not Charge.FAULT


@pytest.mark.parametrize(
    ("kind", "act", "charge"),
    [
        ("destructive", "signal", Charge.FAULT),
        ("orderly", "signal", Charge.SHUTDOWN),
        ("destructive", "stop", Charge.SHUTDOWN),  # it has its own grace, and can drain
        ("orderly", "stop", Charge.SHUTDOWN),
    ],
)
def test_a_signal_by_hand_is_a_fault_where_losses_are_meant_to_be_and_a_stop_never_is(
    kind: str, act: str, charge: Charge
) -> None:
    run = stopped_by_hand(kind, act)
    lose(run, 0.5, 3.0)
    assert found(run, "x")[0] is charge


@pytest.mark.parametrize(("at", "charge"), [(2.0, Charge.FAULT), (9.0, Charge.FAULT), (14.0, Charge.BACKGROUND)])
def test_a_missing_dependency_reaches_until_its_dependents_had_time_to_come_back(at: float, charge: Charge) -> None:
    run = without_its_dependency(4.0)  # it starts again at 5 s
    one = run.served("x", at, at + 0.1, run.old[1], status=500)
    one.steps = {"start": at + 0.01, "finish": at + 0.09}
    owed, mechanism = found(run, "x")
    assert owed is charge
    assert (mechanism is Mechanism.DEPENDENCY_OFF) is (charge is Charge.FAULT)


def test_an_instance_that_its_health_check_killed_was_not_killed_by_its_dependency() -> None:
    """SkygearIO/skygear-server #279: the probe amplifies the outage; that's no fault of ours."""
    run = without_its_dependency(8.0)
    life = run.old[0]
    life.exited, life.exit_code = 5.0, 137
    life.state_error = "task: non-zero exit (137): dockerexec: unhealthy container"
    box = {"container": life.container, "service": "api", "task": life.task}
    run.event(4.0, "container", action="health_status", health="unhealthy", **box)
    lose(run, 4.5, 5.0)
    assert found(run, "x") == (Charge.SHUTDOWN, Mechanism.HEALTH_KILL)


def test_where_somebody_else_stopped_the_last_instance_no_health_check_is_to_blame() -> None:
    run = Rollout(replicas=1)
    life = run.old[0]
    run.new.clear()
    life.announced = life.desired = None
    life.signalled, life.unready, life.closed, life.exited, life.let_go = 1.0, 1.01, 3.0, 3.5, 1.5
    run.bad_gateway("x", 5.0, 5.1, None, status=503)
    assert found(run, "x")[1] is Mechanism.STOPPED


def all_die_of(run: Rollout, at: float) -> None:
    """The health check kills every instance, which is what makes an outage of a dependency one of the service."""
    for life in run.old:
        life.exited, life.exit_code = at, 137
        life.state_error = "task: non-zero exit (137): dockerexec: unhealthy container"
        box = {"container": life.container, "service": "api", "task": life.task}
        run.event(at - 1.0, "container", action="health_status", health="unhealthy", **box)


def test_an_answer_for_want_of_a_dependency_is_the_fault_s_whatever_becomes_of_its_instance() -> None:
    run = without_its_dependency(8.0)
    all_die_of(run, 5.0)
    one = run.served("x", 2.0, 2.1, run.old[1], status=500)
    one.steps = {"start": 2.01, "finish": 2.09}
    assert found(run, "x") == (Charge.FAULT, Mechanism.DEPENDENCY_OFF)


def test_what_finds_nobody_left_since_all_were_killed_for_it_is_not_the_fault_s() -> None:
    run = without_its_dependency(8.0)
    all_die_of(run, 5.0)
    run.bad_gateway("x", 6.0, 6.01, None)
    assert found(run, "x") == (Charge.FRONT_DOOR, Mechanism.HEALTH_KILL)


def test_what_is_sent_long_after_to_one_that_its_health_check_killed_is_the_front_door_s_to_mend() -> None:
    run = without_its_dependency(8.0)
    all_die_of(run, 5.0)
    run.bad_gateway("x", 12.0, 14.0, run.old[0], status=503)
    assert found(run, "x") == (Charge.FRONT_DOOR, Mechanism.FRONT_DOOR_STALE)


def test_what_a_front_door_turns_away_for_want_of_a_dependency_is_the_fault_s_while_all_live() -> None:
    run = without_its_dependency(8.0)
    run.bad_gateway("x", 6.0, 6.01, None)
    assert found(run, "x")[0] is Charge.FAULT


@pytest.mark.parametrize(
    ("after_warm", "expected"),
    [(0.5, (Charge.UNPLACED, Mechanism.OVERLOADED)), (-0.3, (Charge.START_UP, Mechanism.COLD_START))],
)
def test_what_a_warm_instance_turns_away_however_new_is_for_want_of_room(
    after_warm: float, expected: tuple[Charge, Mechanism]
) -> None:
    run = Rollout()
    life = run.new[0]
    at = (life.warm or 0.0) + after_warm
    one = run.served("x", at, at + 0.01, life, status=503, retry_after=1)
    one.steps = {"start": at + 0.002, "finish": at + 0.008}
    assert found(run, "x") == expected


def test_an_answer_that_the_front_door_does_not_wait_for_is_its_own_doing_with_nothing_going_on() -> None:
    run = Rollout(update=False)
    one = run.bad_gateway("x", 1.0, 3.0, run.old[0], status=504)
    one.on, one.steps = run.old[0], {"start": 1.01, "commit": 4.0, "finish": 4.01}
    assert found(run, "x") == (Charge.BACKGROUND, Mechanism.FRONT_DOOR_GIVES_UP)
    assert "timeout server in HAProxy" in (run.verdict("answered_every_request").advice or "")


def polled_each(seconds: float) -> Rollout:
    """An app that closes its listener at its signal, behind a door that asks for its list that often."""
    run = Rollout()
    run.plan["front_door"]["within_seconds"] = seconds
    for life in run.old:
        life.closed, life.exited = life.signalled, (life.signalled or 0) + 4.6
        at = (life.signalled or 0) + 0.1
        while at < (life.announced or 0) + seconds - 0.2:
            run.bad_gateway(f"{life.slot}-{at:.1f}", at, at + 0.01, life, kind="short")
            at += 0.5
    return run


def test_a_list_that_is_asked_for_each_15_s_is_to_be_mended_before_the_app() -> None:
    """traefik/traefik #7886: a refresh of 1 s cures it; start-first, health checks and a longer grace don't."""
    run = polled_each(15.0)
    verdict = run.verdict("answered_every_request")
    assert verdict.advice is not None
    assert verdict.advice.startswith("shorten the front door's refresh to less than the 2 s")
    assert "it takes up to 15 s, 14.6 s measured, so it sends for up to 13 s to an instance" in verdict.advice
    assert "keep accepting for 14 s" in verdict.advice
    assert "grace" not in verdict.advice
    document = run.document()
    assert document.advice[0] == verdict.advice  # and not twice in other words
    assert len(document.advice) == 1
    assert {one.charge for one in run.judged().losses.seen} == {Charge.SHUTDOWN, Charge.FRONT_DOOR}


def test_a_door_that_only_probes_is_never_told_before_the_signal() -> None:
    run = polled_each(4.0)
    run.plan["front_door"]["detects"] = "probe"
    advice = run.verdict("answered_every_request").advice or ""
    assert advice.startswith("let the front door probe more often, or let the app turn unready at the stop signal")
    assert "keep accepting for 3 s" in advice
    assert "takes up to 4 s from the announcement (3.6 s measured)" in advice


def test_a_stop_by_hand_is_announced_by_nobody_and_only_the_probe_can_tell_of_it() -> None:
    run = polled_each(4.0)
    for life in run.old:
        life.desired, life.announced = None, (life.exited or 0.0) + 0.1
    advice = run.verdict("answered_every_request").advice or ""
    assert advice.startswith("turn unready at the stop signal, and keep accepting after it")
    assert "announced by nobody" in advice


def test_a_list_that_is_asked_for_each_second_wins_against_the_signal() -> None:
    """The announcement comes two seconds before the signal: claiming a loss here would be wrong."""
    run = polled_each(1.0)
    assert run.verdict("answered_every_request").outcome == "passed"


def test_a_mesh_that_is_broken_after_the_update_is_no_shutdown_s() -> None:
    """docker/cli #2274, moby/moby #41364: all fresh connections time out while the tasks are healthy."""
    run = Rollout()
    run.plan["front_door"] |= {"mode": "mesh", "within_seconds": None}
    run.requests()
    for one in run.sent:
        if one.fields["sent"] > 1_000_020.0 and not one.fields["reused"]:
            none = {"status": None, "instance": None, "echoed": None, "framing": None, "first_byte": None}
            one.fields |= {**none, "client_outcome": "timed_out"}
            one.on, one.steps = None, {}
    verdict = run.verdict("answered_every_request")
    assert any("ingress broken, tasks healthy" in line for line in verdict.evidence)
    assert "in an update of their own, or stop-first" in (verdict.advice or "")
    assert "grace" not in (verdict.advice or "")


def test_every_mechanism_has_advice() -> None:
    promises = Rollout().judged().promises
    for mechanism in Mechanism:
        assert len(advise(mechanism, promises)) > 20


@pytest.mark.parametrize(
    ("at", "nobody"),
    [
        (9.0, False),  # one is ready
        (15.0, True),
        (20.5, True),  # the next one is ready, and the front door can't have found it yet
        (22.0, False),
    ],
)
def test_nobody_serves_until_the_front_door_has_had_time_to_find_the_next_one(at: float, nobody: bool) -> None:
    faults = Faults(spans=[(0.0, 10.0), (20.0, float("inf"))], spoilt_from=5.0, notice_seconds=1.5)
    request = Request(id="x", planned=at, sent=at, done=at + 0.01, client_outcome="complete")
    assert (faults.of(request, Loss.GATEWAY, None) is not None) is nobody


@pytest.mark.parametrize(
    ("ran", "served", "broken", "owes"),
    [(False, 0, (), False), (True, 0, (), True), (False, 3, (), True), (False, 0, ("x",), True)],
)
def test_one_that_never_ran_owes_no_records(ran: bool, served: int, broken: tuple[str, ...], owes: bool) -> None:
    judged = killed().judged()
    life = replace(judged.timeline.lifespans[-1], ran=ran, served=served, container="c-late")
    timeline = replace(judged.timeline, lifespans=(*judged.timeline.lifespans, life), broken=broken)
    partition = Partition(judged.requests.database, Whole(names_itself=True), {})
    records = read_records(timeline, judged.witness, partition, judged.aliases)
    assert (life in [gap.life for gap in records.gaps]) is owes


def test_a_task_that_was_dropped_before_its_process_began_did_not_run() -> None:
    run = Rollout()
    box = {"task": "dropped", "service": "api", "slot": 3, "node": "n1", "container": "c" * 64}
    run.event(1.0, "task", **box, desired="ready", state="ready", created=1_000_001.0)
    run.event(2.0, "task", **box, desired="shutdown", state="shutdown", created=1_000_001.0, exit_code=0)
    lives = {life.task: life for life in run.judged().timeline.lifespans}
    assert not lives["dropped"].ran
    assert all(life.ran for task, life in lives.items() if task != "dropped")
