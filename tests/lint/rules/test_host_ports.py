from __future__ import annotations

import pytest

from tests.lint.looking import look, told

EDGE = """\
services:
  edge:
    image: demo/edge:2
    ports:
      - {target: 443, published: 443, mode: host}
    deploy:
      mode: global
      update_config:
        order: start-first
"""


def test_a_fixed_host_port_and_start_first_in_global_mode_is_an_error_for_certain() -> None:
    (found,) = look("start-first-host-port", EDGE)
    assert told("start-first-host-port", EDGE) == ["edge error certain 9"]
    assert "443/tcp" in found.effect
    assert "pending" in found.effect
    assert "no pause" in found.effect
    assert "stop-first" in found.fix
    assert "ingress" in found.fix


def test_with_replicas_it_depends_on_the_nodes_and_says_how_many_it_takes() -> None:
    (found,) = look("start-first-host-port", EDGE.replace("mode: global", "replicas: 2"))
    assert (found.severity, found.certainty) == ("error", "likely")
    assert "unless 3 nodes" in found.effect


def test_one_named_node_makes_it_certain() -> None:
    text = EDGE.replace("mode: global", "placement: {constraints: [node.hostname == a]}")
    assert told("start-first-host-port", text) == ["edge error certain 9"]


def test_a_rollback_that_is_start_first_waits_for_ever_too() -> None:
    assert told("start-first-host-port", EDGE.replace("update_config", "rollback_config")) == ["edge error certain 9"]


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        ("published: 443, ", ""),
        ("mode: host", "mode: ingress"),
        ("start-first", "stop-first"),
        ("mode: global\n", "mode: global-job\n"),
        ("start-first", "${ORDER}"),
    ],
)
def test_near_misses_are_silent(was: str, becomes: str) -> None:
    assert look("start-first-host-port", EDGE.replace(was, becomes)) == []


def test_compose_has_no_start_first() -> None:
    assert look("start-first-host-port", EDGE, "compose") == []


NETWORK = """\
services:
  agent:
    image: demo/agent:1
    networks: [outside]
    deploy: {mode: global, update_config: {order: start-first}}
networks:
  outside: {external: true, name: host}
"""


@pytest.mark.parametrize("named", ["external: true, name: host", "external: {name: host}"])
def test_two_processes_in_the_network_of_one_node(named: str) -> None:
    text = NETWORK.replace("external: true, name: host", named)
    assert told("start-first-host-network", text) == ["agent error likely 5"]


def test_with_replicas_the_new_one_may_come_to_another_node() -> None:
    text = NETWORK.replace("mode: global", "replicas: 2")
    assert told("start-first-host-network", text) == ["agent warning likely 5"]


@pytest.mark.parametrize(
    ("was", "becomes"), [("name: host", "name: shared"), ("start-first", "stop-first"), ("external: true, ", "")]
)
def test_other_networks_and_orders_are_silent(was: str, becomes: str) -> None:
    assert look("start-first-host-network", NETWORK.replace(was, becomes)) == []


MESH = "services:\n  web:\n    image: demo/web:1\n    ports: [{}]\n    deploy:\n      endpoint_mode: {}\n"


@pytest.mark.parametrize("port", ['"8080:80"', '"80"', "{target: 80, mode: ingress}"])
def test_dnsrr_and_the_routing_mesh_exclude_each_other(port: str) -> None:
    assert told("dnsrr-ingress-port", MESH.format(port, "dnsrr")) == ["web error certain 6"]
    assert told("dnsrr-ingress-port", MESH.format(port, "DNSRR")) == ["web error certain 6"]


@pytest.mark.parametrize(
    ("port", "mode"), [("{target: 80, published: 80, mode: host}", "dnsrr"), ('"8080:80"', "vip"), ("", "dnsrr")]
)
def test_dnsrr_without_the_mesh_is_silent(port: str, mode: str) -> None:
    assert look("dnsrr-ingress-port", MESH.format(port, mode)) == []


TWO = """\
services:
  a: {image: demo/a:1, ports: [%s]}
  b: {image: demo/b:1, ports: [%s], deploy: {mode: global}}
"""


@pytest.mark.parametrize(
    ("one", "other"),
    [('"80:80"', '"80:8080"'), ('"80:80"', "{target: 80, published: 80, mode: host}"), ('"79-81:79-81"', '"80:80"')],
)
def test_a_port_of_the_mesh_is_published_by_one_service_only(one: str, other: str) -> None:
    (found,) = look("port-published-twice", TWO % (one, other))
    assert told("port-published-twice", TWO % (one, other)) == ["b error certain 3"]
    assert "by a, too" in found.effect
    assert "refuses" in found.effect


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('"80:80"', '"81:80"'),
        ('"443:443/tcp"', '"443:443/udp"'),
        ('"80"', '"80"'),
        ("{target: 80, published: 80, mode: host}", "{target: 80, published: 80, mode: host}"),
    ],
)
def test_what_can_live_side_by_side_is_silent(one: str, other: str) -> None:
    assert look("port-published-twice", TWO % (one, other)) == []


def test_two_global_services_want_one_port_of_each_node() -> None:
    host = "{target: 80, published: 80, mode: host}"
    text = (TWO % (host, host)).replace(f"ports: [{host}]}}\n", f"ports: [{host}], deploy: {{mode: global}}}}\n")
    (found,) = look("port-published-twice", text)
    assert "pending" in found.effect
    apart = text.replace("{mode: global}", "{mode: global, placement: {constraints: [node.role == worker]}}", 1)
    assert look("port-published-twice", apart) == []


def test_one_service_that_publishes_a_port_twice() -> None:
    (found,) = look("port-published-twice", TWO % ('"80:80", "80:81"', '"90:90"'))
    assert found.place.key[1] == "a"
    assert "twice by this service" in found.effect
