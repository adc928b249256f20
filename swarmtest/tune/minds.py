"""Where Swarm, Docker and Compose have minds of their own about a grace, in sentences for whoever sets it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from swarmtest.stack import Service

STOP_FIRST_SECONDS = 60
"""How long Swarm waits for an old task in a stop-first update (swarmkit's ``defaultOldTaskTimeout``)."""


def warnings(service: Service, grace_seconds: int, streams: Sequence[str] = ()) -> Iterator[str]:
    """What a grace of so many seconds doesn't do.

    Arguments:
        streams: names of the traffic that's open for as long as it can be.
    """
    if grace_seconds != service.grace_seconds:
        yield (
            "a changed grace counts from the next replacement on: the update that brings it still stops instances that"
            f" were made with {service.grace_seconds:g} s (docker/cli #2441)"
        )
    ways = {"update_config": service.update, "rollback_config": service.rollback}
    slow = [name for name, policy in ways.items() if policy.order == "stop-first"]
    if grace_seconds > STOP_FIRST_SECONDS and slow:
        yield (
            f"{' and '.join(slow)} say stop-first, and Swarm then waits {STOP_FIRST_SECONDS} s for an old instance at"
            " most, whatever the grace: the new one starts beside it (moby/swarmkit #3274)"
        )
    yield (
        "`docker stop` by hand knows nothing of the service's grace and waits 10 s, and nothing announces such a stop:"
        f" say `docker stop -t {grace_seconds}` (moby/moby #36955)"
    )
    if streams:
        yield (
            f"{', '.join(streams)}: how long streams stay open has no part in the value; the app has to tell them of"
            " its stop, or they'd hold any grace"
        )
    yield "Compose goes by stop_grace_period, too; of update_config and rollback_config it knows nothing"
