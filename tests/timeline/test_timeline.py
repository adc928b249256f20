from __future__ import annotations

import pytest

from swarmtest.timeline import Lifespan
from tests.judge.builder import T0, Life, Rollout
from tests.judge.stories import killed


def life_of(rollout: Rollout, life: Life) -> Lifespan:
    return next(one for one in rollout.judged().timeline.lifespans if one.task == life.task)


def at(life: Lifespan, name: str) -> float | None:
    mark = life.mark(name)
    return None if mark is None else round(mark.at - T0, 3)


def test_all_marks_of_a_stop_are_those_that_were_seen() -> None:
    rollout = Rollout()
    found = life_of(rollout, rollout.old[0])
    seen = {name: at(found, name) for name in ("announced", "unready", "signalled", "closed", "exited", "killed")}
    assert seen == {"announced": 3.0, "unready": 5.0, "signalled": 5.0, "closed": 7.0, "exited": 8.5, "killed": None}
    assert found.cause == "stopped as asked"
    assert (found.exit_code, found.signal, found.generation) == (0, 15, "old")


def test_old_and_new_are_told_apart_by_when_they_were_made() -> None:
    rollout = Rollout()
    timeline = rollout.judged().timeline
    assert {life.task for life in timeline.old} == {life.task for life in rollout.old}
    assert {life.task for life in timeline.new} == {life.task for life in rollout.new}


def test_without_an_act_all_are_the_only_generation() -> None:
    assert {life.generation for life in Rollout(update=False).judged().timeline.lifespans} == {"only"}


def test_announced_is_what_dns_says_and_the_decision_is_kept_beside_it() -> None:
    rollout = Rollout()
    rollout.old[0].desired = 1.8
    found = life_of(rollout, rollout.old[0])
    announced = found.mark("announced")
    assert announced is not None
    assert announced.source.startswith("DNS: 10.0.1.11 left tasks.api")
    assert "-1.20 s" in announced.source
    assert found.desired_stop is not None
    assert found.desired_stop.at == pytest.approx(T0 + 1.8)


def test_where_dns_was_not_watched_the_decision_stands_in_and_says_so() -> None:
    rollout = Rollout()
    rollout.watches_names = False
    announced = life_of(rollout, rollout.old[0]).mark("announced")
    assert announced is not None
    assert "between desired state shutdown and 2 s before the signal" in announced.source
    assert announced.at - announced.error == pytest.approx(T0 + 2.85)
    assert announced.at + announced.error == pytest.approx(T0 + 3.0, abs=0.01)


def test_an_address_that_comes_back_was_not_gone() -> None:
    rollout = Rollout()
    rollout.event(1.0, "names", since=T0 + 0.95, name="tasks.api", addresses=[])
    listed = [life.address for life in rollout.old]
    rollout.event(1.1, "names", since=T0 + 1.05, name="tasks.api", addresses=listed)
    assert at(life_of(rollout, rollout.old[0]), "announced") == 3.0


def test_an_address_handed_to_a_later_task_still_left_when_it_left() -> None:
    rollout = Rollout(replicas=2)
    old, later = rollout.old[0], rollout.new[1]
    later.number = old.number + 100

    class Reused(Life):
        @property
        def address(self) -> str:
            return old.address

    rollout.new[1] = Reused(**{name: getattr(later, name) for name in later.__dataclass_fields__})
    rollout.new[1].created = rollout.new[1].started = 5.5
    assert at(life_of(rollout, old), "announced") == 3.0


def test_a_signal_is_no_exit_and_probes_are_nothing() -> None:
    """moby/moby #37520, bcicen/ctop PR #229: kill is a signal sent, exec_die the end of a probe."""
    rollout = Rollout()
    life = rollout.new[0]
    box = {"container": life.container, "service": "api", "task": life.task}
    for action in ("exec_create", "exec_start", "exec_die"):
        rollout.event(15.0, "container", action=action, exit_code=1, **box)
    rollout.event(16.0, "container", action="kill", signal=1, **box)
    found = life_of(rollout, life)
    assert found.mark("exited") is None
    assert found.cause is None


def test_the_die_event_wins_over_a_container_that_vanished() -> None:
    """moby/swarmkit #1372: with a task history of 0 the event stream is the only witness."""
    rollout = Rollout()
    life = rollout.old[0]
    rollout.drop(lambda e: e["kind"] == "task" and e.get("task") == life.task and e.get("state") == "shutdown")
    rollout.event(8.6, "container", action="destroy", container=life.container, service="api", task=life.task)
    found = life_of(rollout, life)
    assert at(found, "exited") == 8.5
    assert found.exit_code == 0


def test_without_the_engines_event_the_task_state_tells_the_exit_with_its_error_bar() -> None:
    rollout = Rollout()
    life = rollout.old[0]
    rollout.drop(lambda e: e.get("action") == "die" and e.get("task") == life.task)
    mark = life_of(rollout, life).mark("exited")
    assert mark is not None
    assert mark.error == pytest.approx(0.1)
    assert "task state" in mark.source


