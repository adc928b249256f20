"""Lost requests that nobody can place, which may have been any instance's: what they leave unproved.

Where the instance's word is missing, a check must not take silence for a good sign: a request whose
end nobody knows may have been cut by the very stop that's judged.
"""

from __future__ import annotations

from collections.abc import Collection

from swarmtest.losses import Accounted, Loss, Losses
from swarmtest.timeline import Lifespan

UNHEARD = (Loss.REFUSED, Loss.UNSERVED, Loss.GATEWAY, Loss.UNKNOWN, Loss.TIMED_OUT)
"""Classes of requests that no handler need have seen."""

FATE_UNKNOWN = (Loss.UNKNOWN, Loss.TIMED_OUT, Loss.UNRESOLVED)
"""Classes of requests that may have run to any point."""


def unplaced(losses: Losses, first: float, last: float, of: Collection[Loss] = UNHEARD) -> list[str]:
    """IDs of lost requests sent in that time, perhaps to an instance that nobody can name."""
    return [
        one.request.id
        for one in losses.seen
        if one.life is None and one.loss in of and first < one.request.began < last and not _reached_none(one)
    ]


def perhaps_cut(losses: Losses, life: Lifespan, stop: float) -> list[str]:
    """IDs of requests of unknown fate that may have run on an instance at its end, and have been cut by it.

    Arguments:
        stop: when its stop began.
    """
    exited = life.at("exited")
    return [
        one.request.id
        for one in losses.seen
        if one.loss in FATE_UNKNOWN
        and (one.loss is Loss.UNKNOWN or not losses.records.whole)
        and (one.life is None or one.life.task == life.task)
        and not (one.trail is not None and one.trail.seen)
        and not _reached_none(one)
        and one.request.ended >= stop
        and (exited is None or one.request.began < exited)
    ]


def _reached_none(one: Accounted) -> bool:
    """Whether the proxy says that it sent the request to no instance."""
    return one.proxied is not None and one.proxied.server is None
