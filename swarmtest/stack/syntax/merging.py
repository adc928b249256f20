"""Lays the files of one stack over each other, as the target does it; the two don't agree.

``docker stack deploy`` (docker/cli ``cli/compose/loader/merge.go``) merges what it has read: a zero, ``false`` or
an empty text in a later file changes nothing, lists are appended (the words of a health check too), of a service's
ports one is kept for each number outside, and a top-level network or volume is replaced as a whole. Compose
(compose-go ``override/merge.go``) merges what is written, and knows ``!reset`` and ``!override``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any

from swarmtest.stack.syntax.building import RESET, Override, Path_
from swarmtest.stack.syntax.durations import parse_duration
from swarmtest.stack.syntax.merging_lists import (
    Merge,
    appended,
    items,
    keyed,
    networks,
    port,
    ports_outside,
    source,
    target,
)

_PAIRS = ("environment", "labels", "sysctls")
_APPENDED = ("dns", "dns_search", "tmpfs", "cap_add", "cap_drop", "depends_on", "env_file", "expose", "extra_hosts")
_APPENDED_TOO = ("external_links", "links", "devices", "security_opt")
_ZERO_COUNTS = frozenset(("replicas", "parallelism", "retries", "max_attempts"))
"""Pointers in docker/cli's types, so that a written zero is told from none."""
_TIMES = frozenset(("stop_grace_period", "delay", "monitor", "window", "interval", "timeout", "start_period"))


def settled(value: Any) -> Any:
    """A tree without the tags of Compose: what's reset is gone, what's overridden is its value."""
    if isinstance(value, Override):
        return settled(value.value)
    if isinstance(value, dict):
        return {key: settled(item) for key, item in value.items() if item is not RESET}
    return [settled(item) for item in value if item is not RESET] if isinstance(value, list) else value


def merged_by_swarm(trees: list[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The files as one."""
    return reduce(_two_of_swarm, trees)


def _two_of_swarm(base: Mapping[str, Any], over: Mapping[str, Any]) -> Mapping[str, Any]:
    found = dict(base)
    for key, value in over.items():
        old = found.get(key)
        if not isinstance(old, dict) or not isinstance(value, dict):
            found.setdefault(key, value)
        elif key == "services":
            found[key] = {**old, **{name: _service(old.get(name), body) for name, body in value.items()}}
        elif key in ("networks", "volumes", "secrets", "configs"):
            found[key] = {**old, **value}
    return found


def _service(base: Any, over: Any) -> Any:
    if not isinstance(base, dict) or not isinstance(over, dict):
        return over
    found: dict[str, Any] = _swarm(base, over, ())
    for key in ("ports", "volumes", "secrets", "configs"):
        if isinstance(found.get(key), list):  # whether or not the later file has any
            found[key] = _SWARM[(key,)](found[key], [])
    return found


def _swarm(base: Any, over: Any, path: Path_) -> Any:
    if rule := _SWARM.get(path) or _SWARM.get(("*", *path[1:])):
        return rule(base, over)
    if isinstance(base, dict) and isinstance(over, dict):
        return _by_key(base, over, path)
    if isinstance(base, list) and isinstance(over, list):
        return base + over
    key = path[-1] if path else ""
    return over if key in _ZERO_COUNTS or not _is_zero(over, a_time=key in _TIMES) else base


def _by_key(base: Mapping[str, Any], over: Mapping[str, Any], path: Path_) -> dict[str, Any]:
    found = dict(base)
    for key, value in over.items():
        found[key] = _swarm(found[key], value, (*path, key)) if found.get(key) is not None else value
    return found


def _is_zero(value: Any, *, a_time: bool) -> bool:
    if not value:
        return True
    try:
        return a_time and isinstance(value, str) and parse_duration(value) == 0
    except ValueError:
        return False


def pairs(value: Any) -> dict[str, Any]:
    """``environment`` or labels as a mapping, whichever way they're written."""
    if isinstance(value, dict):
        return dict(value)
    found: dict[str, Any] = {}
    for item in value if isinstance(value, list) else ():
        name, given, text = str(item).partition("=")
        found[name] = text if given else None
    return found


def _paired(base: Any, over: Any) -> dict[str, Any]:
    old = pairs(base)
    return {**old, **{name: value for name, value in pairs(over).items() if value is not None or name not in old}}


def _paired_anew(base: Any, over: Any) -> dict[str, Any]:
    return {**pairs(base), **pairs(over)}


def _tests(base: Any, over: Any) -> list[Any]:
    return [word for test in (base, over) for word in (["CMD-SHELL", test] if isinstance(test, str) else items(test))]


def _not_empty(base: Any, over: Any) -> Any:
    return over or base


def _over(_base: Any, over: Any) -> Any:
    return over


def _logging(base: Any, over: Any) -> Any:
    if not isinstance(base, dict) or not isinstance(over, dict):
        return over
    if base.get("driver") and over.get("driver") and base["driver"] != over["driver"]:
        return over
    options = [each["options"] for each in (base, over) if isinstance(each.get("options"), dict)]
    return {**base, **over, **({"options": reduce(_paired, options)} if options else {})}


_SHARED: dict[Path_, Merge] = {
    **{(key,): _paired for key in _PAIRS},
    ("deploy", "labels"): _paired,
    ("build", "args"): _paired,
    **{(key,): appended for key in (*_APPENDED, *_APPENDED_TOO)},
    ("logging",): _logging,
    ("volumes",): keyed(target),
    ("networks",): networks,
}
_SWARM: dict[Path_, Merge] = {
    **_SHARED,
    **{(key,): _not_empty for key in ("command", "entrypoint")},
    ("healthcheck", "test"): _tests,
    ("ports",): ports_outside,
    ("secrets",): keyed(source),
    ("configs",): keyed(source),
}


def _depends(base: Any, over: Any) -> Any:
    """Compose reads the short way of writing as the long one."""
    named = [value if isinstance(value, dict) else dict.fromkeys(items(value)) for value in (base, over)]
    return {**named[0], **named[1]}


def _mounted(item: Any) -> Any:
    return item.get("target", item.get("source")) if isinstance(item, dict) else item


_COMPOSE: dict[Path_, Merge] = {
    **_SHARED,
    **dict.fromkeys((("command",), ("entrypoint",), ("healthcheck", "test")), _over),
    **{(key,): keyed(lambda item: item) for key in ("dns", "tmpfs", "expose", "env_file", "cap_add", "cap_drop")},
    ("depends_on",): _depends,
    **{(key,): _paired_anew for key in (*_PAIRS, "annotations")},
    ("ports",): keyed(port),
    ("secrets",): keyed(_mounted),
    ("configs",): keyed(_mounted),
}


def merged_by_compose(trees: list[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The files as one, with what a later one resets taken away."""
    found: Mapping[str, Any] = settled(reduce(lambda base, over: _compose(base, over, ()), trees))
    return found


def _compose(base: Any, over: Any, path: Path_) -> Any:
    if isinstance(over, Override) or over is RESET:
        return over
    base = base.value if isinstance(base, Override) else base
    if base is RESET or base is None or over is None:
        return base if over is None and base is not RESET else over
    below = path[2:] if path[:1] == ("services",) else ()
    if below and (rule := _COMPOSE.get(below)):
        return rule(settled(base), settled(over))
    if isinstance(base, dict) and isinstance(over, dict):
        found = dict(base)
        for key, value in over.items():
            found[key] = _compose(found[key], value, (*path, key)) if key in found and key[:2] != "x-" else value
        return found
    return base + over if isinstance(base, list) and isinstance(over, list) else over
