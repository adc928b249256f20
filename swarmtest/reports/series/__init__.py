"""The document of a series, which is the public ``series.json``, and what its reports are made from.

A series is a folder of run folders. Each member is a run with a folder and verdicts of its own; this
document says which members there are, how far they came, and what they say together.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, TextIO

import msgspec

from swarmtest.reports import Document
from swarmtest.reports.versioned import read_versioned, write_whole

SERIES_VERSION = 1
SERIES_FILE = "series.json"


class Member(msgspec.Struct, frozen=True):
    """One run of a series.

    Attributes:
        repeat: which of the scenario's runs it is, from 1.
        folder: name of the run's folder within the series'; None where there's none.
        ended: ``finished``, ``interrupted``, ``broke`` (the engine or swarmtest), ``refused`` (it can't be
            run here); None: it wasn't begun, or swarmtest was killed meanwhile.
        error: what broke it off.
        outcome: ``passed``, ``failed``, ``not_proved``; None where nothing could be judged.
        exit_code: what ``swarmtest run`` would have ended with, had it been alone.
        checks: how many are ``passed``, ``failed`` and ``not_proved``.
        losses: ``sent``, each class that isn't 0, and ``duplicates``.
        lost: every class but ``ok``; ``unproved`` of them only lack their proof.
        stops: how many instances stopped; ``stops_with_loss`` of them lost something.
    """

    scenario: str
    repeat: int = 1
    folder: str | None = None
    ended: str | None = None
    error: str | None = None
    outcome: str | None = None
    exit_code: int | None = None
    checks: dict[str, int] = {}
    losses: dict[str, int] = {}
    lost: int = 0
    unproved: int = 0
    stops: int = 0
    stops_with_loss: int = 0
    lowest_ready: int | None = None
    p50_ms: float | None = None
    p99_ms: float | None = None
    acted_seconds: float | None = None
    seconds: float | None = None


class Range(msgspec.Struct, frozen=True):
    """One figure over the runs of a scenario: ``sent``, ``lost``, a class of loss, ``p50_ms (long)``, …"""

    figure: str
    least: float
    median: float
    most: float


class Spread(msgspec.Struct, frozen=True):
    """How far apart the runs of one scenario lie.

    Attributes:
        runs: how many of them could be judged.
        passed: how many of them passed.
        proof: what they prove together, as in a run's document: more stops prove more.
    """

    scenario: str
    runs: int
    passed: int
    figures: list[Range] = []
    proof: dict[str, float | None] = {}


class NotRun(msgspec.Struct, frozen=True):
    """A scenario that was asked for and can't be run on this stack, and the key to add."""

    scenario: str
    reason: str


class ChecklistLine(msgspec.Struct, frozen=True):
    """One line of the checklist: what it asks, and what the series' runs say to it.

    Attributes:
        checks: what it rests on.
        scenarios: in which the checks have to pass.
    """

    number: int
    text: str
    outcome: str
    sentence: str
    evidence: list[str] = []
    checks: list[str] = []
    scenarios: list[str] = []


class Series(msgspec.Struct, frozen=True):
    """All that a series proves.

    Attributes:
        series: name of its folder.
        asked: what was asked for, such as ``all`` or ``rolling,kill``.
        members: in the order in which they're run.
        checklist_weighs: whether the checklist counts for the outcome.
        ended: ``finished``, ``interrupted``, ``broke``; None while it goes on, or when it was killed.
        outcome: failed outweighs not proved outweighs passed, over members and checklist; a member
            that wasn't run, or not to its end, is not proved.
        exit_code: the weightiest: 130 > 4 > 1 > 2 > 3 > 0.
    """

    version: int
    series: str
    asked: str
    stack: str
    seed: int
    repeat: int
    members: list[Member]
    not_run: list[NotRun] = []
    checklist_weighs: bool = False
    ended: str | None = None
    error: str | None = None
    outcome: str = "not_proved"
    exit_code: int = 3
    spread: list[Spread] = []
    checklist: list[ChecklistLine] = []
    notes: list[str] = []


class SeriesRenderer(Protocol):
    """What each report of a series offers."""

    def render(self, series: Series, documents: Sequence[Document | None], out: TextIO) -> None:
        """Writes the report; the documents are the members', None where nothing could be judged."""


def write_series(series: Series, folder: Path) -> None:
    """Writes ``series.json`` whole or not at all, the same bytes for the same series."""
    write_whole(series, folder / SERIES_FILE)


def read_series(folder: Path) -> Series:
    """Reads ``series.json``.

    Raises:
        RunFolderError: it's missing, broken or of a later version.
    """
    return read_versioned(
        folder / SERIES_FILE,
        Series,
        SERIES_VERSION,
        missing="give the folder of a series",
        broken=("a series", "was it edited?"),
    )
