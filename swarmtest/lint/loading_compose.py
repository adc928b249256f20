"""What Compose refuses although its schema doesn't (compose-go ``loader/validate.go``, ``validation/``)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from swarmtest.lint.document import Document
from swarmtest.lint.loading import Found, Refused, by_both, times_read_as_points
from swarmtest.stack.syntax.interpolation import Unsure
from swarmtest.stack.syntax.merging import pairs
from swarmtest.stack.syntax.sizes import is_size
from swarmtest.stack.syntax.volumes import short_mount

_CPUS = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_SOURCES = {"secrets": ("file", "environment"), "configs": ("file", "environment", "content")}


def refused_by_compose(document: Document) -> Iterator[Refused]:
    """Where and why, and what to write; of the files as they're merged."""
    layer = document.layers[-1]
    for each in document.layers:
        yield from times_read_as_points(each)
    for find in (by_both, _whole):
        for path, problem, fix in find(document.tree):
            yield layer, path, problem, fix


def _whole(tree: Mapping[str, Any]) -> Found:
    if tree.get("include"):
        return  # what's meant may be in a file that isn't given
    services = _mapping(tree.get("services"))
    if "services" not in tree:
        yield (), "has no services", "write services: with one of them at least"
    known = {part: set(_mapping(tree.get(part))) for part in ("networks", "volumes", "secrets", "configs")}
    for name, body in services.items():
        for path, problem, fix in _service(body, set(services), known) if isinstance(body, dict) else ():
            yield ("services", name, *path), problem, fix
    for part, keys in _SOURCES.items():
        for name, body in _mapping(tree.get(part)).items():
            for path, problem, fix in _content(_mapping(body), keys):
                yield (part, name, *path), problem, fix


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _service(body: Mapping[str, Any], services: set[str], known: Mapping[str, set[str]]) -> Found:
    yield from _formats(body)
    if body.get("extends"):
        return  # the rest may be in the service that it extends
    started = [body.get(key) for key in ("image", "build", "provider")]
    if not any(value or isinstance(value, Unsure) for value in started):
        yield (), "has neither an image nor a build", "write image: NAME:TAG, or build: FOLDER"
    networks = body.get("networks")
    for name in pairs(networks) if networks else ():
        if name != "default" and name not in known["networks"] and not isinstance(name, Unsure):
            yield ("networks",), f"names the network {name}, which the file doesn't have", _under("networks", name)
    for name in pairs(body.get("depends_on")):
        needed = _mapping(_mapping(body.get("depends_on")).get(name)).get("required", True)
        if name not in services and needed is True and not isinstance(name, Unsure):
            fix = f"name one of {', '.join(sorted(services))}"
            yield ("depends_on",), f"names the service {name}, which the file doesn't have", fix
    for part, name_of in (("volumes", _volume), ("secrets", _source), ("configs", _source)):
        items = body.get(part)
        for index, item in enumerate(items) if isinstance(items, list) else ():
            named = name_of(item)
            if named and named not in known[part]:
                yield (part, str(index)), f"names {named}, which isn't under the top-level {part}", _under(part, named)


def _formats(body: Mapping[str, Any]) -> Found:
    test = _mapping(body.get("healthcheck")).get("test")
    if isinstance(test, list) and test and test[0] not in ("CMD", "CMD-SHELL", "NONE"):
        yield ("healthcheck", "test"), "begins with neither CMD nor CMD-SHELL nor NONE", "put CMD before the words"
    for key, value in (("shm_size", body.get("shm_size")), ("mem_limit", body.get("mem_limit"))):
        if isinstance(value, str) and not isinstance(value, Unsure) and not is_size(value):
            yield (key,), f"isn't a size: {value!r}", 'write a number and a unit, such as "64m"'
    limits = _mapping(_mapping(_mapping(body.get("deploy")).get("resources")).get("limits"))
    cpus = limits.get("cpus")
    if isinstance(cpus, str) and not isinstance(cpus, Unsure) and not _CPUS.fullmatch(cpus):
        yield ("deploy", "resources", "limits", "cpus"), f"isn't a number: {cpus!r}", 'write "0.5"'
    ports = body.get("ports")
    for index, item in enumerate(ports) if isinstance(ports, list) else ():
        target = item.get("target", "0") if isinstance(item, dict) else str(item).partition("/")[0].rpartition(":")[2]
        if target == "0":
            yield ("ports", str(index)), "has no port of the container", 'write "8080:80"'


def _source(item: Any) -> str | None:
    name = item.get("source") if isinstance(item, dict) else item
    return name if type(name) is str else None


def _under(part: str, name: str) -> str:
    return f"write it under the top-level {part} ({name}: ), or name one that's there"


def _volume(item: Any) -> str | None:
    """The named volume that's mounted, None where none is."""
    if isinstance(item, Unsure):
        return None
    if isinstance(item, dict):
        source = item.get("source")
        return source if item.get("type") == "volume" and type(source) is str and source else None
    mount = short_mount(item) if isinstance(item, str) else None
    return mount.source if mount and mount.kind == "volume" and mount.source else None


def _content(body: Mapping[str, Any], keys: tuple[str, ...]) -> Found:
    given = [key for key in keys if key in body]
    if len(given) > 1:
        yield (given[1],), f"stands beside {given[0]}", "keep one of them"
    if not given and "driver" not in body and "external" not in body:
        yield (), f"has none of {', '.join(keys)}", "write file: PATH, or external: true"
