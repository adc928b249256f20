"""What ``docker stack deploy`` refuses although its schema doesn't (docker/cli ``cli/compose/loader/loader.go``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from swarmtest.lint.document import Document
from swarmtest.stack.ports import ports_of
from swarmtest.stack.syntax.building import Path_
from swarmtest.stack.syntax.durations import parse_duration
from swarmtest.stack.syntax.interpolation import Unsure
from swarmtest.stack.syntax.layers import Layer
from swarmtest.stack.syntax.shellwords import split
from swarmtest.stack.syntax.sizes import parse_size
from swarmtest.stack.syntax.volumes import short_mount

Refused = tuple[Layer, Path_, str, str]
Found = Iterator[tuple[Path_, str, str]]

_TIMES = (
    ("stop_grace_period",),
    *(("healthcheck", key) for key in ("interval", "timeout", "start_period", "start_interval")),
    *(("deploy", part, key) for part in ("update_config", "rollback_config") for key in ("delay", "monitor")),
    *(("deploy", "restart_policy", key) for key in ("delay", "window")),
)
_COUNTS = (
    ("healthcheck", "retries"),
    ("deploy", "restart_policy", "max_attempts"),
    ("deploy", "placement", "max_replicas_per_node"),
    *(("deploy", part, "parallelism") for part in ("update_config", "rollback_config")),
)
_SIZES = tuple(("deploy", "resources", part, "memory") for part in ("limits", "reservations"))
_CLUSTER_SIZES = tuple(("x-cluster-spec", "capacity_range", key) for key in ("required_bytes", "limit_bytes"))
_PARTS = ("networks", "volumes", "secrets", "configs")


def refused_by_swarm(document: Document) -> Iterator[Refused]:
    """Where and why, and what to write; file by file, as they're refused before they're merged."""
    for layer in document.layers:
        for path, problem, fix in by_both(layer.tree):
            yield layer, path, problem, fix
        services = layer.tree.get("services")
        for name, body in services.items() if isinstance(services, dict) else ():
            for path, problem, fix in _service_of_swarm(body) if isinstance(body, dict) else ():
                yield layer, ("services", str(name), *path), problem, fix
        yield from times_read_as_points(layer)


def by_both(tree: Mapping[str, Any]) -> Found:
    """What the stack commands and Compose refuse alike, since Compose's loader began as a copy of theirs."""
    finders: dict[str, Callable[[Mapping[str, Any]], Found]] = {"services": _service}
    finders |= {part: partial(_external, part) for part in _PARTS}
    for part, find in finders.items():
        section = tree.get(part)
        for name, body in section.items() if isinstance(section, dict) else ():
            for path, problem, fix in find(body) if isinstance(body, dict) else ():
                yield (part, str(name), *path), problem, fix


def _service_of_swarm(body: Mapping[str, Any]) -> Found:
    if isinstance(body.get("shm_size"), (int, float)):
        yield ("shm_size",), "must be a string", 'write a number and a unit in quotes, such as "64m"'
    limits = body.get("ulimits")
    for name, limit in limits.items() if isinstance(limits, dict) else ():
        if isinstance(limit, float):  # the schema takes 1e3 for a whole number, and the decoder doesn't
            yield ("ulimits", str(name)), "must be a whole number", "write it without a point or an exponent"
    yield from _each(body, (("deploy", "replicas"),), _count, "write a number of zero or more")
    yield from _items(body, "volumes", _bind, "name the folder or file of the host as source")


def _bind(item: Any) -> None:
    if isinstance(item, dict) and item.get("type") == "bind" and not item.get("source"):
        raise ValueError("a bind without a source")


def _service(body: Mapping[str, Any]) -> Found:
    yield from _each(body, _TIMES, parse_duration, 'write a number and a unit, such as "30s" or "1m30s"')
    yield from _each(body, _COUNTS, _count, "write a number of zero or more")
    yield from _each(body, _SIZES, parse_size, 'write a number and a unit, such as "512M"')
    yield from _each(body, (("command",), ("entrypoint",)), _words, "close the quote")
    yield from _items(body, "ports", _port, 'write "8080:80" or "8080:80/udp"')
    yield from _items(
        body, "volumes", _mount, 'write "name:/path" or "/host/path:/path", with :ro behind it if need be'
    )


def _each(body: Mapping[str, Any], paths: tuple[Path_, ...], read: Callable[[Any], object], fix: str) -> Found:
    for path in paths:
        value: Any = body
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        if value is None or isinstance(value, Unsure):
            continue
        try:
            read(value)
        except ValueError as error:
            yield path, f"isn't what Docker takes: {error}", fix


def _items(body: Mapping[str, Any], key: str, read: Callable[[Any], object], fix: str) -> Found:
    found = body.get(key)
    for index, item in enumerate(found) if isinstance(found, list) else ():
        values = item.values() if isinstance(item, dict) else [item]
        if any(isinstance(value, Unsure) for value in values):
            continue
        try:
            read(item)
        except ValueError as error:
            yield (key, str(index)), f"isn't what Docker takes: {error}", fix


def _count(value: Any) -> None:
    if isinstance(value, int) and value < 0:
        raise ValueError(f"{value} is below zero")


def _words(value: Any) -> None:
    if isinstance(value, str):
        split(value)


def _port(item: Any) -> None:
    if isinstance(item, dict):
        for key in ("target", "published"):
            number = item.get(key)
            if isinstance(number, int) and not 0 <= number < 2**32:
                raise ValueError(f"{key} is {number}")
    elif isinstance(item, float):
        raise ValueError(f"a port is no fraction, as {item} is")
    else:
        ports_of(item)


def _mount(item: Any) -> None:
    if isinstance(item, str) and short_mount(item) is None:
        raise ValueError("an empty part between colons, or too many of them")


def _external(part: str, body: Mapping[str, Any]) -> Found:
    yield from _each(body, _CLUSTER_SIZES, parse_size, 'write a number and a unit, such as "1G"')
    external = body.get("external")
    if not external or isinstance(external, Unsure):
        if part in ("secrets", "configs") and body.get("driver") and body.get("file"):
            yield ("file",), "stands beside a driver", "keep one of file and driver"
        return
    if isinstance(external, dict) and external.get("name") and body.get("name"):
        yield ("name",), "stands beside external.name", "keep name, and write external: true"
    for key in ("driver", "driver_opts", "labels") if part == "volumes" else ():
        if body.get(key):
            yield (key,), "stands beside external", f"take {key} out: the volume is there already"


_AS_TEXT = frozenset(
    (key,) for key in ("environment", "labels", "sysctls", "driver_opts", "options", "args", "extra_hosts")
)
"""Mappings whose values Docker makes texts of, whatever they are."""


def times_read_as_points(layer: Layer) -> Iterator[Refused]:
    """A date without quotes where a text has to stand."""
    for oddity in layer.oddities:
        path = oddity.path
        if oddity.kind == "time" and not any(part.startswith("x-") for part in path) and path[-2:-1] not in _AS_TEXT:
            yield layer, path, f"is a point in time to Docker, not a text: {oddity.text}", "put it in quotes"
