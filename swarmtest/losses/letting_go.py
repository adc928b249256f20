"""How long the front door really took to let go of an instance, and when it could know.

Swarm's announcement comes two seconds before the signal. One that's stopped by hand isn't announced before
it's gone; there the app itself has to tell, by turning unready or by closing its listener.
"""

from __future__ import annotations

from collections.abc import Iterable

from swarmtest.evidence.promises import Promises
from swarmtest.losses import Losses
from swarmtest.timeline import Lifespan, Mark, Timeline
from swarmtest.timeline.endings import STOPPED_BY_SWARMTEST


def told(life: Lifespan) -> Mark | None:
    """When the front door could learn that an instance was going."""
    if life.cause == STOPPED_BY_SWARMTEST:
        return life.earliest("announced", "unready", "closed", "exited")
    return life.mark("announced")


def last_arrivals(promises: Promises, timeline: Timeline, losses: Losses) -> dict[str, Mark]:
    """Task to the last new request that was sent its way, whether it got there or not.

    On the direct front door only fresh connections count: the client leaves kept ones to the server.
    """
    found: dict[str, Mark] = {}
    if not promises.direct:
        found = {life.task: mark for life in timeline.lifespans if (mark := life.mark("last_new")) is not None}
    for one in losses.telling:
        if one.life is None or (promises.direct and one.request.reused):
            continue
        steps = one.trail.start if one.trail is not None else []
        mark = Mark(one.request.began, 0.0, f"dialled for {one.request.id}")
        if steps:
            mark = Mark(steps[-1].t, steps[-1].error, "the instance's start record")
        elif not promises.direct and one.proxied is None:
            continue
        if one.life.task not in found or found[one.life.task].at < mark.at:
            found[one.life.task] = mark
    return found


def measured_seconds(promises: Promises, timeline: Timeline, losses: Losses, lives: Iterable[Lifespan]) -> float | None:
    """The longest time from when it could know to the last new request that it sent; None where nothing shows it."""
    arrivals = last_arrivals(promises, timeline, losses)
    took = [
        arrivals[life.task].at - mark.at for life in lives if life.task in arrivals and (mark := told(life)) is not None
    ]
    return max(0.0, *took) if took else None
