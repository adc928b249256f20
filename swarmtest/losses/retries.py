"""What came of a client's retries, beside the losses by try: how many there were, and what they were worth.

A retry hides nothing here. Its first try keeps its class, and an original that was answered after all is told
beside it. What the client does with its policy is seen from the records alone, so it's held to it, too.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import floor

from swarmtest.evidence.promises import Promises
from swarmtest.evidence.request import Request
from swarmtest.evidence.requests import Requests
from swarmtest.evidence.traffic import KindPromise, RetriesPromise
from swarmtest.losses import Accounted, Loss, Losses
from swarmtest.timeline import Trail

WINDOW_SECONDS = 10.0
"""The budget is a share of the requests that were begun within this time."""

IDEMPOTENT = ("GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE")
_NO_EFFECT = ("GET", "HEAD", "OPTIONS", "TRACE")
_REASONS = {
    "no_connection": "refused",
    "refused_stream": "unserved",
    "closed_unanswered": "closed",
    "closed_in_headers": "closed",
    "closed_in_body": "closed",
    "timed_out": "timed_out",
}


@dataclass(frozen=True, slots=True)
class Retried:
    """One kind of traffic with a policy.

    Attributes:
        requests: those that were sent, each counted once.
        again: tries beyond the first ones.
        lost_first: requests whose first try was lost.
        saved: those of them that a later try brought to a good end.
        without_cause: tries whose request had been answered well before, or whose first try nobody knows of.
        unbudgeted: tries that were worth another and safe, and weren't followed by one.
        most: of the budget's windows the fullest: retries and requests in it.
    """

    kind: str
    policy: RetriesPromise
    requests: int
    again: int
    lost_first: int
    saved: int
    without_cause: tuple[str, ...]
    unbudgeted: int
    most: tuple[int, int]

    @property
    def amplification(self) -> float:
        """Tries for each request."""
        return (self.requests + self.again) / self.requests if self.requests else 1.0

    @property
    def within_budget(self) -> bool:
        """Whether no window had more than the budget; one more is the clock's, which isn't the client's own."""
        again, requests = self.most
        return again <= self.policy.budget * requests + 1


def read_retries(losses: Losses, requests: Requests, promises: Promises) -> list[Retried]:
    """Every kind that has a policy, in the plan's order."""
    found = []
    for kind in promises.traffic.kinds:
        if kind.retries is not None:
            tries = [one for one in losses.telling if one.request.kind == kind.name]
            found.append(_read(kind, tries, requests))
    return found


def done_twice(telling: Sequence[Accounted]) -> list[tuple[str, tuple[Accounted, ...]]]:
    """Requests that took effect in more than one of their tries, by the instances' own records."""
    names = {one.request.again for one in telling if one.request.again is not None}
    tries: defaultdict[str, list[tuple[Accounted, Trail]]] = defaultdict(list)
    for one in telling:
        name = one.request.again or one.request.id
        if name in names and one.trail is not None and one.request.method not in _NO_EFFECT:
            tries[name].append((one, one.trail))
    logs_commits = any(trail.commit for some in tries.values() for _, trail in some)
    found = []
    for name, some in sorted(tries.items()):
        done = tuple(one for one, trail in some if (trail.commit if logs_commits else trail.finish))
        if len(done) > 1:
            found.append((name, done))
    return found


def line_of(retried: Retried) -> str:
    """A kind's retries in a line."""
    requests, tries = retried.requests, retried.requests + retried.again
    text = f"{retried.kind}: {requests:,} requests took {tries:,} tries ({retried.amplification:.3f} for each)"
    text += f"; {retried.lost_first:,} first tries were lost, of which {retried.saved:,} were answered on a later one"
    return text + (f"; {retried.unbudgeted:,} weren't sent again for want of budget" if retried.unbudgeted else "")


def reason_of(request: Request) -> str | None:
    """Why a try may be worth another, in the words of the stack file; the client's own rule, read from its record."""
    if request.client_outcome == "complete" and request.status is not None and request.status >= 400:
        return str(request.status)
    return _REASONS.get(request.client_outcome)


def is_safe(request: Request, *, keyed: bool) -> bool:
    """Whether a try could be sent again without being done twice; the client's own rule likewise."""
    if keyed or request.method in IDEMPOTENT or request.client_outcome in ("no_connection", "refused_stream"):
        return True
    return request.client_outcome == "complete" and (request.status == 429 or request.retry_after)


def _read(kind: KindPromise, tries: Sequence[Accounted], requests: Requests) -> Retried:
    """What came of a kind's retries.

    Arguments:
        tries: those of them that are lost, or beyond the first one; others may be among them.
    """
    policy = kind.retries or RetriesPromise()
    firsts = {one.request.id: one for one in tries if one.request.again is None}
    again = [one for one in tries if one.request.again is not None]
    best = {one.request.again for one in again if one.loss is Loss.OK}
    followed = {(one.request.again, one.request.attempt - 1) for one in again}
    last = [one.request for one in tries if (one.request.again or one.request.id, one.request.attempt) not in followed]
    return Retried(
        kind=kind.name,
        policy=policy,
        requests=requests.count("kind = $kind AND attempt = 1", {"kind": kind.name}),
        again=len(again),
        lost_first=sum(1 for one in firsts.values() if one.loss is not Loss.OK),
        saved=sum(1 for name in best if name in firsts),
        without_cause=tuple(one.request.id for one in again if _without_cause(one, firsts)),
        unbudgeted=sum(1 for one in last if _was_worth_it(one, policy)),
        most=_fullest(kind.name, [one.request.began for one in again], policy, requests),
    )


def _without_cause(one: Accounted, firsts: Mapping[str, Accounted]) -> bool:
    """Whether a try's first one isn't among those that are lost; a plain one is not even looked at."""
    first = firsts.get(one.request.again or "")
    return first is None or first.loss is Loss.OK


def _was_worth_it(request: Request, policy: RetriesPromise) -> bool:
    if request.attempt >= policy.attempts or reason_of(request) not in policy.on:
        return False
    return is_safe(request, keyed=policy.key_header is not None)


_SENT = """
SELECT floor(began * 10)::BIGINT AS tenth, count(*) FROM accounted WHERE kind = $kind AND attempt = 1
GROUP BY tenth ORDER BY tenth
"""


def _fullest(kind: str, times: list[float], policy: RetriesPromise, requests: Requests) -> tuple[int, int]:
    """Retries and requests of the window that's fullest by the budget; requests to a tenth of a second.

    Arguments:
        times: when each retry began.
    """
    times = sorted(times)
    if not times:
        return 0, 0
    counts = requests.rows(_SENT, {"kind": kind})
    tenths = [int(tenth) for tenth, _ in counts]
    sent = [0, *accumulate(int(count) for _, count in counts)]
    windows = []
    for n, t in enumerate(times, start=1):
        before = sent[bisect_left(tenths, floor((t - WINDOW_SECONDS) * 10))]
        windows.append(
            (n - bisect_right(times, t - WINDOW_SECONDS), sent[bisect_right(tenths, floor(t * 10))] - before)
        )
    return max(windows, key=lambda window: window[0] - policy.budget * window[1])
