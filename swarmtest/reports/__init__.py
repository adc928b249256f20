"""The verdict document, which is the public ``verdicts.json``, and what every report is made from.

A report is one file here with ``render(document, out)``. It reads the document and nothing else, so
any report can be made again from an old run's folder.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol, TextIO

import msgspec

from swarmtest.reports.entries import (
    ActEntry,
    CheckEntry,
    Figures,
    FrontDoorEntry,
    Hurt,
    InstanceEntry,
    KindFigures,
    LimitFigures,
    LossEvent,
    LossGroup,
    LossRow,
    Mark,
    UpdateEntry,
    VersionEntry,
)
from swarmtest.reports.policy_entries import FirstRequests, RetryEntry
from swarmtest.reports.stream_entries import StreamEvent, StreamRow
from swarmtest.reports.versioned import read_versioned

__all__ = [
    "CLASSES",
    "DOCUMENT_VERSION",
    "MARKS",
    "ActEntry",
    "CheckEntry",
    "Document",
    "Figures",
    "FirstRequests",
    "FrontDoorEntry",
    "Hurt",
    "InstanceEntry",
    "KindFigures",
    "LimitFigures",
    "LossEvent",
    "LossGroup",
    "LossRow",
    "Mark",
    "Renderer",
    "RetryEntry",
    "StreamEvent",
    "StreamRow",
    "UpdateEntry",
    "VersionEntry",
    "read_document",
    "write_document",
]

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
        loss_events: of each class the first ones, so that no run makes the document endless; of all that isn't ok
            ``loss_events_left_out`` more aren't among them. ``loss_groups`` counts them all.
        kind: ``orderly`` passes with nothing lost; ``destructive`` passes when every loss belongs to what was
            hurt, nothing else was lost, and capacity was back in time.
        acts: what swarmtest did, in order; the deploy isn't among them.
        update: what became of the update, where there was one.
        guard: why the run's own guard stopped it; null where it didn't.
        retries: of each kind of traffic that tries again, what came of it.
        stream_rows: counts of the sessions' streams, which are no requests; ``stream_events``: those that ended badly.
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
    loss_events_left_out: int = 0
    loss_groups: list[LossGroup] = []
    proof: dict[str, Any] = {}
    advice: list[str] = []
    notes: list[str] = []
    figures: Figures = Figures()
    kind: str = "orderly"
    acts: list[ActEntry] = []
    update: UpdateEntry | None = None
    front_door: FrontDoorEntry = FrontDoorEntry()
    guard: str | None = None
    retries: list[RetryEntry] = []
    stream_rows: list[StreamRow] = []
    stream_events: list[StreamEvent] = []


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
    return read_versioned(
        path,
        Document,
        DOCUMENT_VERSION,
        missing="make it with `swarmtest judge`",
        broken=("a verdict document", "make it again with `swarmtest judge`"),
    )
