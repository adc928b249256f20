"""Stops a run that breaks a limit with ``abort``: what's counted while it runs, out of the clients' own records.

:mod:`swarmtest.running.stopping` does the stopping. Here only the client's word is known, so what it says of the run
is no verdict: which class a lost request belongs to comes with judging. A percentile, or a share, counts as broken
once luck can't be the reason any more; a number of lost requests as soon as it's passed.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from math import floor
from pathlib import Path

import msgspec

from swarmtest.events import Event
from swarmtest.limits import ROLLOUT, SUCCESS, Limit
from swarmtest.limits.arithmetic import chance
from swarmtest.traffic.ledger import is_lost
from swarmtest.traffic.records import Record

LUCK = 0.01
"""Smaller than for a verdict: it's asked again and again, and luck has as many tries."""
LEAST_ENDED = 20
"""So many requests must have ended before a share says anything."""
LOOK_SECONDS = 0.2
WRITTEN_SECONDS = 1.5
"""By so much later everything that ended in a second is written down, by workers on other machines as well."""
NOT_JUDGED = ("deploy", "heal")


def minded(limits: Iterable[Limit], kind: str) -> list[Limit]:
    """Those of the limits that stop a run. What a destructive one loses may be the fault's, which nobody knows yet."""
    return [limit for limit in limits if limit.abort and (limit.unit == "ms" or kind == "orderly")]


class Tail:
    """The records of all traffic clients, as they're written."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: Counter[Path] = Counter()
        self._decode = msgspec.json.Decoder(Record).decode

    def new(self) -> Iterator[Record]:
        """What was written since the last call; a line that isn't whole yet is left for the next one."""
        for path in sorted(self._folder.glob("requests-*.jsonl")):
            with path.open("rb") as file:
                file.seek(self._read[path])
                whole, end, _ = file.read().rpartition(b"\n")
            self._read[path] += len(whole) + len(end)
            for line in whole.splitlines():
                with suppress(msgspec.MsgspecError):  # judging says it
                    yield self._decode(line)


@dataclass(slots=True)
class Phases:
    """When the phases of the run began and ended so far, and when its acts began."""

    spans: dict[str, tuple[float, float]] = field(default_factory=dict)
    acts: list[float] = field(default_factory=list)

    def hear(self, event: Event) -> None:
        """Takes an event of the trace; may be called in any thread."""
        name = str(event.get("name"))
        if event.kind == "phase" and event.get("edge") == "began":
            self.spans.setdefault(name, (event.t, float("inf")))
        elif event.kind == "phase" and name in self.spans:
            self.spans[name] = (self.spans[name][0], event.t)
        elif event.kind == "act" and event.get("edge") == "began" and name not in NOT_JUDGED:
            self.acts += [] if event.get("prepares") else [event.t]

    def place(self, limit: Limit, t: float) -> int | None:
        """Which count of a limit a moment belongs to; None where it's outside of its phase."""
        if limit.phase is None:
            return 0
        if limit.phase == ROLLOUT:
            before = bisect_right(self.acts, t)
            return None if not before else before if limit.each else 1
        begins, ends = self.spans.get(limit.phase, (float("inf"), float("inf")))
        return 0 if begins <= t < ends else None


@dataclass(slots=True)
class Tally:
    """What one limit has seen in one window: requests that ended, and those of them that speak against it."""

    total: int = 0
    bad: int = 0
    seconds: dict[int, tuple[int, int]] = field(default_factory=dict)
    judged_to: int = 0

    def add(self, second: int, bad: bool, *, per_second: bool) -> None:
        """Counts one request."""
        self.total += 1
        self.bad += bad
        if per_second and second >= self.judged_to:
            total, worse = self.seconds.get(second, (0, 0))
            self.seconds[second] = (total + 1, worse + bad)

    def broken(self, limit: Limit, now: float) -> str:
        """Says how the limit is broken; empty where it isn't, or not surely."""
        if limit.per_second:
            return self._broken_second(limit, now)
        if limit.unit == "ms":
            some = not self._may_be_luck(1 - (limit.share or 0))
            return f"{self.bad:,} of {self.total:,} answers weren't within it" if some else ""
        if limit.unit == "requests":
            return "" if limit.holds(self.bad) else f"{self.bad:,} of {self.total:,} requests"
        allowed = 1 - limit.value if limit.measure == SUCCESS else limit.value
        if self.total < LEAST_ENDED or self._may_be_luck(allowed):
            return ""
        return f"{self.bad:,} of {self.total:,} requests were lost"

    def _may_be_luck(self, allowed: float) -> bool:
        return self.bad <= allowed * self.total or chance(self.bad, self.total, allowed) >= LUCK

    def _broken_second(self, limit: Limit, now: float) -> str:
        self.judged_to = floor(now - WRITTEN_SECONDS)
        for second in [second for second in self.seconds if second < self.judged_to]:
            total, bad = self.seconds.pop(second)
            count = total - bad if limit.measure == SUCCESS else bad
            if not limit.holds(count / total if limit.unit == "share" else count):
                return f"{bad:,} of the {total:,} requests that ended within one second were lost"
        return ""


class LimitGuard:
    """Counts what each limit is about, and remembers the first one that's broken.

    Arguments:
        folder: of the clients' records.

    Attributes:
        text: which limit was broken and how; None while none is.
        told: whether the runner has acted on it.
    """

    name = "limit"

    def __init__(self, limits: Iterable[Limit], folder: Path, clock: Callable[[], float] = time.time) -> None:
        self._limits = tuple(limits)
        self._tail, self._clock = Tail(folder), clock
        self._tallies: defaultdict[tuple[Limit, int], Tally] = defaultdict(Tally)
        self._next = 0.0
        self.phases = Phases()
        self.text: str | None = None
        self.told = False

    def look(self) -> None:
        """Reads what's new and judges it, not too often; called in each round of waiting."""
        now = self._clock()
        if not self._limits or self.text is not None or now < self._next:
            return
        self._next = now + LOOK_SECONDS
        for record in self._tail.new():
            for limit in self._limits:
                self._count(limit, record)
        for (limit, _), tally in self._tallies.items():
            if said := tally.broken(limit, now):
                self.text = f"the limit {limit.text} was broken: {said}"
                return

    def _count(self, limit: Limit, record: Record) -> None:
        if limit.kind not in (None, record.kind) or record.client_outcome in ("still_open", "local_error"):
            return
        answered = _is_answered(record)
        ended = record.done if record.done is not None else record.planned
        where = self.phases.place(limit, record.planned if answered else ended)
        if where is None or (limit.unit == "ms" and not answered):
            return
        bad = _speaks_against(limit, record, answered)
        self._tallies[limit, where].add(floor(ended), bad, per_second=limit.per_second)


def _is_answered(record: Record) -> bool:
    return not is_lost(record) and record.status is not None and 200 <= record.status < 300


def _speaks_against(limit: Limit, record: Record, answered: bool) -> bool:
    if limit.unit == "ms":
        return not limit.holds(((record.done or record.planned) - record.planned) * 1000)
    if limit.measure == "refused":
        return record.client_outcome == "no_connection"
    return not answered
