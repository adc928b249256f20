"""The tier that doesn't scale: connections of all instances against what the database takes."""

from __future__ import annotations

from collections.abc import Iterator

from swarmtest.lint import Certainty, Finding, Severity
from swarmtest.lint.programs.pools import Limit, Pool, limit_of, names, pool_of, speaks_to
from swarmtest.lint.rolling import at_once, instances, start_first
from swarmtest.lint.rules import Rule, Stack


def _pools_exceed_connections(stack: Stack) -> Iterator[Finding]:
    """mdn/mdn-http-observatory #386, uberswe/createmod.com #1482: what fits at rest needn't fit during a rollout."""
    limits = [limit for service in stack.services if (limit := limit_of(service)) is not None]
    pools = [pool for service in stack.services if limits and (pool := pool_of(service)) is not None]
    for limit in limits:
        direct = [
            pool for pool in pools if pool.service is not limit.service and speaks_to(pool.service, limit, len(limits))
        ]
        counted = [(pool, count) for pool in direct if (count := instances(pool.service))]
        if not counted:
            continue
        steady = sum(pool.connections * count for pool, count in counted)
        peak = steady + sum(pool.connections * _extra(pool) for pool, _ in counted)
        if peak > limit.usable:
            yield _exceeds(limit, counted, steady, peak)


def _extra(pool: Pool) -> int:
    return (at_once(pool.service, pool.service.update) or 0) if start_first(pool.service) else 0


def _exceeds(limit: Limit, counted: list[tuple[Pool, int]], steady: int, peak: int) -> Finding:
    largest = max(counted, key=lambda each: each[0].connections * each[1])[0]
    sums = " + ".join(f"{count} x {pool.said}" for pool, count in counted)
    rollout = "" if steady > limit.usable else f", and {peak} while new instances start beside the old ones"
    known = f"max_connections is {limit.connections}" if limit.stated else f"{limit.connections} is the default"
    left = f", {limit.usable} without those for superusers" if limit.usable != limit.connections else ""
    sure = limit.stated and all(names(pool.service, limit) for pool, _ in counted)
    return Finding(
        rule="pools-exceed-connections",
        severity=Severity.ERROR if sure and steady > limit.usable else Severity.WARNING,
        certainty=Certainty.CERTAIN if sure else Certainty.LIKELY,
        place=largest.service.place(*largest.key),
        effect=f"{sums} = {steady} connections to {limit.service.name}{rollout}; {known} there{left}: what's beyond"
        " is refused when it's busiest",
        fix=f"make the pools smaller, so that all instances and those of a rollout stay below {limit.usable}; or put a"
        " pooler in front of the database",
    )


RULES = (
    Rule(
        "pools-exceed-connections",
        "replicas x pool size is more than the database's max_connections",
        _pools_exceed_connections,
    ),
)
