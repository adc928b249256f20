"""What the ``x-swarmtest`` block says of the service under test, as far as it can be read without refusing anything."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from swarmtest.lint.rules import Stack
from swarmtest.lint.services import LintService
from swarmtest.stack.syntax.durations import parse_duration

ANNOUNCED_SECONDS = 2.0
"""Swarm takes a task out of DNS so long before its stop signal."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The service under test.

    Attributes:
        longest_seconds: the longest request that's planned; None where nothing says.
        front_door_seconds: how long after the stop signal the front door may still send; 0 where nothing says.
        front_door: in words, where that's more than nothing.
        streams: kinds of traffic that hold a connection open.
    """

    service: LintService
    longest_seconds: float | None
    front_door_seconds: float
    front_door: str
    streams: tuple[str, ...]


def subject_of(stack: Stack) -> Subject | None:
    """The service under test; None without the block, and where neither it nor a port says which one."""
    about = _part(stack.document.tree, "x-swarmtest")
    service = _service(stack, about) if about else None
    if service is None:
        return None
    traffic = _part(about, "traffic")
    kinds = {str(key): kind for key, kind in _part(traffic, "kinds").items() if isinstance(kind, Mapping)}
    late, words = _front_door(_part(about, "front_door"))
    streams = tuple(key for key, kind in kinds.items() if kind.get("protocol") in ("websocket", "sse"))
    return Subject(service, _longest(about, [traffic, *kinds.values()]), late, words, streams)


def _service(stack: Stack, about: Mapping[str, Any]) -> LintService | None:
    """The one that's named, else the only one that publishes a port, as a run takes it."""
    name = about.get("service")
    if name is not None:
        return next((each for each in stack.services if each.name == name), None)
    published = [each for each in stack.services if each.ports]
    if _part(about, "front_door").get("service") is not None:
        return None  # it's the proxy's port
    return published[0] if len(published) == 1 else None


def _part(body: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = body.get(key)
    return value if isinstance(value, Mapping) else {}


def _duration(value: object) -> float | None:
    try:
        return parse_duration(value)
    except ValueError:
        return None


def _longest(about: Mapping[str, Any], kinds: Iterable[Mapping[str, Any]]) -> float | None:
    said = _duration(about.get("longest_request"))
    if said is not None:
        return said
    return max((most for kind in kinds if (most := _most_seconds(kind.get("ms"))) is not None), default=None)


def _most_seconds(value: object) -> float | None:
    """In seconds; of ``ms: [20, 300]`` the upper one."""
    most = value[1] if isinstance(value, list) and len(value) == 2 else value
    return most / 1000 if isinstance(most, int | float) and not isinstance(most, bool) else None


def _front_door(part: Mapping[str, Any]) -> tuple[float, str]:
    """How long after the signal it may still send: whoever reads DNS or the tasks is told 2 s before the signal."""
    within, detects = _duration(part.get("within")), part.get("detects")
    if within is None:
        return 0.0, ""
    late = max(0.0, within - ANNOUNCED_SECONDS) if detects in ("dns", "tasks") else within
    return late, f"{late:g} s until the front door has noticed" if late else ""
