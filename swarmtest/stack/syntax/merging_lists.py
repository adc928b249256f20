"""Lists of a service that are laid over each other: which items count as one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from swarmtest.stack.ports import ports_of
from swarmtest.stack.syntax.volumes import short_mount

Merge = Callable[[Any, Any], Any]


def items(value: Any) -> list[Any]:
    """A list, or what is written in place of one, as a list."""
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        return [f"{key}:{item}" for key, item in value.items()]
    return [] if value is None else [value]


def appended(base: Any, over: Any) -> list[Any]:
    """The items of both."""
    return items(base) + items(over)


def keyed(key_of: Callable[[Any], Any]) -> Merge:
    """Lists whose later items replace earlier ones of the same key."""

    def merge(base: Any, over: Any) -> list[Any]:
        found: dict[Any, Any] = {}
        for item in appended(base, over):
            found[_hashable(key_of(item))] = item
        return list(found.values())

    return merge


def _hashable(key: Any) -> Any:
    return repr(key) if isinstance(key, (dict, list)) else key


def port(item: Any) -> Any:
    """What one entry publishes; two that publish the same are one."""
    try:
        return tuple(ports_of(item))
    except ValueError:
        return repr(item)


def ports_outside(base: Any, over: Any) -> list[Any]:
    """Of 443/tcp and 443/udp only the later stays: docker/cli tells ports apart by the number outside alone."""
    found: dict[Any, Any] = {}
    for item in appended(base, over):
        try:
            ports = ports_of(item)
        except ValueError:
            found[repr(item)] = item
            continue
        for each in ports:
            whole = item if len(ports) == 1 else f"{each.published or ''}:{each.target}/{each.protocol}".lstrip(":")
            found[each.published or 0] = whole
    return list(found.values())


def target(item: Any) -> Any:
    """Where something is mounted."""
    if isinstance(item, str):
        mount = short_mount(item)
        return mount.target if mount else item
    return item.get("target") if isinstance(item, dict) else repr(item)


def source(item: Any) -> Any:
    """The name of a secret or config, whichever way it is written."""
    return item.get("source") if isinstance(item, dict) else item


def networks(base: Any, over: Any) -> dict[str, Any]:
    """A service's networks by their names, with what is said of each."""
    found = as_keys(base)
    for name, value in as_keys(over).items():
        old = found.get(name)
        found[name] = {**old, **value} if isinstance(old, dict) and isinstance(value, dict) else value or old
    return found


def as_keys(value: Any) -> dict[str, Any]:
    """A list of names as a mapping to nothing."""
    return dict(value) if isinstance(value, dict) else {str(item): None for item in items(value)}
