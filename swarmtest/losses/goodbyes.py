"""How requests by HTTP/2 are lost by the end of their connection, and what a GOAWAY would have done for them."""

from __future__ import annotations

from swarmtest.losses import Accounted, Charge
from swarmtest.losses.charge import reloading
from swarmtest.losses.ways import Mechanism
from swarmtest.timeline import Lifespan, Timeline
from swarmtest.timeline.endings import AS_ASKED

_JUST_SECONDS = 0.3
"""A request that ends this little before its instance ended with it."""

_ENDED = ("closed_unanswered", "closed_in_body", "refused_stream")


def goodbye_of(lost: Accounted) -> Mechanism | None:
    """What was wrong with the goodbye that a request was lost to; None where it was lost to something else."""
    request = lost.request
    if request.protocol != "h2" or request.client_outcome not in _ENDED:
        return None
    ran = lost.trail is not None and lost.trail.seen
    if request.goaway is not None:
        # What was taken on before is no matter of the goodbye, but of the drain, whatever the peer says of it.
        return Mechanism.GOAWAY_AT_ONCE if request.client_outcome == "refused_stream" and not ran else None
    if ran:
        of_the_stream = (request.error or "").startswith("RST_STREAM")
        return Mechanism.GOAWAY_MISSING if not of_the_stream and _needlessly(lost, lost.life) else None
    return Mechanism.GOAWAY_MISSING if request.reused else None


def reloaded_under(lost: Accounted, timeline: Timeline) -> bool:
    """Whether it was lost to a front door that was told to begin anew, and to no instance."""
    gone = lost.life is not None and lost.life.stopping is not None and lost.life.stopping.at <= lost.request.ended
    return lost.charge is Charge.FRONT_DOOR and not gone and reloading(lost.request, timeline)


def _needlessly(lost: Accounted, life: Lifespan | None) -> bool:
    """Whether it needn't have been on that connection, or the connection needn't have ended while it ran.

    What an instance cuts by its own end would have been cut with a goodbye, too, if it was there before the signal.
    """
    end = (life.at("killed") or life.at("exited")) if life is not None else None
    if life is None or end is None or lost.request.ended < end - _JUST_SECONDS:
        return True
    signalled = life.at("signalled")
    return life.cause == AS_ASKED and signalled is not None and lost.request.began >= signalled
