"""Every request that was begun, each ended exactly once, and the running counts of them."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from swarmtest.traffic.answers import NO_LENGTH
from swarmtest.traffic.records import Record

MOST_OPEN = 20_000
"""Requests that a client may have open at once; each has a socket."""

_PER_SECOND = 10_000
"""Lateness is counted in steps of 0.1 ms, so that a long run's percentiles need no long list."""


@dataclass(slots=True)
class Lateness:
    """How much later than planned requests were sent."""

    steps: Counter[int] = field(default_factory=Counter)
    largest_seconds: float = 0.0

    def add(self, seconds: float) -> None:
        """Counts one request; an early one counts as on time."""
        self.steps[max(0, math.ceil(seconds * _PER_SECOND))] += 1
        self.largest_seconds = max(self.largest_seconds, seconds)

    def merge(self, other: Lateness) -> None:
        """Adds the counts of ``other``."""
        self.steps.update(other.steps)
        self.largest_seconds = max(self.largest_seconds, other.largest_seconds)

    def percentile_ms(self, share: float) -> float:
        """The lateness that ``share`` of the requests don't exceed; 0 without requests."""
        rank = math.ceil(share * self.steps.total())
        for step in sorted(self.steps):
            rank -= self.steps[step]
            if rank <= 0:
                return step * 1000 / _PER_SECOND
        return 0.0


def is_lost(record: Record) -> bool:
    """Whether a request that's over counts as lost while the run goes on; its class comes with the judgement.

    One that was turned away for a while isn't, nor is one whose answer only lacks the proof that it's whole.
    """
    if record.client_outcome != "complete" and record.error != NO_LENGTH:
        return True
    if record.status is None or 200 <= record.status < 300:
        return record.status is None
    return not (record.status == 429 or (record.status == 503 and record.retry_after))


class Ledger:
    """What was sent and what became of it.

    Arguments:
        write: takes each record when it's over; called once per request, whatever happens.
        room: so many requests may be open at once.

    Attributes:
        missed: arrivals that weren't sent.
        no_room: those of them for which the client had no room.
    """

    def __init__(self, write: Callable[[Record], None], room: int = MOST_OPEN) -> None:
        self._write = write
        self._room = room
        self._open: dict[str, Record] = {}
        self._outcomes: Counter[str] = Counter()
        self._total = Lateness()
        self._recent = Lateness()
        self.sent = 0
        self.missed = 0
        self.no_room = 0
        self.lost = 0

    @property
    def has_room(self) -> bool:
        """Whether one more request may be open."""
        return len(self._open) < self._room

    def begin(self, record: Record, late_seconds: float) -> None:
        """Notes a request before anything of it is sent."""
        self._open[record.id] = record
        self.sent += 1
        self._recent.add(late_seconds)

    def end(self, record: Record) -> None:
        """Writes a request that's over, unless it was given up before."""
        if self._open.pop(record.id, None) is not None:
            self._outcomes[record.client_outcome] += 1
            self.lost += is_lost(record)
            self._write(record)

    def give_up(self) -> int:
        """Writes what's open as still open, and returns how many that were."""
        left = list(self._open.values())
        for record in left:
            record.client_outcome, record.done = "still_open", None
            record.error = "the client ended before the request did"
            self.end(record)
        return len(left)

    def counts(self) -> dict[str, object]:
        """The counts since the start, for a message."""
        return {
            "t": time.time(),
            "sent": self.sent,
            "open": len(self._open),
            "done": self._outcomes.total(),
            "lost": self.lost,
            "missed": self.missed,
            "no_room": self.no_room,
            "outcomes": dict(self._outcomes),
        }

    def recent_lateness(self) -> Lateness:
        """The lateness since the last call."""
        recent, self._recent = self._recent, Lateness()
        self._total.merge(recent)
        return recent

    def whole_lateness(self) -> Lateness:
        """The lateness since the start."""
        self.recent_lateness()
        return self._total
