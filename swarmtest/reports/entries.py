"""What the verdict document consists of: checks, losses, instances, acts, the update and the front door.

Not a report: it has no ``render``.
"""

from __future__ import annotations

from typing import Any

import msgspec

from swarmtest.reports.policy_entries import FirstRequests


class Mark(msgspec.Struct, frozen=True):
    """A moment: epoch seconds, plus or minus ``error`` seconds, and who saw it."""

    at: float
    error: float
    source: str


class LimitFigures(msgspec.Struct, frozen=True):
    """The numbers of a limit.

    Attributes:
        value: in ``unit``: ``ms``, ``requests`` or ``share``.
        measured: in the same unit; of several acts or seconds the worst. Null where nothing could be measured.
        uncorrected: of answer times, the same counted from when the requests were really sent.
        requests: how many it rests on.
    """

    measure: str
    sign: str
    value: float
    unit: str
    per_second: bool = False
    kind: str | None = None
    phase: str | None = None
    abort: bool = False
    measured: float | None = None
    uncorrected: float | None = None
    requests: int = 0


class CheckEntry(msgspec.Struct, frozen=True):
    """One verdict: ``outcome`` is ``passed``, ``failed`` or ``not_proved``; that of a limit has its ``limit``."""

    name: str
    outcome: str
    sentence: str
    evidence: list[str] = []
    advice: str | None = None
    limit: LimitFigures | None = None


class LossEvent(msgspec.Struct, frozen=True):
    """One lost request, with what decided its class.

    ``charge`` says what the loss belongs to: ``fault``, ``shutdown``, ``start_up``, ``front_door``,
    ``background`` (no lifecycle event nearby) or ``unplaced``. ``unproved`` is one whose answer was
    complete and only lacks the proof that it's whole, or the stack's: nothing is known to be lost.
    ``saw`` is all that the client itself got: the status of an answer, or how it ended without one.
    """

    id: str
    loss: str
    kind: str
    reused: bool
    sent: float | None
    done: float | None
    instance: str | None
    charge: str
    why: str
    unproved: bool = False
    saw: str | None = None


class LossGroup(msgspec.Struct, frozen=True):
    """How many requests were lost alike; the fields are those of :class:`LossEvent`."""

    loss: str
    charge: str
    unproved: bool
    saw: str | None
    count: int


class LossRow(msgspec.Struct, frozen=True):
    """Counts of one kind of traffic on one kind of connection (``kept`` or ``fresh``).

    ``unproved`` of the requests that aren't ok only lack the proof of their answer, or were broken off by swarmtest.
    Times of what was ok begin when it was due; those named ``sent`` when it was sent.
    """

    kind: str
    connection: str
    sent: int
    counts: dict[str, int]
    p50_ms: float | None = None
    p99_ms: float | None = None
    unproved: int = 0
    p50_sent_ms: float | None = None
    p99_sent_ms: float | None = None


class Hurt(msgspec.Struct, frozen=True):
    """What one act did to an instance; null where it isn't known.

    Attributes:
        act: the act's ID in the trace, and its ``name`` there: ``kill``, ``freeze`` …
        began: epoch seconds; nothing of it happened before.
        ended: when it had been carried out.
        healed: when it had been undone.
        outcome: ``ok``, ``failed``, ``unknown``.
        back: when, after its end, as many instances were ready again as there should be.
    """

    act: int
    name: str
    began: float
    ended: float | None = None
    healed: float | None = None
    outcome: str | None = None
    back: float | None = None


class ActEntry(msgspec.Struct, frozen=True):
    """Something that swarmtest did, or that a guard rail forbade.

    Attributes:
        id: of the act in the trace; ``heals`` is that of the act which this one undoes.
        target: the service.
        instances: IDs of the instances that it hurt; none for a whole service.
        began, ended: epoch seconds; null where it wasn't begun, or never ended.
        outcome: ``ok``, ``failed``, ``unknown``, ``skipped``.
        reason: why it was skipped, or the error that it ended with.
        prepares: it only got things ready.
    """

    id: int
    name: str
    target: str
    outcome: str
    began: float | None = None
    ended: float | None = None
    instances: list[str] = []
    settings: dict[str, Any] = {}
    heals: int | None = None
    reason: str | None = None
    prepares: bool = False


class VersionEntry(msgspec.Struct, frozen=True):
    """Instances left running with one version: ``old`` is that of before the update, ``new`` what it brings."""

    version: str
    instances: list[str]
    images: list[str] = []


class UpdateEntry(msgspec.Struct, frozen=True):
    """What became of the update that's judged.

    Attributes:
        act: what began it: ``update``, ``release``, ``rollback`` …
        end: ``completed``, ``rolled back``, ``rolling back``, ``rollback paused``, ``paused``, ``updating``,
            ``unseen``.
        message: Swarm's own word on it.
        left: who ran on at the end, by version; ``empty_slots`` had nobody.
        lost_before, lost_after: requests lost before Swarm turned back and after; null where it didn't.
    """

    act: str
    end: str
    message: str | None = None
    left: list[VersionEntry] = []
    empty_slots: list[int] = []
    lost_before: int | None = None
    lost_after: int | None = None


class FrontDoorEntry(msgspec.Struct, frozen=True):
    """How soon the front door lets go of an instance: by its settings, and as it was measured.

    Attributes:
        detects: by what it notices.
        predicted: seconds, by the stack file's own word.
        measured: seconds, the longest from the announcement (of one that's stopped by hand, its own first sign of
            going) to the last new request sent to it.
        instances: of how many instances that was measured.
    """

    mode: str | None = None
    service: str | None = None
    detects: str | None = None
    predicted: float | None = None
    measured: float | None = None
    instances: int = 0


class InstanceEntry(msgspec.Struct, frozen=True):
    """One instance's life. ``generation`` is ``old``, ``new`` or ``only``; marks are null where unseen.

    ``cause`` says in words what ended it (``stopped as asked``, ``SIGKILL at the end of the grace``,
    ``out of memory``, ``health check``, ``killed by swarmtest``), null while it lives. ``hurts`` is what
    swarmtest did to it, in order. ``image`` is that of the task's own spec. ``called`` is all that it's called by
    in headers and records. ``first`` is how quick a new one's first requests were.
    """

    id: str
    name: str
    slot: int | None
    node: str | None
    generation: str
    exit_code: int | None
    signal: str | None
    served: int
    marks: dict[str, Mark | None]
    cause: str | None = None
    cpu_max: float | None = None
    memory_max: int | None = None
    lost: int = 0
    grace_seconds: float | None = None
    hurts: list[Hurt] = []
    image: str | None = None
    called: list[str] = []
    first: FirstRequests | None = None


class KindFigures(msgspec.Struct, frozen=True):
    """What one kind of traffic came to, on all connections; times as in :class:`Figures`."""

    name: str
    sent: int
    p50_ms: float | None = None
    p99_ms: float | None = None
    p50_sent_ms: float | None = None
    p99_sent_ms: float | None = None


class Figures(msgspec.Struct, frozen=True):
    """The numbers that are compared between runs; None where unseen.

    Attributes:
        lowest_ready: the fewest instances that were ready at once, from T0 or the first request on.
        p50_ms: of all requests that are ok, whatever their kind; counted from when each was due.
        p50_sent_ms: likewise, counted from when each was sent.
        acted_seconds: from T0 until the plan's last step was over.
    """

    lowest_ready: int | None = None
    p50_ms: float | None = None
    p99_ms: float | None = None
    p50_sent_ms: float | None = None
    p99_sent_ms: float | None = None
    acted_seconds: float | None = None
    kinds: list[KindFigures] = []
