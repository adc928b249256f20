from __future__ import annotations

import pytest

from tests.lint.looking import look, told

WEB = "services:\n  web:\n    image: demo/web:1\n    %s\n"


@pytest.mark.parametrize(
    ("key", "severity"),
    [
        ("container_name: x", "info"),
        ("depends_on: [db]", "info"),
        ("links: [db]", "info"),
        ("network_mode: host", "warning"),
        ("privileged: true", "warning"),
        ("devices: [/dev/snd]", "warning"),
        ("pid: host", "warning"),
        ("ipc: host", "warning"),
        ("shm_size: 1g", "warning"),
        ("security_opt: [seccomp=unconfined]", "warning"),
        ("cgroup_parent: x", "warning"),
        ("domainname: x", "warning"),
        ("mac_address: 02:42:ac:11:65:43", "warning"),
        ("userns_mode: host", "warning"),
        ("external_links: [db]", "warning"),
    ],
)
def test_what_swarm_takes_no_notice_of(key: str, severity: str) -> None:
    assert told("ignored-by-swarm", WEB % key) == [f"web {severity} certain 4"]
    (found,) = look("ignored-by-swarm", WEB % key)
    assert found.effect.startswith(key.partition(":")[0] + " is ignored by Swarm: ")
    assert look("ignored-by-swarm", WEB % key, "compose") == []


@pytest.mark.parametrize(
    "key",
    ["privileged: false", "devices: []", "expose: [80]", "hostname: x", "restart: always", "init: true", "tmpfs: /a"],
)
def test_what_asks_for_nothing_or_is_heard_is_silent(key: str) -> None:
    assert look("ignored-by-swarm", WEB % key) == []


def test_what_is_built_needs_an_image_to_be_deployed() -> None:
    text = "services:\n  web:\n    build: .\n"
    assert told("ignored-by-swarm", text) == ["web error certain 3"]
    assert look("ignored-by-swarm", WEB % "build: .") == []


def test_depends_on_gives_no_order() -> None:
    (found,) = look("ignored-by-swarm", WEB % "depends_on: [db]")
    assert "in no order" in found.effect


@pytest.mark.parametrize(
    "keys", ['restart: "no"', "restart: always\n    deploy: {restart_policy: {condition: on-failure}}"]
)
def test_a_restart_that_does_not_hold(keys: str) -> None:
    assert told("ignored-by-swarm", WEB % keys) == ["web info certain 4"]


@pytest.mark.parametrize(
    ("deploy", "severity"),
    [
        ("update_config: {order: start-first}", "warning"),
        ("rollback_config: {order: start-first}", "warning"),
        ("placement: {constraints: [node.role == worker]}", "info"),
        ("endpoint_mode: dnsrr", "info"),
        ("mode: global", "info"),
    ],
)
def test_what_compose_takes_no_notice_of(deploy: str, severity: str) -> None:
    text = WEB % f"deploy:\n      {deploy}"
    assert told("ignored-by-compose", text, "compose") == [f"web {severity} certain 5"]
    assert look("ignored-by-compose", text) == []


def test_compose_knows_replicas_and_resources() -> None:
    text = WEB % "deploy: {replicas: 2, resources: {limits: {memory: 1G}}, restart_policy: {condition: any}}"
    assert look("ignored-by-compose", text, "compose") == []


@pytest.mark.parametrize(("port", "address"), [("127.0.0.1:8080:80", "127.0.0.1"), ("[::1]:8080:80/tcp", "[::1]")])
def test_an_address_is_open_to_all_in_swarm(port: str, address: str) -> None:
    (found,) = look("address-ignored", WEB % f'ports: ["90:90", "{port}"]')
    assert (found.severity, found.certainty, found.place.line) == ("warning", "certain", 4)
    assert address in found.effect
    assert look("address-ignored", WEB % f'ports: ["{port}"]', "compose") == []


@pytest.mark.parametrize("port", ['"8080:80"', '"80"', "80", '"0.0.0.0:8080:80"', "{target: 80, published: 80}"])
def test_no_address_is_silent(port: str) -> None:
    assert look("address-ignored", WEB % f"ports: [{port}]") == []


def test_one_name_for_several_containers() -> None:
    text = WEB % "container_name: x\n    deploy: {replicas: 2}"
    assert told("container-name-scaled", text, "compose") == ["web error certain 4"]
    assert look("container-name-scaled", text) == []
    assert look("container-name-scaled", WEB % "container_name: x", "compose") == []
    assert look("container-name-scaled", WEB % "container_name: x\n    scale: '2${N}'", "compose") == []


@pytest.mark.parametrize(
    ("ports", "times"), [('"8080:80"', 1), ('"8080-8081:80"', 1), ('"8080-8082:80"', 0), ('"80"', 0)]
)
def test_one_port_of_the_machine_for_several_containers(ports: str, times: int) -> None:
    text = WEB % f"ports: [{ports}]\n    scale: 3"
    assert told("compose-port-scaled", text, "compose") == ["web error certain 4"] * times
    assert look("compose-port-scaled", text) == []
    assert look("compose-port-scaled", WEB % f"ports: [{ports}]", "compose") == []
