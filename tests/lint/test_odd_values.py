"""Whatever a file holds where a rule looks, no rule breaks: it finds something, or nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from swarmtest.errors import StackError
from swarmtest.lint import Target
from swarmtest.lint.linting import try_to_lint
from tests.lint.looking import look

FILE = Path("stack.yml")

FULL: dict[str, Any] = {
    "version": "3.8",
    "x-swarmtest": {"service": "api", "traffic": {"path": "/", "rate": "30/s"}, "front_door": {"service": "edge"}},
    "services": {
        "api": {
            "image": "registry.example:5000/shop/api:1.2@sha256:ab",
            "build": {"context": ".", "args": {"A": "1"}},
            "command": ["gunicorn", "--graceful-timeout", "30", "--workers=4", "app:app"],
            "entrypoint": "/bin/sh -c",
            "environment": {"DB_POOL_SIZE": "10", "DATABASE_URL": "postgres://db/shop", "GRACEFUL_TIMEOUT": 30},
            "env_file": [".env"],
            "healthcheck": {
                "test": ["CMD-SHELL", "curl -f http://localhost:8080/health || exit 1"],
                "interval": "10s",
                "timeout": "2s",
                "retries": 3,
                "start_period": "20s",
            },
            "stop_grace_period": "30s",
            "stop_signal": "SIGTERM",
            "init": True,
            "restart": "always",
            "container_name": "api",
            "network_mode": "bridge",
            "networks": {"front": {"aliases": ["shop"]}},
            "volumes": ["data:/var/lib/data", {"type": "bind", "source": "/srv", "target": "/srv"}],
            "ports": ["8080:80", {"target": 81, "published": 8081, "mode": "host", "protocol": "tcp"}],
            "depends_on": {"db": {"condition": "service_healthy"}},
            "labels": ["traefik.http.services.api.loadbalancer.healthcheck.interval=5s"],
            "ulimits": {"nofile": {"soft": 1024, "hard": 2048}},
            "deploy": {
                "mode": "replicated",
                "replicas": 3,
                "endpoint_mode": "vip",
                "labels": {"traefik.enable": "true"},
                "update_config": {
                    "order": "start-first",
                    "parallelism": 1,
                    "delay": "10s",
                    "monitor": "5s",
                    "failure_action": "rollback",
                    "max_failure_ratio": 0.1,
                },
                "rollback_config": {"order": "stop-first", "parallelism": 0},
                "restart_policy": {"condition": "on-failure", "delay": "5s", "max_attempts": 3, "window": "30s"},
                "placement": {"constraints": ["node.hostname == a"], "max_replicas_per_node": 1},
                "resources": {"limits": {"cpus": "0.5", "memory": "256M"}, "reservations": {"memory": "128M"}},
            },
        },
        "worker": {"image": "worker", "command": "celery -A app worker --concurrency 4", "deploy": {"mode": "global"}},
        "db": {"image": "postgres:16", "command": "postgres -c max_connections=9", "volumes": ["db:/data"]},
        "edge": {"image": "nginx:1.27", "ports": [{"target": 80, "published": "80-81"}], "configs": ["edge"]},
    },
    "networks": {"front": {"driver": "overlay"}},
    "volumes": {"data": {}, "db": {"driver_opts": {"type": "nfs"}}},
    "configs": {"edge": {"file": "./edge.conf"}},
    "secrets": {"key": {"external": True}},
}  # fmt: skip

ODD: list[Any] = [
    *(None, "", " ", "$", "${UNSET}", "$UNSET:80", "a b 'c", "true", True, 0, -1, 1e300, 10**25, "9" * 30),
    *(
        [],
        {},
        [None],
        [[]],
        [{}],
        {"a": None},
        {"": []},
        ["a", 1, None, {"b": []}],
        "::",
        "0s",
        "-5s",
        "1.5h",
        "é\n\t\u2028",
    ),
]


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to each value, and to each mapping and list."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from paths(item, (*path, key))


PATHS = [path for path in paths(FULL) if path]


def put(path: tuple[Any, ...], value: Any) -> str:
    """The stack with another value at one place; JSON is YAML."""
    changed = deepcopy(FULL)
    part: Any = changed
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    return json.dumps(changed, indent=1)


def test_the_stack_itself_breaks_nothing() -> None:
    found = try_to_lint([FILE], Target.SWARM, {}, {FILE: json.dumps(FULL)})
    assert (found.problem, found.broken) == (None, ())
    assert found.findings


@pytest.mark.parametrize("number", range(len(PATHS)), ids=lambda number: ".".join(map(str, PATHS[number])))
def test_an_odd_value_anywhere_breaks_no_rule(number: int) -> None:
    """A fifth of the odd values each: all of them at all places take minutes."""
    target = list(Target)[number // 5 % 2]
    for odd in ODD[number % 5 :: 5]:
        found = try_to_lint([FILE], target, {}, {FILE: put(PATHS[number], odd)})
        assert found.broken == (), repr(odd)


def test_a_tag_on_the_whole_file_is_no_value() -> None:
    assert look("stops-all-at-once", "!override\nservices: {web: {image: demo/web:1}}\n") != []
    with pytest.raises(StackError, match="found an empty file"):
        look("stops-all-at-once", "!reset null\n")
