"""How long a step may take before it counts as stuck: the sum of all that the file allows for, and some more."""

from __future__ import annotations

from swarmtest.stack import Service

LONGEST_GRACE_SECONDS = 600.0
"""A longer grace isn't waited for in full by half as much again."""


def of_start(service: Service) -> float:
    """From a task's creation until it's healthy."""
    health = service.health
    return 15.0 + (health.start_period_seconds + health.interval_seconds * (health.retries + 1) if health else 0.0)


def of_rollout(service: Service) -> float:
    """An update of all tasks; one that fails is rolled back in as much time again."""
    policy = service.update
    batches = -(-service.replicas // max(1, policy.parallelism or service.replicas))
    stop = min(service.grace_seconds, LONGEST_GRACE_SECONDS) + 2.0
    each = of_start(service) + stop + policy.delay_seconds + policy.monitor_seconds
    return 30.0 + 1.5 * batches * each + 2 * policy.delay_seconds


def of_recovery(service: Service) -> float:
    """From a hurt until everything is up again."""
    stop = min(service.grace_seconds, LONGEST_GRACE_SECONDS)
    return 20.0 + 1.5 * (of_start(service) + stop + service.restart_delay_seconds)
