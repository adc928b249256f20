"""When instances began to go that nobody had told to: of a bad version, or of a dependency that's off."""

from __future__ import annotations

from swarmtest.timeline import Timeline
from swarmtest.timeline.endings import CRASHED, HEALTH_CHECK

DEATHS = (HEALTH_CHECK, CRASHED)
"""Ends that an instance comes to when it doesn't survive without its dependency."""


def spoilt_from(timeline: Timeline) -> float:
    """From when on instances of a bad version went; infinity where none did."""
    gone = (life.earliest("unhealthy", "announced", "signalled", "exited") for life in timeline.new)
    return min((mark.at - mark.error for mark in gone if mark is not None), default=float("inf"))


def dead_from(timeline: Timeline, since: float) -> float:
    """From when on instances died while they lacked a dependency; infinity where none did."""
    dead = [life.ready_until for life in timeline.lifespans if life.cause in DEATHS]
    return min((mark.at - mark.error for mark in dead if mark is not None and mark.at > since), default=float("inf"))
