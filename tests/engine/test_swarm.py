"""Rolling and removing a stack on an engine that behaves as badly as real ones do."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from swarmtest.engine import TaskView
from swarmtest.engine.client import Client, NoAnswer, NotThere, Refused
from swarmtest.engine.labels import PROBE_SERVICE
from swarmtest.engine.override import override_file
from swarmtest.engine.swarm import SwarmDeployment
from swarmtest.engine.tasks import task_view
from swarmtest.engine.updates import SEQUENCE_TRIES
from swarmtest.errors import EngineError, TimedOut
from tests.engine.fake_engine import LABEL, FakeEngine

OURS, OTHERS = {LABEL: "ours"}, {LABEL: "others"}


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def deployment(client: Client, engine: FakeEngine, said: list[str]) -> SwarmDeployment:
    return SwarmDeployment(client, "ours", say=said.append, sleep=engine.sleep, clock=engine.now)


def moved_on(engine: FakeEngine, service: dict[str, Any], times: int, **spec: Any) -> None:
    """Lets Swarm move the service's version on its own, just before each of the next updates."""
    left = times

    def before(verb: str, _path: str) -> None:
        nonlocal left
        if verb == "POST" and left:
            left -= 1
            service["Version"]["Index"] += 1
            service["Spec"].update(spec)

    engine.before = before


def test_a_roll_forces_new_tasks_of_the_same_spec(deployment: SwarmDeployment, engine: FakeEngine) -> None:
    service = engine.add_service("ours", "api", Kept={"a": [1]})
    deployment.roll("api")
    assert len(engine.updates) == 1
    assert service["Spec"]["TaskTemplate"]["ForceUpdate"] == 1
    assert service["Spec"]["Kept"] == {"a": [1]}


def test_an_update_out_of_sequence_is_read_again_and_rolls_once(
    deployment: SwarmDeployment, engine: FakeEngine, said: list[str]
) -> None:
    # moby/moby #30794, docker/docker-py #1848
    service = engine.add_service("ours", "api")
    moved_on(engine, service, 1)
    deployment.roll("api")
    assert [spec["TaskTemplate"]["ForceUpdate"] for _, spec in engine.updates] == [1]
    assert len(said) == 1
    assert "out of sequence" in said[0]


def test_a_retry_never_puts_an_old_spec_over_a_newer_one(deployment: SwarmDeployment, engine: FakeEngine) -> None:
    # moby/moby #39891
    service = engine.add_service("ours", "api", Image="old")
    moved_on(engine, service, 1, Image="new")
    deployment.roll("api")
    assert engine.updates[0][1]["Image"] == "new"


def test_a_retry_never_rolls_twice(deployment: SwarmDeployment, engine: FakeEngine) -> None:
    service = engine.add_service("ours", "api")
    moved_on(engine, service, 1, TaskTemplate={"ForceUpdate": 1})
    deployment.roll("api")
    assert engine.updates == []
    assert service["Spec"]["TaskTemplate"]["ForceUpdate"] == 1


def test_an_update_that_is_always_out_of_sequence_is_given_up_with_the_service_as_it_was(
    deployment: SwarmDeployment, engine: FakeEngine
) -> None:
    # moby/swarmkit #1379
    service = engine.add_service("ours", "api")
    before = json.dumps(service["Spec"])
    moved_on(engine, service, 1000)
    with pytest.raises(EngineError, match=f"changed under our hands {SEQUENCE_TRIES} times"):
        deployment.roll("api")
    assert json.dumps(service["Spec"]) == before
    assert sum(verb == "POST" for verb, _ in engine.asked) == SEQUENCE_TRIES


def test_an_update_refused_for_another_reason_is_not_sent_again(
    deployment: SwarmDeployment, engine: FakeEngine
) -> None:
    engine.add_service("ours", "api")
    engine.before = lambda verb, _path: (400, {"message": "no such network"}) if verb == "POST" else None
    with pytest.raises(Refused, match="no such network"):
        deployment.roll("api")
    assert sum(verb == "POST" for verb, _ in engine.asked) == 1


def test_a_service_that_is_not_there_is_named(deployment: SwarmDeployment) -> None:
    with pytest.raises(NotThere, match="no service 'api'"):
        deployment.roll("api")


def _a_whole_stack(engine: FakeEngine) -> None:
    for stack in ("ours", "others"):
        engine.add_service(stack, "api")
        labels = {LABEL: stack}
        engine.objects.setdefault("containers", []).append({"Id": f"c-{stack}", "Names": ["/api"], "Labels": labels})
        engine.objects.setdefault("networks", []).append({"Id": f"n-{stack}", "Name": f"{stack}_net", "Labels": labels})
        for kind in ("configs", "secrets"):
            spec = {"Name": f"{stack}_{kind}", "Labels": labels}
            engine.objects.setdefault(kind, []).append({"ID": f"{kind}-{stack}", "Spec": spec})
        engine.objects.setdefault("volumes", []).append({"Name": f"{stack}_data", "Labels": labels})
    engine.objects["volumes"].append({"Name": "mine", "Labels": None})
    engine.gone_after["c-ours"] = engine.time + 12


