"""Only what's ours is hurt, or what says that it may be; and what's hurt can be let go on."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from swarmtest.engine import hurting
from swarmtest.engine.client import Client, NotThere, Refused
from swarmtest.engine.swarm import SwarmDeployment
from swarmtest.errors import UsageError
from tests.engine.fake_engine import LABEL, FakeEngine


@pytest.fixture
def deployment(client: Client, engine: FakeEngine) -> SwarmDeployment:
    def container(name: str, **labels: str) -> dict[str, Any]:
        return {"Id": name, "Config": {"Labels": labels or None}}

    engine.objects["containers"] = [
        container("mine", **{LABEL: "ours"}),
        container("theirs", **{LABEL: "others"}),
        container("bare"),
        container("lent", **{LABEL: "others", "swarmtest.allow": "true"}),
        container("kept", **{"swarmtest.allow": "yes"}),
    ]
    return SwarmDeployment(client, "ours", sleep=engine.sleep, clock=engine.now)


def sent(engine: FakeEngine) -> list[tuple[str, dict[str, str]]]:
    """What was posted, with its query."""
    return [(path, query) for (verb, path), query in zip(engine.asked, engine.queries, strict=True) if verb == "POST"]


@pytest.mark.parametrize("container", ["mine", "lent"])
def test_a_container_that_is_ours_or_says_it_may_be_is_hurt(
    container: str, deployment: SwarmDeployment, engine: FakeEngine
) -> None:
    deployment.kill(container)
    deployment.kill(container, "SIGTERM")
    deployment.pause(container)
    deployment.unpause(container)
    assert sent(engine) == [
        (f"/containers/{container}/kill", {"signal": "SIGKILL"}),
        (f"/containers/{container}/kill", {"signal": "SIGTERM"}),
        (f"/containers/{container}/pause", {}),
        (f"/containers/{container}/unpause", {}),
    ]


@pytest.mark.parametrize("container", ["theirs", "bare", "kept"])
@pytest.mark.parametrize("way", ["kill", "pause", "unpause", "stop"])
def test_anything_else_is_refused_before_anything_is_sent(
    container: str, way: str, deployment: SwarmDeployment, engine: FakeEngine
) -> None:
    with pytest.raises(UsageError, match=r"isn't of the stack ours, .* label it swarmtest\.allow=true"):
        getattr(deployment, way)(container, *([10.0] if way == "stop" else []))
    assert sent(engine) == []


def test_a_container_that_is_gone_is_an_error_to_hurt_and_none_to_let_go_on(deployment: SwarmDeployment) -> None:
    for way in (deployment.kill, deployment.pause):
        with pytest.raises(NotThere):
            way("gone")
    deployment.unpause("gone")


@pytest.mark.parametrize("words", ["Container mine is not paused", "Container mine is not running"])
def test_letting_go_on_what_is_not_frozen_does_no_harm(
    words: str, deployment: SwarmDeployment, engine: FakeEngine
) -> None:
    engine.before = lambda verb, _path: (409, {"message": words}) if verb == "POST" else None
    deployment.unpause("mine")


def test_a_container_that_cannot_be_let_go_on_is_an_error(deployment: SwarmDeployment, engine: FakeEngine) -> None:
    engine.before = lambda verb, _path: (500, {"message": "freezer: device busy"}) if verb == "POST" else None
    with pytest.raises(Refused, match="device busy"):
        deployment.unpause("mine")


def test_a_stop_has_the_grace_in_whole_seconds_as_the_engine_counts_it(
    deployment: SwarmDeployment, engine: FakeEngine
) -> None:
    deployment.stop("mine", 30.9)
    deployment.stop("mine", 0.9)
    assert sent(engine) == [("/containers/mine/stop", {"t": "30"}), ("/containers/mine/stop", {"t": "0"})]


def test_a_stop_does_not_wait_for_the_exit(
    deployment: SwarmDeployment, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hurting, "STOP_ANSWER_SECONDS", 0.05)
    asked, exited = threading.Event(), threading.Event()
    engine.streams["/containers/mine/stop"] = [[asked.set, lambda: exited.wait(5.0), b""]]
    deployment.stop("mine", 30.0)
    assert asked.wait(5.0)
    assert not exited.is_set()
    exited.set()
    for thread in threading.enumerate():
        if thread.name == "stop mine":
            thread.join(5.0)


def test_a_stop_that_is_refused_is_an_error(deployment: SwarmDeployment, engine: FakeEngine) -> None:
    engine.before = lambda verb, _path: (500, {"message": "no such process"}) if verb == "POST" else None
    with pytest.raises(Refused, match="no such process"):
        deployment.stop("mine", 10.0)


@pytest.fixture
def nodes(engine: FakeEngine) -> list[dict[str, Any]]:
    def node(name: str, **labels: str) -> dict[str, Any]:
        spec = {"Labels": labels or None, "Availability": "active", "Role": "worker"}
        return {"ID": name, "Version": {"Index": 10}, "Spec": spec, "Description": {"Hostname": f"host-{name}"}}

    engine.objects["nodes"] = [node("n1"), node("n2", **{"swarmtest.allow": "true"})]
    return engine.objects["nodes"]


def test_a_node_that_says_it_may_be_drained_is_and_comes_back(
    deployment: SwarmDeployment, nodes: list[dict[str, Any]]
) -> None:
    assert deployment.availability("n2") == "active"
    deployment.set_availability("n2", "drain")
    assert nodes[1]["Spec"] == {"Labels": {"swarmtest.allow": "true"}, "Availability": "drain", "Role": "worker"}
    deployment.set_availability("n2", "active")
    deployment.set_availability("n2", "active")
    assert (nodes[1]["Spec"]["Availability"], nodes[1]["Version"]["Index"]) == ("active", 12)


def test_any_other_node_is_refused_with_the_command_that_allows_it(
    deployment: SwarmDeployment, engine: FakeEngine, nodes: list[dict[str, Any]]
) -> None:
    for way in (lambda: deployment.availability("n1"), lambda: deployment.set_availability("n1", "drain")):
        with pytest.raises(UsageError, match=r"host-n1 .*docker node update --label-add swarmtest\.allow=true host-n1"):
            way()
    assert sent(engine) == []


def test_a_node_that_changes_meanwhile_is_read_again(
    deployment: SwarmDeployment, engine: FakeEngine, nodes: list[dict[str, Any]]
) -> None:
    def before(verb: str, _path: str) -> None:
        if verb == "POST" and nodes[1]["Version"]["Index"] == 10:
            nodes[1]["Version"]["Index"] = 11

    engine.before = before
    deployment.set_availability("n2", "drain")
    assert nodes[1]["Spec"]["Availability"] == "drain"
