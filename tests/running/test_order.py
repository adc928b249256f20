"""What a run is told, and the plan that's written before anything happens."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from swarmtest.catalogue import load_scenario
from swarmtest.engine import EngineInfo
from swarmtest.errors import UsageError
from swarmtest.running.order import (
    LONGEST_NAME,
    Order,
    given_name,
    new_token,
    plan_document,
    stack_name,
    traffic_settings,
)
from swarmtest.stack import Stack
from swarmtest.stack.block.brief import read_brief
from swarmtest.stack.services import read_stack

INFO = EngineInfo("20.10", "1.41", "1.12", "127.0.0.1", True, "active", True, 1, False, "6.1", "20.10.24")


def stack_of(folder: Path, name: str = "stack.yml", service: str = "web") -> Stack:
    file = folder / name
    file.write_text(f"services: {{{service}: {{image: demo, ports: ['8080:80']}}}}")
    return read_stack(file, {})


def order_of(folder: Path) -> Order:
    stack, scenario = stack_of(folder), load_scenario("rolling")
    brief = read_brief(stack)
    return Order(stack, brief, "rolling", scenario.plan, scenario.checks, folder, "st-a", "a1b2c3")


def test_tokens_differ() -> None:
    assert len({new_token() for _ in range(50)}) == 50


@pytest.mark.parametrize("file", ["stack.yml", "My Stack!.yml", "…….yml", "a" * 100 + ".yml"])
@pytest.mark.parametrize("service", ["web", "a-service-with-quite-a-long-name-of-44-letters", "s" * 40])
def test_a_name_of_our_own_always_leaves_room_for_the_services(tmp_path: Path, file: str, service: str) -> None:
    name = stack_name(stack_of(tmp_path, file, service), "a1b2c3")
    assert len(f"{name}_{service}") <= LONGEST_NAME
    assert len(f"{name}_swarmtest-names") <= LONGEST_NAME
    assert name.startswith("swarmtest-")
    assert name.endswith("-a1b2c3")
    assert given_name(name, stack_of(tmp_path, file, service)) == name


@pytest.mark.parametrize("name", ["", "a b", "-a", "a-", "ä", "a/b", "a" * 60, "$(id)", "a\n"])
def test_a_name_that_docker_would_refuse_is_refused_at_once(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="--name"):
        given_name(name, stack_of(tmp_path))


def test_the_plan_holds_all_that_a_verdict_rests_on(tmp_path: Path) -> None:
    order = order_of(tmp_path)
    plan = json.loads(json.dumps(plan_document(order, "r1", INFO, "http://127.0.0.1:8080", {"web": {"id": "x"}})))
    assert (plan["version"], plan["run"], plan["scenario"], plan["seed"]) == (1, "r1", "rolling", 42)
    assert plan["stack"]["service"] == "web"
    assert (plan["stack"]["order"], plan["stack"]["parallelism"], plan["stack"]["monitor_seconds"]) == (
        "stop-first",
        1,
        5,
    )
    assert plan["stack"]["grace_seconds"] == 10
    assert plan["front_door"]["mode"] == "mesh"
    assert plan["engine"] == {
        "version": "20.10",
        "api": "1.41",
        "nodes": 1,
        "ipvs": False,
        "kernel": "6.1",
        "cli": "20.10.24",
        "identity": "",
        "cluster": "",
    }
    assert plan["steps"][-1] == {
        "phase": "rollout",
        "fault": "update",
        "settings": {"force": True},
        "replaces": True,
        "prepares": False,
        "target": None,
    }
    assert "answered_every_request" in plan["checks"]
    assert plan["images"] == {"web": {"id": "x"}}


def test_the_traffic_child_is_told_where_to_send_what(tmp_path: Path) -> None:
    settings = traffic_settings(order_of(tmp_path), "a1b2c3", tmp_path, "http://127.0.0.1:8080", None)
    assert (settings.run, settings.url, settings.targets_file) == ("a1b2c3", "http://127.0.0.1:8080", None)
    assert [(kind.name, kind.method, kind.path, kind.rate) for kind in settings.kinds] == [("get", "GET", "/", 20.0)]
    direct = traffic_settings(order_of(tmp_path), "a1b2c3", tmp_path, None, tmp_path / "targets.json")
    assert direct.targets_file == str(tmp_path / "targets.json")


def test_the_plan_keeps_no_value_of_a_header(tmp_path: Path) -> None:
    """A token out of the environment would end up in verdicts.json, and in every CI's artifacts."""
    file = tmp_path / "stack.yml"
    traffic = "{headers: {Authorization: 'Bearer ${TOKEN}'}}"
    file.write_text(f"services: {{web: {{image: demo, ports: ['8080:80']}}}}\nx-swarmtest: {{traffic: {traffic}}}\n")
    stack, scenario = read_stack(file, {"TOKEN": "s3cret"}), load_scenario("rolling")
    order = Order(stack, read_brief(stack), "rolling", scenario.plan, scenario.checks, tmp_path, "st-a", "a1b2c3")
    assert "s3cret" not in json.dumps(plan_document(order, "r1", INFO, None, {}))
    told = traffic_settings(order, "a", tmp_path, "http://x", None)
    assert told.kinds[0].headers == {"Authorization": "Bearer s3cret"}