def _names(engine: FakeEngine) -> set[str]:
    return {
        str(item.get("ID") or item.get("Id") or item["Name"]) for items in engine.objects.values() for item in items
    }


def test_a_removal_waits_for_the_containers_and_leaves_others_alone(
    deployment: SwarmDeployment, engine: FakeEngine
) -> None:
    # moby/moby #29293, #32552, docker/for-linux #86
    _a_whole_stack(engine)
    began = engine.time
    busy = began + 15

    def before(verb: str, path: str) -> tuple[int, Any] | None:
        used = verb == "DELETE" and path == "/networks/n-ours" and engine.time < busy
        return (403, {"message": "network has active endpoints"}) if used else None

    engine.before = before
    deployment.remove()
    assert 15 <= engine.time - began < 20
    expected = {"id-others-api", "c-others", "n-others", "configs-others", "secrets-others", "others_data", "mine"}
    assert _names(engine) == expected
    assert {path for verb, path in engine.asked if verb == "DELETE"} == {
        "/services/id-ours-api",
        "/networks/n-ours",
        "/configs/configs-ours",
        "/secrets/secrets-ours",
        "/volumes/ours_data",
    }


def test_a_removal_of_nothing_is_done_at_once(deployment: SwarmDeployment, engine: FakeEngine) -> None:
    deployment.remove()
    assert engine.time == 1000


def test_a_removal_that_takes_too_long_names_what_is_left(deployment: SwarmDeployment, engine: FakeEngine) -> None:
    _a_whole_stack(engine)
    del engine.gone_after["c-ours"]
    with pytest.raises(TimedOut, match=r"left with container api.*docker stack rm ours"):
        deployment.remove(20.0)
    assert 1020 <= engine.time < 1022


def test_one_object_that_is_stuck_holds_up_no_other(deployment: SwarmDeployment, engine: FakeEngine) -> None:
    _a_whole_stack(engine)
    engine.gone_after["c-ours"] = 0
    stuck = (409, {"message": "in use"})
    engine.before = lambda verb, path: stuck if (verb, path) == ("DELETE", "/networks/n-ours") else None
    with pytest.raises(EngineError, match="in use"):
        deployment.remove(5.0)
    assert {name for name in _names(engine) if "ours" in name} == {"n-ours"}


def test_a_removal_outlasts_an_engine_that_stumbles(deployment: SwarmDeployment, engine: FakeEngine) -> None:
    _a_whole_stack(engine)
    engine.before = lambda _verb, _path: (503, {"message": "no leader"}) if engine.time < 1020 else None
    deployment.remove()
    assert {name for name in _names(engine) if "ours" in name} == set()


def test_a_removal_gives_up_early_on_an_engine_that_is_gone(client: Client, engine: FakeEngine) -> None:
    def lost(_verb: str, _path: str) -> None:
        raise ConnectionAbortedError

    engine.before = lost
    engine._server.handle_error = lambda *_args: None  # type: ignore[method-assign]
    with pytest.raises(NoAnswer, match="no engine answers"):
        SwarmDeployment(client, "ours", sleep=lambda _s: engine.sleep(1), clock=engine.now).remove(600.0)
    assert engine.time <= 1045


def _task(identity: str, service: str = "id-ours-api", **more: Any) -> dict[str, Any]:
    return {
        "ID": identity,
        "ServiceID": service,
        "Slot": 1,
        "NodeID": "node1",
        "Labels": OURS,
        "DesiredState": "running",
        "CreatedAt": "2026-11-29T22:15:00Z",
        "Status": {"State": "running", "ContainerStatus": {"ContainerID": "c" * 64, "ExitCode": 0}},
        "Spec": {"ContainerSpec": {"Image": "demo:1", "StopGracePeriod": 30_000_000_000}, "ForceUpdate": 2},
        **more,
    }


def test_a_task_is_read_with_all_that_is_known_of_it() -> None:
    raw = _task(
        "t1",
        NetworksAttachments=[{"Addresses": ["10.0.1.7/24"]}, {"Addresses": None}],
        Status={
            "State": "shutdown",
            "Message": "stopped",
            "Err": "",
            "ContainerStatus": {"ContainerID": "c1", "ExitCode": 137},
            "PortStatus": {
                "Ports": [
                    {"TargetPort": 8000, "PublishedPort": 32768, "PublishMode": "host"},
                    {"TargetPort": 8000, "PublishedPort": 32999, "PublishMode": "host"},
                    {"TargetPort": 9000, "PublishedPort": 9000, "PublishMode": "ingress"},
                ]
            },
        },
    )
    view = task_view(raw, "api")
    assert view == TaskView(
        id="t1",
        service="api",
        slot=1,
        node="node1",
        container="c1",
        desired="running",
        state="shutdown",
        message="stopped",
        error=None,
        exit_code=137,
        addresses=("10.0.1.7",),
        host_ports={"8000": 32768},
        grace_seconds=30.0,
        image="demo:1",
        created=1795990500.0,
        force_update=2,
    )
    assert view.as_event()["task"] == "t1"


