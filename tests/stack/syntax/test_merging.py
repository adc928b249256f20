"""Several files laid over each other, as ``docker stack`` and as Compose do it."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from swarmtest.lint import Target
from swarmtest.lint.document import Document, read_document


def merged(target: str, *texts: str) -> Document:
    paths = [Path(f"{number}.yml") for number in range(len(texts))]
    return read_document(paths, Target(target), {}, dict(zip(paths, map(dedent, texts), strict=True)))


def web(target: str, base: str, over: str) -> dict[str, Any]:
    texts = [f"services: {{web: {{{each}}}}}\n" for each in (base, over)]
    found: dict[str, Any] = merged(target, *texts).tree["services"]["web"]
    return found


@pytest.mark.parametrize("target", ["swarm", "compose"])
@pytest.mark.parametrize(
    ("base", "over", "both"),
    [
        ("environment: [A=1, B=2]", "environment: {B: 3, C: x}", {"environment": {"A": "1", "B": 3, "C": "x"}}),
        ("command: a b", "command: [c]", {"command": ["c"]}),
        ("dns: 1.1.1.1", "dns: [2.2.2.2]", {"dns": ["1.1.1.1", "2.2.2.2"]}),
        ("volumes: ['aa:/x', 'bb:/y']", "volumes: ['cc:/x:ro']", {"volumes": ["cc:/x:ro", "bb:/y"]}),
        ("labels: [a=b]", "labels: {a: c}", {"labels": {"a": "c"}}),
        (
            "deploy: {replicas: 3, update_config: {order: start-first}}",
            "deploy: {update_config: {delay: 5s}}",
            {"deploy": {"replicas": 3, "update_config": {"order": "start-first", "delay": "5s"}}},
        ),
        ("deploy: {replicas: 3}", "deploy: {replicas: 0}", {"deploy": {"replicas": 0}}),
        ("networks: [a]", "networks: {b: {aliases: [x]}}", {"networks": {"a": None, "b": {"aliases": ["x"]}}}),
        (
            "logging: {driver: a, options: {x: 1}}",
            "logging: {driver: b, options: {y: 2}}",
            {"logging": {"driver": "b", "options": {"y": 2}}},
        ),
        ("ports: ['80:80']", "ports: ['81:80', '80:80']", {"ports": ["80:80", "81:80"]}),
    ],
)
def test_what_both_merge_alike(target: str, base: str, over: str, both: dict[str, Any]) -> None:
    assert web(target, base, over) == both


@pytest.mark.parametrize(
    ("base", "over", "swarm", "compose"),
    [
        ("tty: true", "tty: false", {"tty": True}, {"tty": False}),
        ("stop_grace_period: 5s", "stop_grace_period: 0s", {"stop_grace_period": "5s"}, {"stop_grace_period": "0s"}),
        ("hostname: a", "hostname: ''", {"hostname": "a"}, {"hostname": ""}),
        (
            "healthcheck: {test: a}",
            "healthcheck: {test: [CMD, b]}",
            {"healthcheck": {"test": ["CMD-SHELL", "a", "CMD", "b"]}},
            {"healthcheck": {"test": ["CMD", "b"]}},
        ),
        ("entrypoint: [a]", "entrypoint: []", {"entrypoint": ["a"]}, {"entrypoint": []}),
        ("environment: {A: 1}", "environment: {A: }", {"environment": {"A": 1}}, {"environment": {"A": None}}),
    ],
)
def test_what_they_merge_each_in_its_own_way(
    base: str, over: str, swarm: dict[str, Any], compose: dict[str, Any]
) -> None:
    assert web("swarm", base, over) == swarm
    assert web("compose", base, over) == compose


def test_compose_resets_and_overrides() -> None:
    over = "ports: !override ['81:80'], dns: !reset [], deploy: {replicas: !reset null}"
    found = web("compose", "ports: ['80:80'], dns: [1.1.1.1], deploy: {replicas: 3, mode: global}", over)
    assert found == {"ports": ["81:80"], "deploy": {"mode": "global"}}


def test_a_top_level_volume_is_replaced_as_a_whole_in_a_stack_and_merged_by_compose() -> None:
    texts = ("volumes: {v: {driver: a, labels: {x: y}}}\n", "volumes: {v: {driver: b}}\n")
    assert merged("swarm", *texts).tree["volumes"] == {"v": {"driver": "b"}}
    assert merged("compose", *texts).tree["volumes"] == {"v": {"driver": "b", "labels": {"x": "y"}}}


def test_a_place_is_where_the_last_file_says_it() -> None:
    document = merged(
        "swarm",
        """\
        services:
          web:
            image: a
            ports:
              - "80:80"
        """,
        """\
        services:
          web:
            ports:
              - "81:80"
            deploy:
              replicas: 2
        """,
    )
    places = {
        key: (found.file.name, found.line)
        for key in (("image",), ("ports", "0"), ("ports", "1"), ("deploy", "replicas"), ("deploy", "mode"))
        if (found := document.place("services", "web", *key))
    }
    assert places == {
        ("image",): ("0.yml", 3),
        ("ports", "0"): ("0.yml", 5),
        ("ports", "1"): ("1.yml", 4),
        ("deploy", "replicas"): ("1.yml", 6),
        ("deploy", "mode"): ("1.yml", 5),
    }


def test_documents_of_one_file_are_merged_by_compose_and_the_first_is_taken_by_a_stack() -> None:
    text = "services: {web: {image: a}}\n---\nservices: {web: {image: b}}\n"
    assert merged("compose", text).tree["services"]["web"]["image"] == "b"
    assert merged("compose", text).place("services", "web", "image").line == 3
    assert merged("swarm", text).tree["services"]["web"]["image"] == "a"
