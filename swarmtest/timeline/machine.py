"""The machine that the traffic came from: whether anything of it was left."""

from __future__ import annotations

from swarmtest.timeline.lifespan import Timeline

FULL = 0.95
"""A machine this busy on average has nothing left for anybody."""


def is_full(timeline: Timeline) -> bool:
    """Whether the client's machine was the bottleneck, by its own count."""
    share = timeline.traffic.get("stopped", {}).get("machine_share")
    return share is not None and share >= FULL


def full_machine(timeline: Timeline) -> str | None:
    """Says that the client's machine was the bottleneck, and who had how much of it; None where it wasn't, or unseen.

    Where the engine is on the same machine, the instances are slow for want of what the others take, and requests are
    lost that on a larger one wouldn't be.
    """
    stopped = timeline.traffic.get("stopped", {})
    share, client = stopped.get("machine_share"), stopped.get("cpu_share_max")
    if share is None or client is None or not is_full(timeline):
        return None
    served = sum(life.cpu_max or 0.0 for life in timeline.lifespans if life.mark("exited") is None)
    return (
        f"the bottleneck is the client's machine: its {stopped.get('processors')} processors were"
        f" {share * 100:.0f} % busy on average; the client had {client:.2f} of one at most,"
        f" the instances that still run {served:.2f}"
    )
