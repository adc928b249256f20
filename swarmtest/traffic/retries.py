"""Retries as a policy: the client's own, off unless the stack file asks for them, with a budget.

Each try is a request of its own, with an ID and a record of its own that names the first one. So a retry hides
nothing: the first loss is counted as it is without retries, and what came of the later tries stands beside it.
Only what's safe is sent again: what reached nobody, what was turned away, methods that change nothing twice, and
anything at all once an idempotency key goes with it.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Generic, Protocol, TypeVar

from swarmtest.traffic.records import Record
from swarmtest.traffic.settings import Retries

WINDOW_SECONDS = 10.0
"""The budget is a share of the requests that were begun within this time."""

LONGEST_BACKOFF_SECONDS = 10.0
IDEMPOTENT = ("GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE")
"""Methods that may be sent twice (RFC 9110, 9.2.2)."""

_CLOSED = ("closed_unanswered", "closed_in_headers", "closed_in_body")


class Budget:
    """How many retries there may be: a share of the requests of the last seconds.

    Arguments:
        share: 0.1 allows one retry for every ten requests.
    """

    def __init__(self, share: float, window_seconds: float = WINDOW_SECONDS) -> None:
        self._share, self._window = share, window_seconds
        self._firsts: deque[float] = deque()
        self._again: deque[float] = deque()

    def count(self, now: float) -> None:
        """Notes a request that's sent for the first time."""
        self._forget(self._firsts, now)
        self._firsts.append(now)

    def take(self, now: float) -> bool:
        """Whether one more retry is within the budget, which is then used for it."""
        self._forget(self._firsts, now)
        self._forget(self._again, now)
        if len(self._again) + 1 > self._share * len(self._firsts):
            return False
        self._again.append(now)
        return True

    def _forget(self, times: deque[float], now: float) -> None:
        while times and times[0] <= now - self._window:
            times.popleft()


def reason_of(record: Record) -> str | None:
    """Why a request may be worth another try, in the words of the stack file; None for one that's answered well."""
    if record.client_outcome == "no_connection":
        return "refused"
    if record.client_outcome == "refused_stream":
        return "unserved"
    if record.client_outcome in _CLOSED:
        return "closed"
    if record.client_outcome == "timed_out":
        return "timed_out"
    if record.client_outcome == "complete" and record.status is not None and record.status >= 400:
        return str(record.status)
    return None


def is_safe(record: Record, *, keyed: bool) -> bool:
    """Whether a request can be sent again without being done twice."""
    if keyed or record.method in IDEMPOTENT:
        return True
    if record.client_outcome in ("no_connection", "refused_stream"):
        return True
    return record.client_outcome == "complete" and (record.status == 429 or record.retry_after)


Sent = TypeVar("Sent")


@dataclass(frozen=True, slots=True)
class Policy:
    """What's sent again, shared by all lanes of a kind.

    Attributes:
        jitter: where the waits' scatter comes from.
        pause: waits for so many seconds.
    """

    retries: Retries
    budget: Budget
    jitter: Random
    pause: Callable[[float], object] = time.sleep

    def may_try_again(self, record: Record) -> bool:
        """Whether a request that's over is to be sent again, if the budget allows it."""
        if record.attempt >= self.retries.attempts or reason_of(record) not in self.retries.on:
            return False
        return is_safe(record, keyed=self.retries.key_header is not None)

    def backoff(self, attempt: int) -> float:
        """Twice as long each time, plus or minus half, so that clients don't come back all at once."""
        steady: float = min(self.retries.backoff_seconds * 2 ** (attempt - 1), LONGEST_BACKOFF_SECONDS)
        return steady * (0.5 + self.jitter.random())


class Tries(Protocol[Sent]):
    """What's needed of a lane that's tried again on, whatever its protocol."""

    def request_id(self, n: int) -> str: ...

    def make(self, n: int, request_id: str, late: float) -> tuple[Sent, Record]: ...

    def keyed(self, request: Sent, header: str, key: str) -> Sent: ...

    def once(self, request: Sent, record: Record, late: float) -> None: ...

    def close(self) -> None: ...


class RetryingLane(Generic[Sent]):
    """A lane that sends again what was lost, as its kind's policy allows."""

    def __init__(self, lane: Tries[Sent], policy: Policy) -> None:
        self._lane, self._policy = lane, policy

    def send(self, n: int, due: float) -> None:
        """Sends request ``n``, and again while it's lost, may be sent again and the budget allows it."""
        lane, policy, late = self._lane, self._policy, time.monotonic() - due
        first = lane.request_id(n)
        request, record = lane.make(n, first, late)
        policy.budget.count(time.monotonic())
        lane.once(self._keyed(request, first), record, late)
        while policy.may_try_again(record):
            policy.pause(policy.backoff(record.attempt))
            if not policy.budget.take(time.monotonic()):
                return
            attempt = record.attempt + 1
            request, record = lane.make(n, f"{first}.try{attempt}", 0.0)
            record.attempt, record.again = attempt, first
            lane.once(self._keyed(request, first), record, 0.0)

    def _keyed(self, request: Sent, first: str) -> Sent:
        """The request with its idempotency key, if it's to have one: the first try's ID, the same for every try."""
        header = self._policy.retries.key_header
        return request if header is None else self._lane.keyed(request, header, first)

    def close(self) -> None:
        """Closes the connections."""
        self._lane.close()
