"""Releases, rollbacks and scaling change what they say and keep all the rest."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from swarmtest.engine import Pace
from swarmtest.engine.client import Client, Refused
from swarmtest.engine.swarm import SwarmDeployment
from swarmtest.errors import UsageError
from swarmtest.stack import HealthCheck
from tests.engine.fake_engine import LABEL, FakeEngine

CONTAINER = {
    "Image": "demo:1@sha256:abc",
    "Env": ["KEPT=1", "A=old", "AB=kept", "BARE"],
    "Healthcheck": {"Test": ["CMD", "/healthy"], "Interval": 2_000_000_000},
    "Command": ["serve"],
    "Args": ["--all"],
    "StopGracePeriod": 30_000_000_000,
}


@pytest.fixture
def deployment(client: Client, engine: FakeEngine) -> SwarmDeployment:
    return SwarmDeployment(client, "ours", sleep=engine.sleep, clock=engine.now)


@pytest.fixture
def service(engine: FakeEngine) -> dict[str, Any]:
    return engine.add_service(
        "ours",
        "api",
        TaskTemplate={"ForceUpdate": 4, "ContainerSpec": dict(CONTAINER)},
        Mode={"Replicated": {"Replicas": 3}},
        UpdateConfig={"Parallelism": 2, "Order": "start-first", "Delay": 1_000_000_000, "Monitor": 7_000_000_000},
    )


def container_of(engine: FakeEngine) -> dict[str, Any]:
    [(_, spec)] = engine.updates
    found: dict[str, Any] = spec["TaskTemplate"]["ContainerSpec"]
    return found


def test_a_release_changes_the_image_and_keeps_all_the_rest(
    deployment: SwarmDeployment, engine: FakeEngine, service: dict[str, Any]
) -> None:
    deployment.release("api", image="demo:2", environment={})
    assert container_of(engine) == {**CONTAINER, "Image": "demo:2"}


def test_variables_take_the_place_of_those_of_the_same_name_and_others_stay(
    deployment: SwarmDeployment, engine: FakeEngine, service: dict[str, Any]
) -> None:
    deployment.release("api", image=None, environment={"A": "new=1", "BARE": "", "ADDED": "2"})
    assert container_of(engine) == {**CONTAINER, "Env": ["KEPT=1", "AB=kept", "A=new=1", "BARE=", "ADDED=2"]}


def test_a_service_without_variables_gets_some(
    deployment: SwarmDeployment, engine: FakeEngine, service: dict[str, Any]
) -> None:
    service["Spec"]["TaskTemplate"]["ContainerSpec"] = {"Image": "demo:1"}
    deployment.release("api", image=None, environment={"A": "1"})
    assert container_of(engine) == {"Image": "demo:1", "Env": ["A=1"]}


def test_a_health_check_without_a_start_period_has_the_least_that_the_engine_takes_for_one(
    deployment: SwarmDeployment, engine: FakeEngine, service: dict[str, Any]
) -> None:
    health = HealthCheck(("CMD", "/no"), interval_seconds=1.5, timeout_seconds=2.0, retries=1)
    deployment.release("api", image=None, environment={}, health=asdict(health))
    assert container_of(engine)["Healthcheck"] == {
        "Test": ["CMD", "/no"],
        "Interval": 1_500_000_000,
        "Timeout": 2_000_000_000,
        "StartPeriod": 1_000_000,
        "Retries": 1,
    }


def test_a_command_takes_the_place_of_the_entry_point_and_of_all_arguments(
    deployment: SwarmDeployment, engine: FakeEngine, service: dict[str, Any]
) -> None:
    deployment.release("api", image=None, environment={}, command=("sh", "-c", "exit 3"))
    assert container_of(engine) == {**CONTAINER, "Command": ["sh", "-c", "exit 3"], "Args": []}


def test_a_release_of_the_same_version_rolls_all_the_same(
    deployment: SwarmDeployment, engine: FakeEngine, service: dict[str, Any]
) -> None:
    # an update that changes nothing clears the status and the previous spec, and rolls nothing
    deployment.release("api", image="demo:1@sha256:abc", environment={})
    assert engine.updates[0][1]["TaskTemplate"]["ForceUpdate"] == 5


def test_a_release_that_was_done_already_is_not_sent_again(
    deployment: SwarmDeployment, engine: FakeEngine, service: dict[str, Any]
) -> None:
    def before(verb: str, _path: str) -> None:
        if verb == "POST" and service["Version"]["Index"] == 10:
            service["Version"]["Index"] = 11
            service["Spec"]["TaskTemplate"]["ForceUpdate"] = 5

    engine.before = before
    deployment.release("api", image="demo:2", environment={})
    assert engine.updates == []


def test_no_two_versions_have_the_same_count_though_a_rollback_counts_back(
    deployment: SwarmDeployment, engine: FakeEngine, service: dict[str, Any]
) -> None:
    gone = {"ID": "t1", "ServiceID": service["ID"], "Labels": {LABEL: "ours"}, "Spec": {"ForceUpdate": 7}}
    engine.objects["tasks"] = [gone, {**gone, "ID": "t2", "Spec": {}}]
    deployment.release("api", image="demo:2", environment={})
    deployment.roll("api")
    assert [spec["TaskTemplate"]["ForceUpdate"] for _, spec in engine.updates] == [8, 9]


def test_a_rollback_leaves_the_spec_to_the_engine(
    deployment: SwarmDeployment, engine: FakeEngine, service: dict[str, Any]
) -> None:
    deployment.rollback("api")
    assert engine.queries[-1] == {"version": "10", "rollback": "previous"}
    assert container_of(engine) == CONTAINER


def test_a_rollback_that_the_engine_refuses_is_an_error(
    deployment: SwarmDeployment, engine: FakeEngine, service: dict[str, Any]
) -> None:
    engine.before = lambda verb, _path: (400, {"message": "does not have a previous spec"}) if verb == "POST" else None
    with pytest.raises(Refused, match="previous spec"):
        deployment.rollback("api")


def test_scaling_changes_the_number_and_nothing_else(
    deployment: SwarmDeployment, engine: FakeEngine, service: dict[str, Any]
) -> None:
    assert deployment.replicas("api") == 3
    deployment.scale("api", 4)
    assert engine.updates[0][1]["Mode"] == {"Replicated": {"Replicas": 4}}
    assert engine.updates[0][1]["TaskTemplate"]["ForceUpdate"] == 4
    deployment.scale("api", 4)
    assert len(engine.updates) == 1, "what's so already isn't sent, since that would clear the update's status"


def test_a_global_service_cannot_be_scaled(
    deployment: SwarmDeployment, engine: FakeEngine, service: dict[str, Any]
) -> None:
    service["Spec"]["Mode"] = {"Global": {}}
    for way in (lambda: deployment.replicas("api"), lambda: deployment.scale("api", 2)):
        with pytest.raises(UsageError, match="isn't replicated"):
            way()


def test_the_pace_is_that_of_the_spec_and_of_the_tasks_that_run(
    deployment: SwarmDeployment, engine: FakeEngine, service: dict[str, Any]
) -> None:
    def task(state: str, seconds: int) -> dict[str, Any]:
        status = {"State": state, "Timestamp": f"2026-11-29T22:15:{seconds:02}Z"}
        return {"CreatedAt": "2026-11-29T22:15:00Z", "Labels": {LABEL: "ours"}, "Status": status}

    engine.objects["tasks"] = [task("running", 3), task("running", 4), task("starting", 50)]
    assert deployment.pace("api") == Pace(3, 2, "start-first", 1.0, 7.0, 30.0, 4.0, ("CMD", "/healthy"))


def test_the_pace_of_a_spec_that_says_nothing_has_docker_s_defaults(
    deployment: SwarmDeployment, engine: FakeEngine
) -> None:
    engine.add_service("ours", "bare", TaskTemplate={}, Mode={"Global": {}})
    assert deployment.pace("bare") == Pace(1, 1, "stop-first", 0.0, 5.0, 10.0, 0.0)
