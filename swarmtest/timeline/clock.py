"""Other clocks than ours: what an engine's or an app's time means by our clock, and how surely.

The trace's head holds each node's offset (its clock minus ours) and the error of that measurement.
An offset within its own error is taken for none; a larger one is taken off, so that nothing exits
before it was started.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from swarmtest.events import Event


@dataclass(frozen=True, slots=True)
class Clock:
    """Turns the time of a fact on a node into ours.

    Attributes:
        offsets: node to (seconds, error).
        nodes: container to the node that it runs on.
    """

    offsets: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    nodes: Mapping[str, str] = field(default_factory=dict)

    def of(self, event: Event) -> tuple[float, float]:
        """Time of a fact by our clock, and its error."""
        node = event.get("node") or self.nodes.get(event.get("container") or "") or ""
        seconds, error = self._offset(node)
        return event.t - (seconds if abs(seconds) > error else 0.0), error

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
