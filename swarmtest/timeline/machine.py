"""The machine that the traffic came from: whether anything of it was left."""

from __future__ import annotations

from collections.abc import Iterable

from swarmtest.events import Event
from swarmtest.timeline.lifespan import Timeline

FULL = 0.95
"""A machine this busy has nothing left for anybody."""

LEAST_SECONDS = 2.0
"""A shorter stretch is what any start of a container takes."""


def is_full(timeline: Timeline) -> bool:
    """Whether the client's machine was the bottleneck from the first request to the last, by its own count."""
    share = timeline.traffic.get("stopped", {}).get("machine_share")
    return share is not None and share >= FULL


def full_stretches(events: Iterable[Event]) -> tuple[tuple[float, float], ...]:
    """From when until when a client's machine had nothing left, by its word each second."""
    before: dict[str, float] = {}
    spans: list[tuple[float, float]] = []
    for event in events:
        if event.kind != "traffic" or event.get("event") not in ("started", "tick"):
            continue
        client, share = str(event.get("client") or ""), event.get("machine_share")
        if client in before and isinstance(share, (int, float)) and share >= FULL:
            spans.append((before[client], event.t))
        before[client] = event.t
    return tuple((first, last) for first, last in _joined(spans) if last - first >= LEAST_SECONDS)


def _joined(spans: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Spans that touch as one."""
    found: list[tuple[float, float]] = []
    for first, last in sorted(spans):
        if found and first <= found[-1][1]:
            found[-1] = (found[-1][0], max(last, found[-1][1]))
        else:
            found.append((first, last))
    return found


def full_machine(timeline: Timeline, *, at_times: bool = False) -> str | None:
    """Says that the client's machine was the bottleneck, and who had how much of it; None where it wasn't, or unseen.

    Arguments:
        at_times: for some seconds is enough.

    Where the engine is on the same machine, the instances are slow for want of what the others take, and requests are
    lost that on a larger one wouldn't be.
    """
    stopped = timeline.traffic.get("stopped", {})
    share, client = stopped.get("machine_share"), stopped.get("cpu_share_max")
    seconds = sum(last - first for first, last in timeline.full) if at_times else 0.0
    if share is None or client is None or not (is_full(timeline) or seconds):
        return None
    busy = f"{share * 100:.0f} % busy on average"
    if not is_full(timeline):
        busy = f"more than {FULL * 100:.0f} % busy for {seconds:.0f} s"
    served = sum(life.cpu_max or 0.0 for life in timeline.lifespans if life.mark("exited") is None)
    return (
        f"the bottleneck is the client's machine: its {stopped.get('processors')} processors were"
        f" {busy}; the client had {client:.2f} of one at most,"
        f" the instances that still run {served:.2f}"
    )
