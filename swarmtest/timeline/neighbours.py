"""When containers of the other services ran: a dependency that's off, or a front door that went.

They aren't judged, so that nothing more is read of them than from when until when each container ran.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import pairwise

from swarmtest.events import Event

Span = tuple[float, float | None]
"""From its start to its exit; None while it ran on."""


def read_neighbours(events: Iterable[Event], service: str, until: float) -> Mapping[str, tuple[Span, ...]]:
    """Spans of containers, by service, of all services but the one under test."""
    started: dict[tuple[str, str], float] = {}
    exited: dict[tuple[str, str], float] = {}
    for event in sorted(events, key=lambda event: event.t):
        other = event.kind == "container" and event.get("service") not in (None, service) and event.t < until
        if not other:
            continue
        key = str(event.get("service")), str(event.get("container"))
        if event.get("action") == "start":
            started.setdefault(key, event.t)
        elif event.get("action") == "die":
            exited[key] = event.t
    found: defaultdict[str, list[Span]] = defaultdict(list)
    for key, began in started.items():
        found[key[0]].append((began, exited.get(key)))
    return {name: tuple(spans) for name, spans in found.items()}


def off_between(spans: Iterable[Span], first: float, last: float) -> Span | None:
    """The longest time between two moments in which none of these containers ran; None where one always did.

    The end is None where none ran until the last moment.
    """
    spans = tuple(spans)
    edges = sorted({first, last, *(t for span in spans for t in span if t is not None and first < t < last)})
    gaps: list[tuple[float, float]] = []
    for began, ended in pairwise(edges):
        middle = (began + ended) / 2
        if any(start <= middle and (end is None or middle < end) for start, end in spans):
            continue
        if gaps and gaps[-1][1] == began:
            gaps[-1] = (gaps[-1][0], ended)
        else:
            gaps.append((began, ended))
    if not gaps:
        return None
    began, ended = max(gaps, key=lambda gap: gap[1] - gap[0])
    return began, None if ended == last else ended
