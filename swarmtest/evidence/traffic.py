"""The traffic that a run set out to send, and how quick new instances are to be, as ``plan.json`` says it."""

from __future__ import annotations

from typing import Any

import msgspec


class RetriesPromise(msgspec.Struct, frozen=True):
    """What a kind's client sends again, and how often."""

    budget: float = 0.0
    attempts: int = 1
    on: list[str] = []
    key_header: str | None = None


class KindPromise(msgspec.Struct, frozen=True):
    """One kind of traffic, with its rate per second.

    Attributes:
        sessions: users that each hold a stream open; null where it's a kind of request.
        reconnect_seconds: within which a session has to have its stream back.
        shape: how the rate changes; null where it stays.
        arrivals: ``even`` or ``poisson``.
        count: so many requests and no more; null where the rate goes on.
    """

    name: str
    rate: float = 0.0
    milliseconds: list[float] | None = None
    retries: RetriesPromise | None = None
    protocol: str | None = "http1"
    sessions: int | None = None
    reconnect_seconds: float | None = None
    shape: dict[str, Any] | None = None
    arrivals: str | None = "even"
    count: int | None = None

    @property
    def is_uneven(self) -> bool:
        """Whether the rate alone doesn't say how many requests are due by when."""
        return self.shape is not None or self.arrivals == "poisson" or self.count is not None

    @property
    def is_stream(self) -> bool:
        """Whether its users hold streams open and send no requests; these are counted apart."""
        return self.sessions is not None


class TrafficPromise(msgspec.Struct, frozen=True):
    """The traffic asked for; ``taken`` says from which file, and what of it was left out."""

    timeout_seconds: float | None = 30.0
    kinds: list[KindPromise] = []
    fresh_share: float | None = 0.5
    longest_request_seconds: float | None = None
    taken: list[str] = []


class ColdStartPromise(msgspec.Struct, frozen=True):
    """What the first requests on a new instance may take: so many times as long as later ones, or so much longer."""

    times: float | None = 3.0
    seconds: float | None = None
