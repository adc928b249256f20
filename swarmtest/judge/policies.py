"""What retries and cold starts came to, as it stands in the document."""

from __future__ import annotations

from swarmtest.checks import Judged
from swarmtest.losses.retries import read_retries
from swarmtest.losses.warming import Warming, read_warming, slowness
from swarmtest.reports.policy_entries import FirstRequests, RetryEntry


def retry_entries(judged: Judged) -> list[RetryEntry]:
    """Every kind that has a policy."""
    return [
        RetryEntry(
            kind=one.kind,
            requests=one.requests,
            tries=one.requests + one.again,
            amplification=round(one.amplification, 4),
            lost_first=one.lost_first,
            saved=one.saved,
            unbudgeted=one.unbudgeted,
            budget=one.policy.budget,
        )
        for one in read_retries(judged.losses, judged.requests, judged.promises)
    ]


def first_requests(judged: Judged) -> dict[str, FirstRequests]:
    """Of each new instance, by its task, the kind of which its first requests were slowest beside usual ones."""
    worst: dict[str, Warming] = {}
    for one in read_warming(judged.requests, judged.timeline)[0]:
        if one.life.task not in worst or slowness(one) > slowness(worst[one.life.task]):
            worst[one.life.task] = one
    return {
        task: FirstRequests(
            one.kind,
            round(one.first_ms, 3),
            round(one.first_most_ms, 3),
            round(one.usual_ms, 3),
            round(one.usual_most_ms, 3),
        )
        for task, one in worst.items()
    }
