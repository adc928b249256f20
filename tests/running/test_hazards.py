"""What a plan can't do here, or will do to no end, is said before anything is deployed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from swarmtest.engine import EngineInfo
from swarmtest.engine.client import Client, NotThere, Refused
from swarmtest.faults import Fault
from swarmtest.faults.drain import Drain
from swarmtest.faults.freeze import Freeze
from swarmtest.faults.kill import Kill
from swarmtest.faults.make_room import MakeRoom
from swarmtest.faults.release import Release
from swarmtest.faults.rollback import Rollback
from swarmtest.faults.scale import Scale
from swarmtest.faults.signal import Signal
from swarmtest.faults.stop import Stop
from swarmtest.faults.unhealthy import Unhealthy
from swarmtest.faults.update import Update
from swarmtest.plan import Plan, Step, Target
from swarmtest.running.finding import Finding
from swarmtest.running.hazards import hazards, version_of
from swarmtest.running.order import Order
from swarmtest.stack.block.brief import read_brief
from swarmtest.stack.services import read_stack

NEW = EngineInfo("20.10.24+dfsg1", "1.41", "1.12", "127.0.0.1", True, "active", True, 1, True, "6.1", "20.10.24")


class Nodes:
    """An engine that knows its nodes, by the labels of each, and has one image."""

    def __init__(self, *labels: dict[str, str] | None) -> None:
        self.labels = labels

    def get(self, path: str) -> Any:
        if path.startswith("/images/"):
            if path == "/images/demo:2/json":
                return {}
            raise NotThere("no such image", 404) if "demo" in path else Refused("invalid reference format", 400)
        assert path == "/nodes", "nothing else is asked"
        return [{"Spec": {"Labels": labels}} for labels in self.labels]


def found(
    folder: Path,
    deploy: str,
    *faults: Fault,
    info: EngineInfo = NEW,
    nodes: tuple[dict[str, str] | None, ...] = (),
    target: Target | None = None,
    **plan: Any,
) -> list[Finding]:
    file = folder / "stack.yml"
    file.write_text(f"services: {{api: {{image: demo, ports: ['80:80'], deploy: {{{deploy}}}}}}}")
    stack = read_stack(file, {})
    steps = tuple(Step(fault.name, fault=fault, target=target) for fault in faults)
    order = Order(stack, read_brief(stack), "some", Plan(steps, **plan), (), folder, "ours", "abc")
    return hazards(cast("Client", Nodes(*nodes)), info, order)


ONE = Target(ranks=(0,))


@pytest.mark.parametrize(
    ("policy", "fault", "words"),
    [
        ("condition: none", Kill(), "replaces nothing"),
        ("condition: none", Stop(), "replaces nothing"),
        ("condition: on-failure", Stop(), "exits with 0"),
        ("condition: on-failure", Signal("SIGTERM"), "exits with 0"),
    ],
)
def test_an_instance_that_is_not_replaced_is_said_before(policy: str, fault: Fault, words: str, tmp_path: Path) -> None:
    [finding] = found(tmp_path, f"replicas: 3, restart_policy: {{{policy}}}", fault, target=ONE)
    assert (finding.state, finding.subject) == ("warning", "restart policy")
    assert words in finding.text
    assert f"{fault.name} ends" in finding.text


@pytest.mark.parametrize(
    ("policy", "fault"),
    [
        ("condition: any", Kill()),
        ("condition: any", Stop()),
        ("condition: on-failure", Kill()),
        ("condition: on-failure", Signal("SIGKILL")),
        ("condition: none", Signal("SIGUSR1")),
        ("condition: none", Freeze()),
        ("condition: none", Update()),
        ("condition: any, max_attempts: 1", Kill()),
    ],
)
def test_a_policy_that_replaces_it_gives_no_word(policy: str, fault: Fault, tmp_path: Path) -> None:
    assert found(tmp_path, f"replicas: 3, restart_policy: {{{policy}}}", fault, target=ONE) == []


def test_more_ends_in_a_slot_than_the_policy_replaces_are_counted(tmp_path: Path) -> None:
    policy = "replicas: 3, restart_policy: {condition: any, max_attempts: 2}"
    assert found(tmp_path, policy, Kill(), Kill(), target=ONE) == []
    [finding] = found(tmp_path, policy, Kill(), Stop(), Kill(), target=ONE)
    assert "2 times and no more, and the plan ends one in a slot 3 times" in finding.text


@pytest.mark.parametrize(
    ("version", "action", "words"),
    [
        ("20.10.9", "rollback", "the rollback may never happen"),
        ("19.03.15", "rollback", "the rollback may never happen"),
        ("20.10.8", "pause", "the pause may never happen"),
        ("20.10.10", "rollback", "only slower"),
        ("20.10.24+dfsg1", "rollback", "only slower"),
        ("29.0.1", "rollback", "only slower"),
    ],
)
def test_a_delay_that_hides_failures_is_as_bad_as_the_engine_is_old(
    version: str, action: str, words: str, tmp_path: Path
) -> None:
    # moby/moby #37972, #42875
    policy = f"replicas: 1, update_config: {{delay: 30s, monitor: 5s, failure_action: {action}}}"
    [finding] = found(tmp_path, policy, Update(), info=replace(NEW, version=version))
    assert (finding.state, finding.advice) == ("warning", "set `monitor` above `delay`")
    assert words in finding.text


@pytest.mark.parametrize("policy", ["delay: 4s, monitor: 5s", "monitor: 5s", "delay: 9s, failure_action: continue"])
def test_a_delay_that_hides_nothing_gives_no_word(policy: str, tmp_path: Path) -> None:
    assert found(tmp_path, f"replicas: 1, update_config: {{{policy}}}", Update()) == []


def test_a_delay_matters_only_to_updates(tmp_path: Path) -> None:
    assert found(tmp_path, "replicas: 3, update_config: {delay: 30s}", Kill(), target=ONE) == []


def test_a_drain_on_the_only_node_is_refused_with_the_reason(tmp_path: Path) -> None:
    # moby/moby #34139: a drain stops all tasks of the node at once
    [finding] = found(tmp_path, "replicas: 3", Drain())
    assert finding.state == "missing"
    assert "one node" in finding.text
    assert finding.as_error().exit_code == 2


def test_a_drain_needs_a_node_that_says_it_may_be_drained(tmp_path: Path) -> None:
    two = replace(NEW, nodes=2)
    [finding] = found(tmp_path, "replicas: 3", Drain(), info=two, nodes=(None, {"swarmtest.allow": "false"}))
    assert (finding.state, "none of the 2 nodes" in finding.text) == ("missing", True)
    assert found(tmp_path, "replicas: 3", Drain(), info=two, nodes=(None, {"swarmtest.allow": "true"})) == []


def test_a_step_that_hurts_too_many_is_said_to_be_skipped(tmp_path: Path) -> None:
    [finding] = found(tmp_path, "replicas: 2", Kill(), target=Target(draw=2))
    assert "hurts 2 of 2 instances, and 1 must be left" in finding.text
    assert "3 replicas or more" in finding.advice
    assert found(tmp_path, "replicas: 2", Kill(), target=Target(draw=2), floor=0) == []
    assert found(tmp_path, "replicas: 3", Kill(), target=Target(draw=2)) == []


def test_scaling_in_below_the_floor_is_said_to_be_skipped(tmp_path: Path) -> None:
    [finding] = found(tmp_path, "replicas: 1", Scale(by=-1))
    assert "scale takes away 1 of 1 instance, and 1 must be left" in finding.text
    assert finding.advice == "give api 2 replicas or more"
    assert found(tmp_path, "replicas: 2", Scale(by=-1)) == []
    assert found(tmp_path, "replicas: 1", Scale(by=2)) == []


def test_a_global_service_has_more_instances_only_with_more_nodes(tmp_path: Path) -> None:
    [finding] = found(tmp_path, "mode: global", Kill(), target=ONE)
    assert finding.advice == "use a swarm of 2 nodes or more"


def test_room_that_was_made_before_counts(tmp_path: Path) -> None:
    file = tmp_path / "stack.yml"
    file.write_text("services: {api: {image: demo, ports: ['80:80']}}")
    stack = read_stack(file, {})
    steps = (Step("room", fault=MakeRoom()), Step("stop", fault=Stop(), target=ONE))
    order = Order(stack, read_brief(stack), "stop", Plan(steps), (), tmp_path, "ours", "abc")
    assert hazards(cast("Client", Nodes()), NEW, order) == []


def test_a_release_that_cannot_fail_in_time_is_refused(tmp_path: Path) -> None:
    [finding] = found(tmp_path, "replicas: 3, update_config: {monitor: 2s}", Unhealthy("soon"))
    assert (finding.state, "monitor of 2 s" in finding.text) == ("missing", True)
    assert found(tmp_path, "replicas: 3, update_config: {monitor: 16s}", Unhealthy("soon")) == []
    assert found(tmp_path, "replicas: 3, update_config: {monitor: 2s}", Unhealthy("never")) == []


def test_a_monitor_that_a_shutdown_may_outlast_is_said(tmp_path: Path) -> None:
    [finding] = found(tmp_path, "replicas: 3, update_config: {monitor: 15s}", Unhealthy("soon"))
    assert (finding.state, finding.subject) == ("warning", "update_config")
    assert "up to 16 s after it got healthy (the grace is 10 s); a monitor of 15 s may be over" in finding.text


def test_a_rollback_needs_something_to_go_back_from(tmp_path: Path) -> None:
    [finding] = found(tmp_path, "replicas: 3", Rollback(), Release(image="demo:2"))
    assert (finding.state, "no previous spec" in finding.text) == ("missing", True)
    assert found(tmp_path, "replicas: 3", Release(image="demo:2"), Rollback()) == []


def test_an_image_to_release_that_is_not_here_is_said_and_one_that_can_be_none_is_refused(tmp_path: Path) -> None:
    assert found(tmp_path, "replicas: 3", Release(image="demo:2"), Release(environment={"A": "b"})) == []
    [finding] = found(tmp_path, "replicas: 3", Release(image="demo:3"), Release(image="demo:3"))
    assert (finding.state, finding.text) == ("warning", "demo:3, which is to be released, isn't here")
    [finding] = found(tmp_path, "replicas: 3", Release(image="-x"))
    assert (finding.state, "'-x' can't be the name of an image" in finding.text) == ("missing", True)


def test_what_is_global_cannot_be_scaled(tmp_path: Path) -> None:
    [finding] = found(tmp_path, "mode: global", Scale(by=1))
    assert (finding.state, "can't be scaled" in finding.text) == ("missing", True)


def test_a_version_that_nobody_can_read_counts_as_new() -> None:
    assert version_of(replace(NEW, version="dev")) > (99,)
