"""What a killed run left is healed, removed and written down, and nothing else is touched."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from swarmtest.errors import StillWritten
from swarmtest.events import TraceWriter, read_events
from swarmtest.recovery import recover
from swarmtest.recovery.leavings import read_leavings
from swarmtest.traffic.settings import Kind, TrafficSettings
from swarmtest.traffic.settings_file import write_settings
from tests.recovery.conftest import FROZEN, STACK, Killed, act, end_of, freeze, heals, scale


def test_a_frozen_instance_goes_on_before_its_stack_is_removed(killed: Killed) -> None:
    folder = killed.folder(act(0, "deploy"), act(0, "deploy", "ended", outcome="ok"), freeze(1))
    killed.deploy(folder)
    killed.contain()
    assert recover(folder, killed.recovery())
    assert "unpaused api.2 (container c2c2c2c2c2c2)" in killed.text()
    assert f"removed the stack {STACK}: 1 service, 1 container, 1 network" in killed.text()
    asked = [path for verb, path in killed.engine.asked if verb in ("POST", "DELETE")]
    assert asked[0] == f"/containers/{FROZEN['container']}/unpause"
    assert killed.engine.objects["services"] == killed.engine.objects["networks"] == []


def test_what_was_done_stands_in_the_trace_and_is_not_done_twice(killed: Killed) -> None:
    folder = killed.folder(freeze(1), freeze(1, "ended", outcome="ok", error=None))
    killed.deploy(folder)
    killed.contain()
    assert recover(folder, killed.recovery())
    (heal,) = heals(folder)
    assert (heal.get("id"), heal.get("heals"), heal.get("instances")) == (2, 1, [FROZEN])
    end = end_of(folder)
    assert end is not None
    assert end.data == {
        "outcome": "interrupted",
        "error": "killed; healed by swarmtest recover",
        "recovered": "removed",
    }
    assert read_leavings(folder.events).done


def test_an_act_that_only_began_is_healed_too_and_said_to_have_done_nothing(killed: Killed) -> None:
    folder = killed.folder(freeze(1))
    killed.deploy(folder)
    killed.contain("running")
    assert recover(folder, killed.recovery())
    assert "api.2 (container c2c2c2c2c2c2) is as it was before the freeze (running): nothing to heal" in killed.text()


def test_a_scaled_service_is_scaled_back_step_by_step_the_last_first(killed: Killed) -> None:
    folder = killed.folder(scale(1, before=3), scale(2, before=5))
    service = killed.deploy(folder, replicas=7)
    recovery = killed.recovery(keep=True)
    killed.engine.objects["tasks"] = [_task(service, slot) for slot in (1, 2, 3)]
    assert recover(folder, recovery), killed.text()
    assert [line.strip() for line in killed.said[1:3]] == [
        "scaled api back from 7 to 5",
        "scaled api back from 5 to 3",
    ]
    assert service["Spec"]["Mode"]["Replicated"]["Replicas"] == 3
    assert f"kept the stack {STACK}" in killed.text()
    assert killed.engine.objects["services"] == [service]
    end = end_of(folder)
    assert end is not None
    assert end.get("recovered") == "kept"


def _task(service: dict[str, Any], slot: int) -> dict[str, Any]:
    return {
        "ID": f"t{slot}",
        "ServiceID": service["ID"],
        "Slot": slot,
        "NodeID": "node1",
        "Labels": service["Spec"]["Labels"],
        "Spec": {"ContainerSpec": {"Image": "demo"}},
        "Status": {
            "State": "running",
            "Timestamp": "2026-11-29T22:15:09Z",
            "ContainerStatus": {"ContainerID": f"c{slot}" * 32},
        },
        "DesiredState": "running",
        "CreatedAt": "2026-11-29T22:15:00Z",
    }


def test_a_stack_that_is_kept_and_does_not_come_up_again_is_not_healed(killed: Killed) -> None:
    folder = killed.folder(scale(1, before=3))
    service = killed.deploy(folder, replicas=5)
    killed.engine.objects["tasks"] = [_task(service, 1)]
    assert not recover(folder, killed.recovery(keep=True))
    assert "api has 1 of 3 instances up after 100 s; look at `docker stack ps --no-trunc" in killed.text()
    assert end_of(folder) is None


def test_a_healed_act_is_left_alone(killed: Killed) -> None:
    healed = act(2, "heal", "ended", heals=1, outcome="ok")
    folder = killed.folder(scale(1, before=3), act(2, "heal", heals=1), healed)
    killed.deploy(folder, replicas=4)
    assert recover(folder, killed.recovery())
    assert killed.engine.updates == []


def test_an_act_whose_healing_nobody_saw_the_end_of_is_healed_again(killed: Killed) -> None:
    folder = killed.folder(scale(1, before=3), act(2, "heal", heals=1))
    killed.deploy(folder, replicas=4)
    assert recover(folder, killed.recovery())
    assert "scaled api back from 4 to 3" in killed.text()


def test_a_drained_node_is_put_back_even_where_the_stack_is_gone(killed: Killed) -> None:
    node = {"ID": "node7", "Version": {"Index": 4}, "Spec": {"Availability": "drain"}, "Description": {}}
    node["Spec"]["Labels"] = {"swarmtest.allow": "true"}  # type: ignore[index]
    killed.engine.objects["nodes"] = [node]
    sent: list[Any] = []
    freezer = killed.engine.before

    def nodes(verb: str, path: str) -> tuple[int, Any] | None:
        if verb == "POST" and path == "/nodes/node7/update":
            sent.append(path)
            node["Spec"]["Availability"] = "active"  # type: ignore[index]
            return 200, None
        return freezer(verb, path)

    killed.engine.before = nodes
    before = {"node": "node7", "availability": "active"}
    folder = killed.folder(act(1, "drain", settings={"node": None}, before=before, lasting=True))
    assert recover(folder, killed.recovery()), killed.text()
    assert "set node node7 back from drain to active" in killed.text()
    assert f"no stack {STACK} is on the engine" in killed.text()
    assert sent == ["/nodes/node7/update"]


def test_a_fault_that_this_version_does_not_know_is_named_unless_it_went_with_the_stack(killed: Killed) -> None:
    unknown = act(1, "melt", before={"availability": "x"}, target="rack", lasting=True)
    folder = killed.folder(unknown)
    killed.deploy(folder)
    assert not recover(folder, killed.recovery())
    assert "couldn't be healed: melt of rack, see above" in killed.text()
    assert "no fault 'melt'" in killed.text()
    assert killed.engine.objects["services"] == [], "the rest is healed all the same"
    assert end_of(folder) is None
    other = killed.folder(act(1, "melt", lasting=True), name="20261130T000001Z-other-api-def", stack="other")
    killed.deploy(other, "other")
    assert recover(other, killed.recovery()), "what was of the stack went with it"


def test_a_stack_of_the_same_name_that_is_another_runs_is_not_touched(killed: Killed) -> None:
    folder = killed.folder(scale(1, before=3), freeze(2))
    service = killed.deploy(folder, replicas=5, **{"swarmtest.run": "another"})
    container = killed.contain()
    assert recover(folder, killed.recovery())
    assert "is another run's, or somebody else's: not touched" in killed.text()
    assert killed.engine.objects["services"] == [service]
    assert service["Spec"]["Mode"]["Replicated"]["Replicas"] == 5
    assert container["State"]["Status"] == "paused"
    assert not [verb for verb, _ in killed.engine.asked if verb != "GET"]


def test_a_run_that_goes_on_is_not_touched(killed: Killed) -> None:
    folder = killed.folder(freeze(1))
    killed.deploy(folder)
    with TraceWriter(folder.events), pytest.raises(StillWritten):
        recover(folder, killed.recovery())
    assert not [verb for verb, _ in killed.engine.asked if verb != "GET"]


def test_an_instance_on_another_node_is_not_taken_for_gone(killed: Killed) -> None:
    far = freeze(1)
    far["instances"] = [{**FROZEN, "node": "node9"}]
    folder = killed.folder(far)
    service = killed.deploy(folder)
    killed.engine.objects["tasks"] = [_task(service, slot) for slot in (1, 2, 3)]
    assert not recover(folder, killed.recovery(keep=True))
    assert "it's on the node node9, and this engine reaches only containers of its own node" in killed.text()
    assert end_of(folder) is None
    assert recover(folder, killed.recovery()), "it goes with the stack"


def test_a_healing_that_took_no_effect_is_none(killed: Killed) -> None:
    folder = killed.folder(freeze(1))
    service = killed.deploy(folder)
    killed.contain()
    killed.engine.objects["tasks"] = [_task(service, slot) for slot in (1, 2, 3)]
    killed.engine.before = lambda verb, path: (204, None) if path.endswith("/unpause") else None
    assert not recover(folder, killed.recovery(keep=True))
    assert "api.2 (container c2c2c2c2c2c2) is paused after healing, expected running" in killed.text()
    assert (heals(folder), end_of(folder)) == ([], None)


def test_a_run_that_failed_still_says_why(killed: Killed) -> None:
    folder = killed.folder(scale(1, before=3), ended={"outcome": "failed", "error": "the engine went away"})
    killed.deploy(folder, replicas=5)
    assert recover(folder, killed.recovery())
    end = end_of(folder)
    assert end is not None
    assert end.get("outcome") == "failed"
    assert end.get("error") == "the engine went away; healed by swarmtest recover"


@pytest.mark.parametrize(
    ("then", "same"),
    [
        ({"identity": "ENGINE", "cluster": "CLUSTER"}, True),
        ({"identity": "X", "cluster": "CLUSTER"}, True),
        ({"identity": "", "cluster": ""}, True),
        ({}, True),
        ({"identity": "X", "cluster": "Y"}, False),
        ({"cluster": "Y"}, False),
    ],
)
def test_a_run_of_another_engine_is_said_to_be_that(killed: Killed, then: dict[str, str], same: bool) -> None:
    folder = killed.folder(freeze(1), engine=then)
    assert recover(folder, killed.recovery()) is same
    assert ("point DOCKER_HOST or `docker context` at that one" in killed.text()) is not same
    assert (end_of(folder) is not None) is same


def test_an_engine_that_refuses_is_named_and_the_run_can_be_recovered_again(killed: Killed) -> None:
    folder = killed.folder(scale(1, before=3))
    killed.deploy(folder, replicas=5)
    plain = killed.engine.before
    killed.engine.before = lambda verb, path: (
        (500, {"message": "raft: no leader"}) if verb == "DELETE" else plain(verb, path)
    )
    recovery = killed.recovery()
    assert not recover(folder, recovery)
    assert "couldn't be healed: DELETE" in killed.text()
    assert "no leader" in killed.text()
    killed.engine.before = plain
    assert recover(folder, recovery)
    assert killed.said.count("  scaled api back from 5 to 3") == 1
    assert [e.get("id") for e in read_events(folder.events) if e.kind == "act" and e.get("edge") == "began"] == [1, 2]


def test_requests_are_sealed_and_values_of_headers_are_cleared(killed: Killed) -> None:
    folder = killed.folder(freeze(1))
    kinds = [Kind(name="k", path="/", rate=1.0, headers={"Authorization": "secret"})]
    settings = TrafficSettings(run="r", out=str(folder.requests), url="http://x", kinds=kinds, seed=1)
    write_settings(settings, folder.path / "traffic.json")
    write_settings(settings, folder.path / "traffic-burst-1.json")
    line = msgspec.json.encode({"id": "r1", "kind": "k", "sent": 1.0, "client_outcome": "complete"})
    (folder.requests / "requests-1.jsonl").write_bytes(line + b"\n" + b'{"id": "r2", "ki')
    assert recover(folder, killed.recovery()), killed.text()
    assert "sealed the folder with 1 requests" in killed.text()
    assert [row["id"] for row in folder.read_requests()] == ["r1"]
    for name in ("traffic.json", "traffic-burst-1.json"):
        assert "secret" not in (folder.path / name).read_text()


def test_an_update_under_way_goes_with_the_stack_and_is_said(killed: Killed) -> None:
    folder = killed.folder(act(1, "update", settings={"force": True}))
    killed.deploy(folder)["UpdateStatus"] = {"State": "updating", "Message": "update in progress"}
    assert recover(folder, killed.recovery())
    assert "an update of api was under way: it goes too" in killed.text()
    assert killed.engine.updates == []


@pytest.mark.parametrize(("state", "sent"), [("updating", 1), ("paused", 1), ("rollback_started", 0), ("completed", 0)])
def test_an_update_under_way_is_rolled_back_where_the_stack_is_kept(killed: Killed, state: str, sent: int) -> None:
    folder = killed.folder(act(1, "update", settings={"force": True}))
    service = killed.deploy(folder)
    service["UpdateStatus"] = {"State": state, "Message": ""}
    killed.engine.objects["tasks"] = [_task(service, slot) for slot in (1, 2, 3)]
    plain = killed.engine.sleep

    def back(seconds: float) -> None:
        plain(seconds)
        service["UpdateStatus"] = {"State": "rollback_completed", "Message": ""}

    killed.engine.sleep = back  # type: ignore[method-assign]
    assert recover(folder, killed.recovery(keep=True)), killed.text()
    assert len(killed.engine.updates) == sent
    rolled = [e for e in read_events(folder.events) if e.get("name") == "rollback" and e.get("outcome") == "ok"]
    assert len(rolled) == sent
    said = {"rollback_started": "waited for the rollback of api", "completed": "kept the stack"}
    assert said.get(state, "rolled back the update of api") in killed.text()


def test_a_rollback_that_does_not_end_is_not_healed(killed: Killed) -> None:
    folder = killed.folder(act(1, "update", settings={"force": True}))
    killed.deploy(folder)["UpdateStatus"] = {"State": "updating", "Message": "hm"}
    assert not recover(folder, killed.recovery(keep=True))
    assert "couldn't be healed: the rollback of api is updating after" in killed.text()
    assert end_of(folder) is None