def test_a_broken_stream_is_said_and_nothing_is_made_up() -> None:
    rollout = Rollout()
    rollout.drop(lambda e: e["kind"] == "container" and e["t"] > T0 + 6.0)
    rollout.drop(lambda e: e["kind"] == "task" and e["t"] > T0 + 6.0)
    rollout.event(6.0, "stream_broken", what="engine events", error="EOF")
    timeline = rollout.judged().timeline
    assert timeline.broken == ("engine events: EOF",)
    assert next(life for life in timeline.lifespans if life.task == rollout.old[1].task).mark("exited") is None
    assert any("incomplete" in note for note in rollout.document().notes)


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ({"killed": 35.1, "exited": 35.12, "exit_code": 137}, "SIGKILL at the end of the grace"),
        ({"killed": 9.0, "exited": 9.02, "exit_code": 137}, "killed by somebody else"),
        ({"signalled": None, "killed": 9.0, "exited": 9.0, "exit_code": 137}, "killed by somebody else"),
        ({"announced": None, "desired": None, "signalled": None, "exited": 9.0, "exit_code": 3}, "crashed by itself"),
        ({"announced": None, "desired": None, "signalled": None, "exited": 9.0, "exit_code": 0}, "ended by itself"),
        ({"announced": None, "desired": 10.0, "signalled": 6.0, "exited": 9.0}, "stopped by somebody else"),
        ({}, "stopped as asked"),
    ],
)
def test_the_ways_to_end_are_told_apart(change: dict[str, float | None], cause: str) -> None:
    rollout = Rollout()
    for name, value in change.items():
        setattr(rollout.old[0], name, value)
    if "announced" in change:
        rollout.old[0].unready = rollout.old[0].closed = None
    rollout.ends = 40.0
    assert life_of(rollout, rollout.old[0]).cause == cause


def test_one_that_never_got_healthy_and_exits_with_0_is_ended_by_its_health_though_swarm_calls_it_complete() -> None:
    rollout = Rollout()
    life = rollout.old[0]
    life.announced = life.desired = None
    life.unready = life.closed = None
    after = (life.exited or 0.0) + 0.1
    rollout.event(after, "task", task=life.task, service="api", state="complete", desired="shutdown")
    health = {"container": life.container, "service": "api", "task": life.task, "health": "unhealthy"}
    rollout.event((life.signalled or 0.0) - 2.0, "container", action="health_status", **health)
    assert life_of(rollout, life).cause == "health check"


def test_an_act_of_our_own_is_no_somebody_else() -> None:
    rollout = Rollout()
    life = rollout.old[0]
    life.announced = life.desired = life.signalled = life.unready = life.closed = None
    life.killed, life.exited, life.exit_code = 2.0, 2.01, 137
    rollout.event(1.9, "act", id=7, name="kill", edge="began", target=life.container, settings={"signal": 9})
    assert life_of(rollout, life).cause == "killed by swarmtest"


def test_a_clock_that_is_off_is_put_right_and_one_within_its_error_is_left() -> None:
    """Unmeasured skew makes things exit before they start."""
    rollout = Rollout()
    rollout.offsets = {"n1": {"seconds": 5.0, "error": 0.2}}
    mark = life_of(rollout, rollout.old[0]).mark("exited")
    assert mark is not None
    assert (round(mark.at - T0, 3), mark.error) == (3.5, 0.2)
    rollout.offsets = {"n1": {"seconds": 0.1, "error": 0.2}}
    assert at(life_of(rollout, rollout.old[0]), "exited") == 8.5


def test_the_grace_is_the_stopping_tasks_own() -> None:
    """docker/cli #2441: a changed grace counts from the next replacement on."""
    rollout = Rollout()
    rollout.plan["stack"]["grace_seconds"] = 7.9
    assert life_of(rollout, rollout.old[0]).grace_seconds == 7.0


def test_what_happens_while_the_stack_is_removed_is_our_own_doing() -> None:
    rollout = Rollout()
    life = rollout.new[0]
    box = {"container": life.container, "service": "api", "task": life.task}
    rollout.event(rollout.ends + 5.0, "container", action="kill", signal=15, **box)
    rollout.event(rollout.ends + 5.5, "container", action="die", exit_code=0, **box)
    assert life_of(rollout, life).stopping is None


