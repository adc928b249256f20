"""Other clocks than ours: what an engine's or an app's time means by our clock, and how surely.

The trace's head holds each node's offset (its clock minus ours) and the error of that measurement.
An offset within its own error is taken for none; a larger one is taken off, so that nothing exits
before it was started.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from swarmtest.events import Event

_THEIRS = {
    "container": ("t",),
    "record": ("t",),
    "proxied": ("t",),
    "names": ("t", "since"),
    "task": ("created",),
    "update_status": ("started", "completed"),
}
"""Kinds of events, and which of their times are told by another clock than ours."""


@dataclass(frozen=True, slots=True)
class Clock:
    """Turns the time of a fact on a node into ours.

    Attributes:
        offsets: node to (seconds, error).
        nodes: container to the node that it runs on.
        settled: the events' times are ours already, and only their error is left.
    """

    offsets: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    nodes: Mapping[str, str] = field(default_factory=dict)
    settled: bool = False

    def settle(self, events: Iterable[Event]) -> tuple[list[Event], Clock]:
        """The events by our clock, and the clock that knows it.

        It's done once and of all times, since a time that's held against one of ours must be ours: when
        the rollout began, when the stack was removed, when a poll saw something.
        """
        return [self._ours(event) for event in events], replace(self, settled=True)

    def _ours(self, event: Event) -> Event:
        shift = self._shift(event)
        if not shift or event.kind not in _THEIRS:
            return event
        t, data = event.t, dict(event.data)
        for name in _THEIRS[event.kind]:
            if name == "t":
                t -= shift
            elif isinstance(value := data.get(name), (int, float)) and value:
                data[name] = value - shift
        return Event(t, event.kind, data)

    def of(self, event: Event) -> tuple[float, float]:
        """Time of a fact by our clock, and its error."""
        _, error = self._offset(self._node(event))
        return event.t - (0.0 if self.settled else self._shift(event)), error

    def shift_of(self, container: str) -> float:
        """What a container's own clock is ahead of ours, where that's to be taken off."""
        return self._shift(Event(0.0, "record", {"container": container}))

    def error_of(self, container: str) -> float:
        """The error of a container's clock."""
        return self._offset(self.nodes.get(container, ""))[1]

    @property
    def shifts(self) -> bool:
        """Whether any clock is far enough off to be taken off."""
        return any(abs(seconds) > error for seconds, error in self.offsets.values())

    def _shift(self, event: Event) -> float:
        seconds, error = self._offset(self._node(event))
        return seconds if abs(seconds) > error else 0.0

    def _node(self, event: Event) -> str:
        return event.get("node") or self.nodes.get(event.get("container") or "") or ""

    def _offset(self, node: str) -> tuple[float, float]:
        if node in self.offsets:
            return self.offsets[node]
        if len(self.offsets) == 1:
            return next(iter(self.offsets.values()))
        return 0.0, max((abs(seconds) + error for seconds, error in self.offsets.values()), default=0.0)


def read_clock(events: Iterable[Event]) -> Clock:
    """The clock of a trace: offsets of its head, and the node of each container."""
    offsets: dict[str, tuple[float, float]] = {}
    nodes: dict[str, str] = {}
    for event in events:
        if event.kind == "trace":
            for node, offset in (event.get("offsets") or {}).items():
                offsets[node] = (float(offset.get("seconds") or 0.0), abs(float(offset.get("error") or 0.0)))
        elif event.kind in ("container", "task") and event.get("container") and event.get("node"):
            nodes[event.get("container")] = event.get("node")
    return Clock(offsets, nodes)
