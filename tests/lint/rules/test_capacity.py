from __future__ import annotations

import pytest

from swarmtest.lint.rules.capacity import memory_bytes, nodes_needed
from tests.lint.looking import look, stack, told

API = """\
services:
  api:
    image: demo/api:2
    deploy:
      replicas: 2
      placement: {max_replicas_per_node: 1}
      update_config: {order: start-first, parallelism: 1}
"""


def test_it_takes_a_slot_more_and_says_how_many_nodes_that_is() -> None:
    (found,) = look("no-spare-slot", API)
    assert told("no-spare-slot", API) == ["api warning unknown 6"]
    assert "eligible nodes x 1 >= 2 replicas + 1 = 3" in found.effect
    assert "3 active nodes" in found.effect
    assert "max_replicas_per_node: 2" in found.fix
    assert "stop-first" in found.fix


@pytest.mark.parametrize(
    ("replicas", "limit", "parallelism", "nodes"),
    [(2, 1, 1, 3), (4, 2, 2, 3), (4, 2, 0, 4), (5, 3, 9, 4), (2, 3, 1, 1)],
)
def test_the_number_of_nodes(replicas: int, limit: int, parallelism: int, nodes: int) -> None:
    text = API.replace("replicas: 2", f"replicas: {replicas}").replace("node: 1", f"node: {limit}")
    (service,) = stack(text.replace("parallelism: 1", f"parallelism: {parallelism}")).services
    assert nodes_needed(service) == nodes


def test_on_one_named_node_it_never_ends() -> None:
    text = API.replace("_node: 1}", "_node: 2, constraints: [node.hostname==a]}")
    assert told("no-spare-slot", text) == ["api error certain 6"]
    role = API.replace("_node: 1}", "_node: 2, constraints: [node.role==worker]}")
    assert told("no-spare-slot", role) == ["api warning unknown 6"]
    other = API.replace("_node: 1}", "_node: 2, constraints: [node.hostname!=a]}")
    assert told("no-spare-slot", other) == ["api warning unknown 6"]


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        ("start-first", "stop-first"),
        ("_per_node: 1", "_per_node: 3"),
        ("placement: {max_replicas_per_node: 1}", "placement: {}"),
        ("replicas: 2", "mode: global"),
        ("replicas: 2", "replicas: ${N}"),
        ("parallelism: 1", "parallelism: '${P}'"),
    ],
)
def test_room_enough_or_not_to_be_known_is_silent(was: str, becomes: str) -> None:
    assert look("no-spare-slot", API.replace(was, becomes)) == []


RESERVED = API.replace("placement: {max_replicas_per_node: 1}", "resources: {reservations: {%s}}")
GPU = "generic_resources: [{discrete_resource_spec: {kind: gpu, value: 1}}]"


@pytest.mark.parametrize(
    ("reserved", "severity", "said"),
    [
        ("cpus: '2', memory: 4G", "info", "3 at a time, each with 2 CPUs and 4G of memory"),
        ("memory: 1024M", "info", "1024M of memory"),
        (GPU, "warning", "1 gpu"),
    ],
)
def test_room_for_one_more_is_needed(reserved: str, severity: str, said: str) -> None:
    (found,) = look("no-spare-resources", RESERVED % reserved)
    assert (found.severity, found.certainty, found.place.line) == (severity, "unknown", 6)
    assert said in found.effect


def test_on_one_named_node_it_is_worth_a_warning() -> None:
    text = (RESERVED % "cpus: '2'") + "      placement: {constraints: ['node.id == abc']}\n"
    assert told("no-spare-resources", text) == ["api warning unknown 6"]


@pytest.mark.parametrize("reserved", ["cpus: '0.25', memory: 256M", "memory: '${M}'", "cpus: x", ""])
def test_small_ones_and_what_is_no_number_are_silent(reserved: str) -> None:
    assert look("no-spare-resources", RESERVED % reserved) == []


def test_stop_first_needs_no_room() -> None:
    assert look("no-spare-resources", (RESERVED % GPU).replace("start-first", "stop-first")) == []


SMALL = "services:\n  a:\n    image: a:1\n    deploy:\n      resources: {%s: {%s}}\n"


@pytest.mark.parametrize("kind", ["limits", "reservations"])
@pytest.mark.parametrize(
    ("amount", "said"), [("memory: '512'", "512 bytes"), ("memory: 3M", "4 MB"), ("cpus: '0.0005'", "0.001")]
)
def test_less_than_the_engine_takes(kind: str, amount: str, said: str) -> None:
    (found,) = look("resources-too-small", SMALL % (kind, amount))
    assert told("resources-too-small", SMALL % (kind, amount)) == ["a error certain 5"]
    assert said in found.effect
    assert look("resources-too-small", SMALL % (kind, amount), "compose") == []


@pytest.mark.parametrize(
    "amount",
    ["memory: 4M", "memory: 512", "memory: '0'", "cpus: '0.001'", "memory: '${M}'", "memory: '5${M}'", "memory: x", ""],
)
def test_enough_or_none_is_silent(amount: str) -> None:
    assert look("resources-too-small", SMALL % ("limits", amount)) == []


@pytest.mark.parametrize(
    ("text", "size"),
    [("512M", 2**29), ("1.5gb", 3 * 2**29), ("64MiB", 2**26), (1024, 1024), ("10k", 10240), ("x", None), (None, None)],
)
def test_memory_as_docker_writes_it(text: object, size: int | None) -> None:
    assert memory_bytes(text) == size