@pytest.mark.parametrize(
    "alias",
    ["task", "container", "short", "task_name", "container_name", "address", "address_port", "own_name", "unheard_of"],
)
def test_an_instance_is_found_by_any_of_its_names(alias: str) -> None:
    rollout = Rollout()
    life = rollout.old[0]
    names = {
        "task": life.task,
        "container": life.container,
        "short": life.container[:12],
        "task_name": f"api.1.{life.task}",
        "container_name": f"st-ab12_api.1.{life.task}",
        "address": life.address,
        "address_port": f"{life.address}:8000",
        "own_name": "pod-7",
        "unheard_of": "web-1",
    }
    if alias == "own_name":
        rollout.event(-20.0, "record", event="booted", instance="pod-7", seq=None, container=life.container)
    for _ in range(1 if alias != "unheard_of" else 3):
        one = rollout.served(f"x{len(rollout.sent)}", 1.0, 1.1, life)
        one.fields["instance"] = names[alias]
    found = rollout.judged().aliases.of_header(names[alias], T0 + 1.0)
    assert found is not None
    assert found.task == life.task


def test_an_empty_answer_of_dns_announces_nobody_that_lives_on() -> None:
    rollout = Rollout()
    rollout.event(rollout.ends, "names", since=T0 + rollout.ends - 0.1, name="tasks.api", addresses=[])
    assert life_of(rollout, rollout.new[0]).mark("announced") is None


def test_an_instance_that_had_ended_before_the_rollout_is_no_old_one() -> None:
    """moby/moby #41885: a task that should be gone for a day is not what this rollout replaces."""
    rollout = Rollout()
    rollout.old[0].announced, rollout.old[0].desired = -20.0, -20.05
    assert life_of(rollout, rollout.old[0]).generation == "only"


@pytest.mark.parametrize("seconds", [-0.004, 0.0, 0.004])
def test_an_instance_that_was_made_as_the_rollout_began_is_new_where_its_place_was_taken_until_then(
    seconds: float,
) -> None:
    """The clocks can't tell a task that was made 4 ms after T0 from one that was made 4 ms before it."""
    rollout = Rollout()
    rollout.offsets = {"n1": {"seconds": 0.0, "error": 0.005}}
    rollout.new[0].created, rollout.new[0].started = seconds, 0.05
    assert life_of(rollout, rollout.new[0]).generation == "new"
    assert rollout.document().outcome == "passed"


def test_an_instance_that_may_be_a_restart_of_before_is_not_called_new() -> None:
    rollout = Rollout()
    rollout.offsets = {"n1": {"seconds": 0.0, "error": 0.005}}
    rollout.new[0].created, rollout.new[0].started = 0.004, 0.05
    rollout.old[0].announced, rollout.old[0].desired, rollout.old[0].exited = None, -5.05, -5.0
    assert life_of(rollout, rollout.new[0]).generation == "only"


def test_a_signal_that_is_not_the_stop_signal_is_no_stop() -> None:
    rollout = Rollout()
    life = rollout.old[0]
    rollout.event(1.0, "container", action="kill", signal=1, container=life.container, service="api", task=life.task)
    assert at(life_of(rollout, life), "signalled") == 5.0
    rollout.plan["images"] = {"api": {"stop_signal": "SIGHUP"}}
    assert at(life_of(rollout, life), "signalled") == 1.0


def test_the_deploy_is_no_act_that_begins_a_rollout() -> None:
    rollout = Rollout(update=False)
    rollout.event(-40.0, "act", id=0, name="deploy", edge="began", target="st-ab12", settings={})
    assert rollout.judged().timeline.t0 is None


@pytest.mark.parametrize("took", [{"duration_ms": 250}, {"duration_s": 0.25}])
def test_a_proxy_may_count_in_milliseconds_or_in_seconds(took: dict[str, float]) -> None:
    rollout = Rollout()
    one = rollout.bad_gateway("lost", 3.1, 3.4, rollout.old[0])
    assert one.proxied is not None
    del one.proxied["duration_ms"]
    one.proxied |= took
    assert rollout.judged().witness.proxied["lost"][0].duration == 0.25


@pytest.mark.parametrize("server", ["-", "-:-", "", None])
def test_a_proxy_that_dialled_nobody_names_no_server(server: str | None) -> None:
    rollout = Rollout()
    one = rollout.bad_gateway("lost", 3.1, 3.4, None)
    assert one.proxied is not None
    one.proxied["server"] = server
    assert rollout.judged().witness.proxied["lost"][0].server is None


def test_a_task_that_we_killed_is_no_task_that_failed() -> None:
    assert killed().judged().timeline.failed_tasks == ()
    crashed = killed().drop(lambda event: event["kind"] == "act")
    assert len(crashed.judged().timeline.failed_tasks) == 1


def test_what_an_earlier_stack_of_the_same_name_left_is_no_instance() -> None:
    """The engine tells of a container's end when it has tidied up, which may be after the next deploy has begun."""
    rollout = Rollout()
    before = len(rollout.judged().timeline.lifespans)
    for action in ("die", "destroy"):
        rollout.event(-39.0, "container", action=action, service="api", task="gone", container="gonebox", exit_code=0)
    assert len(rollout.judged().timeline.lifespans) == before
    assert rollout.document().outcome == "passed"