def test_a_task_of_which_little_is_known_is_read_all_the_same() -> None:
    view = task_view({"ID": "t1"}, "api")
    assert (view.container, view.exit_code, view.grace_seconds, view.state, view.created) == (None, None, None, "", 0)
    assert not view.up


def test_a_running_task_has_no_exit_code_though_the_engine_says_zero() -> None:
    assert task_view(_task("t1"), "api").exit_code is None


def test_a_task_that_should_be_gone_is_listed_and_does_not_count_as_up(
    deployment: SwarmDeployment, engine: FakeEngine
) -> None:
    # moby/moby #41885, #37654
    engine.add_service("ours", "api")
    zombie = _task("zombie", DesiredState="shutdown", NodeID="gone")
    engine.objects["tasks"] = [*(_task(f"t{n}") for n in range(3)), zombie, _task("other", Labels=OTHERS)]
    tasks = deployment.tasks()
    assert [task.id for task in tasks] == ["t0", "t1", "t2", "zombie"]
    assert [task.up for task in tasks] == [True, True, True, False]
    assert tasks[-1].state == "running"


def test_services_that_come_one_by_one_are_all_seen(deployment: SwarmDeployment, engine: FakeEngine) -> None:
    engine.add_service("ours", "api")
    engine.objects["tasks"] = [_task("t0")]
    assert [task.service for task in deployment.tasks()] == ["api"]
    engine.add_service("ours", "edge")
    engine.objects["tasks"].append(_task("t1", "id-ours-edge"))
    assert [task.service for task in deployment.tasks()] == ["api", "edge"]


def test_a_stack_that_is_being_removed_has_no_tasks_and_is_no_lost_engine(
    deployment: SwarmDeployment, engine: FakeEngine
) -> None:
    engine.add_service("ours", "api")
    engine.objects["tasks"] = [_task("t0")]
    deployment.tasks()
    engine.objects["services"].clear()
    engine.objects["tasks"].clear()
    assert deployment.tasks() == []


def test_the_status_of_an_update_is_read_and_absent_where_there_was_none(
    deployment: SwarmDeployment, engine: FakeEngine
) -> None:
    service = engine.add_service("ours", "api")
    assert deployment.update_status("api").state is None
    service["UpdateStatus"] = {"State": "updating", "StartedAt": "2026-11-29T22:15:00.5Z", "Message": "going"}
    status = deployment.update_status("api")
    assert (status.state, status.started, status.completed, status.message) == ("updating", 1795990500.5, None, "going")


def test_the_override_adds_labels_and_the_probe_on_the_networks_of_the_subject(tmp_path: Path) -> None:
    stack = {"version": "3.8", "services": {"api": {"networks": {"inner": None}}, "edge": {}}}
    (tmp_path / "a$b").mkdir()
    path = override_file(tmp_path / "a$b" / "o.json", stack, run="r1", service="api", probe={"image": "demo"})
    written = json.loads(path.read_text())
    assert written["version"] == "3.8"
    labels = written["services"]["edge"]["deploy"]["labels"]
    assert labels["swarmtest.run"] == "r1"
    assert labels["swarmtest.folder"] == f"{tmp_path.resolve()}/a$$b", "compose expands what isn't doubled"
    assert labels["swarmtest.host"] == socket.gethostname()
    assert written["services"][PROBE_SERVICE]["deploy"]["labels"] == labels
    assert written["services"][PROBE_SERVICE]["networks"] == ["inner"]
    bare = json.loads(override_file(path, {"services": {"api": {}}}, run="r1", service="api", probe=None).read_text())
    assert list(bare) == ["services"]
    assert list(bare["services"]) == ["api"]


def test_keys_of_the_subject_stand_beside_what_the_run_adds(tmp_path: Path) -> None:
    extra = {"stop_grace_period": "1s", "deploy": {"update_config": {"order": "stop-first"}}}
    stack = {"services": {"api": {}, "edge": {}}}
    path = override_file(tmp_path / "o.json", stack, run="r1", service="api", probe=None, subject_extra=extra)
    written = json.loads(path.read_text())["services"]
    assert written["api"]["stop_grace_period"] == "1s"
    assert written["api"]["deploy"]["update_config"] == {"order": "stop-first"}
    assert written["api"]["deploy"]["labels"]["swarmtest.run"] == "r1"
    assert "update_config" not in written["edge"]["deploy"]


Edit = Callable[[dict[str, Any]], bool]


def test_an_edit_that_finds_nothing_to_do_sends_nothing(deployment: SwarmDeployment, engine: FakeEngine) -> None:
    engine.add_service("ours", "api")
    nothing: Edit = lambda _spec: False  # noqa: E731
    deployment.change("api", nothing)
    assert engine.updates == []
