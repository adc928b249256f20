"""The verdict document, which is the public ``verdicts.json``, and what every report is made from.

A report is one file here with ``render(document, out)``. It reads the document and nothing else, so
any report can be made again from an old run's folder.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol, TextIO

import msgspec

from swarmtest.errors import RunFolderError

DOCUMENT_VERSION = 1

MARKS = (
    "started",
    "healthy",
    "warm",
    "first_served",
    "announced",
    "unready",
    "signalled",
    "closed",
    "last_new",
    "last_done",
    "killed",
    "exited",
)
"""The marks of an instance in the order of a life. T1 is ``announced`` and ``unready``, T2
``last_new``, T3 ``last_done``, T4 ``exited``."""

CLASSES = (
    "ok",
    "refused",
    "unserved",
    "cut",
    "cut_finished",
    "unknown",
    "gateway",
    "error",
    "shed",
    "unexpected",
    "silent_loss",
    "timed_out",
    "unresolved",
    "client_error",
)
"""What can become of a request; they add up to ``sent``."""


class Mark(msgspec.Struct, frozen=True):
    """A moment: epoch seconds, plus or minus ``error`` seconds, and who saw it."""

    at: float
    error: float
    source: str


class CheckEntry(msgspec.Struct, frozen=True):
    """One verdict: ``outcome`` is ``passed``, ``failed`` or ``not_proved``."""

    name: str
    outcome: str
    sentence: str
    evidence: list[str] = []
    advice: str | None = None


class LossEvent(msgspec.Struct, frozen=True):
    """One lost request, with what decided its class.

    ``charge`` says what the loss belongs to: ``shutdown``, ``start_up``, ``front_door``,
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


class LossRow(msgspec.Struct, frozen=True):
    """Counts of one kind of traffic on one kind of connection (``kept`` or ``fresh``).

    ``unproved`` of the requests that aren't ok had a complete answer that only lacks its proof.
    """

    kind: str
    connection: str
    sent: int
    counts: dict[str, int]
    p50_ms: float | None = None
    p99_ms: float | None = None
    unproved: int = 0


class Hurt(msgspec.Struct, frozen=True):
    """What one act did to an instance; null where it isn't known.

    Attributes:
        act: the act's ID in the trace, and its ``name`` there: ``kill``, ``freeze`` …
        began: epoch seconds; nothing of it happened before.
        ended: when it had been carried out.
        healed: when it had been undone.
        outcome: ``ok``, ``failed``, ``unknown``.
    """

    act: int
    name: str
    began: float
    ended: float | None = None
    healed: float | None = None
    outcome: str | None = None


class InstanceEntry(msgspec.Struct, frozen=True):
    """One instance's life. ``generation`` is ``old``, ``new`` or ``only``; marks are null where unseen.

    ``cause`` says in words what ended it (``stopped as asked``, ``SIGKILL at the end of the grace``,
    ``out of memory``, ``health check``, ``killed by swarmtest``), null while it lives. ``hurts`` is what
    swarmtest did to it, in order.
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


class KindFigures(msgspec.Struct, frozen=True):
    """What one kind of traffic came to, on all connections."""

    name: str
    sent: int
    p50_ms: float | None = None
    p99_ms: float | None = None


class Figures(msgspec.Struct, frozen=True):
    """The numbers that are compared between runs; None where unseen.

    Attributes:
        lowest_ready: the fewest instances that were ready at once, from T0 or the first request on.
        p50_ms: of all requests that are ok, whatever their kind.
        acted_seconds: from T0 until the plan's last step was over.
    """

    lowest_ready: int | None = None
    p50_ms: float | None = None
    p99_ms: float | None = None
    acted_seconds: float | None = None
    kinds: list[KindFigures] = []


class Document(msgspec.Struct, frozen=True):
    """All that a run proves.

    Attributes:
        losses: ``sent``, each of :data:`CLASSES`, and ``duplicates``.
        start: epoch seconds that reports count from: T0, the beginning of the rollout, or of the run.
        seconds: how long the run was under traffic.
        proof: what the result proves in numbers: ``sent``, ``lost``, ``upper_bound`` (95 % upper
            bound of the share lost when nothing was), ``stops``, ``stops_with_loss``, ``stop_upper_bound``.
        advice: the one or two settings to change first, most telling one first.
        settings: what the verdict is worth nothing without (images, update config, health check,
            grace, front door, traffic, seed, versions).
    """

    version: int
    run: str
    outcome: str
    exit_code: int
    scenario: str
    stack: str
    engine: dict[str, Any]
    settings: dict[str, Any]
    checks: list[CheckEntry]
    losses: dict[str, int]
    instances: list[InstanceEntry]
    start: float | None = None
    seconds: float | None = None
    loss_rows: list[LossRow] = []
    loss_events: list[LossEvent] = []
    proof: dict[str, Any] = {}
    advice: list[str] = []
    notes: list[str] = []
    figures: Figures = Figures()


class Renderer(Protocol):
    """What a file in this folder offers."""

    def render(self, document: Document, out: TextIO) -> None:
        """Writes the report to ``out``."""


def write_document(document: Document, path: Path) -> None:
    """Writes ``verdicts.json``, the same bytes for the same document."""
    path.write_bytes(msgspec.json.format(msgspec.json.encode(document, order="sorted"), indent=2) + b"\n")


def read_document(path: Path) -> Document:
    """Reads ``verdicts.json``.

    Raises:
        RunFolderError: it's missing, broken or of a later version.
    """
    try:
        document = msgspec.json.decode(path.read_bytes(), type=Document)
    except OSError as error:
        raise RunFolderError(f"{path}: can't be read ({error.strerror}); make it with `swarmtest judge`") from error
    except msgspec.DecodeError as error:
        raise RunFolderError(
            f"{path}: not a verdict document ({error}); make it again with `swarmtest judge`"
        ) from error
    if document.version > DOCUMENT_VERSION:
        raise RunFolderError(f"{path}: version {document.version}, this swarmtest reads up to {DOCUMENT_VERSION}")
    return document
