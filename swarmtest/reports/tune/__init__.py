"""The document of a tune, which is the public ``tune.json``, and what its reports are made from.

A tune is a folder of run folders, each a run as any other; this document says what they were for, which of their stops
count, and what was worked out.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from swarmtest.reports.versioned import read_versioned, write_whole

TUNE_VERSION = 1
TUNE_FILE = "tune.json"

SIGNAL_PATH, MEASURE, PROOF, EDGE = "signal path", "measure", "proof", "edge"
"""What a run of a tune is for."""


class TuneRun(msgspec.Struct, frozen=True):
    """One run of a tune.

    Attributes:
        purpose: ``signal path``, ``measure``, ``proof`` or ``edge``.
        grace_seconds: what its instances were made with.
        folder: name of the run's folder within the tune's; None where there's none.
        ended: ``finished``, ``interrupted``, ``broke``; None: it wasn't begun, or swarmtest was killed meanwhile.
        lost: every class but ``ok``, without those of ``unproved`` that only lack their proof.
        stops: how many instances stopped; ``killed`` of them were as their grace was over.
        seconds: from its beginning to its verdict.
    """

    purpose: str
    grace_seconds: float
    replicas: int
    folder: str | None = None
    ended: str | None = None
    error: str | None = None
    outcome: str | None = None
    sent: int = 0
    lost: int = 0
    unproved: int = 0
    stops: int = 0
    killed: int = 0
    seconds: float | None = None


class StopRow(msgspec.Struct, frozen=True):
    """One stop, in seconds; null where the marks weren't seen.

    Attributes:
        run: which of the runs, from 1.
        grace_seconds: of the stopping task's own spec.
        propagation_seconds: from the announcement to its last new request.
        wait_seconds: from the signal until nothing new came in.
        drain_seconds: from the signal to the end of its last request.
        closing_seconds: from then, or from the close where that's later, to the exit.
        stop_seconds: from the signal to the exit, plus or minus ``error_seconds``.
        why_not: why it isn't counted; empty where it is.
    """

    run: int
    instance: str
    task: str
    grace_seconds: float
    propagation_seconds: float | None = None
    wait_seconds: float | None = None
    drain_seconds: float | None = None
    closing_seconds: float | None = None
    stop_seconds: float | None = None
    error_seconds: float = 0.0
    killed: bool = False
    lost: int = 0
    why_not: str = ""


class SumEntry(msgspec.Struct, frozen=True):
    """What the longest request may need that comes in at the last moment, in seconds."""

    wait: float
    wait_source: str
    longest: float
    longest_source: str
    closing: float
    abort: float
    total: float


class BoundEntry(msgspec.Struct, frozen=True):
    """The longest of the stops that count.

    Attributes:
        needed: so many stops give the coverage at the confidence that were asked for.
        reached: the confidence that there is.
    """

    stops: int
    rollouts: int
    needed: int
    coverage: float
    confidence: float
    reached: float
    longest: float


class Setting(msgspec.Struct, frozen=True):
    """A setting that goes with the grace.

    Attributes:
        key: of the stack file, such as ``deploy.update_config.delay``; or words, for what's the app's own.
        now: what the file says, with Swarm's default where it says nothing; null for what isn't known.
        fits: whether that may stay.
        seconds: what it should be, where that's one value.
    """

    key: str
    now: str | None
    fits: bool
    wanted: str
    why: str
    seconds: int | None = None


class Recommendation(msgspec.Struct, frozen=True):
    """The grace, in whole seconds, and how it came about."""

    grace_seconds: int
    decided_by: str
    now_seconds: float
    sum: SumEntry
    bound: BoundEntry
    settings: list[Setting] = []


class Tried(msgspec.Struct, frozen=True):
    """A grace that was tried for the edge."""

    grace_seconds: int
    stops: int
    killed: int


class EdgeEntry(msgspec.Struct, frozen=True):
    """Where the first SIGKILL appears: the highest whole second that's killed, and the lowest that isn't."""

    tried: list[Tried]
    killed_seconds: int | None = None
    safe_seconds: int | None = None


class Tune(msgspec.Struct, frozen=True):
    """All that a tune found.

    Attributes:
        tune: name of its folder.
        signal_path: what the first run tells of the way from the signal to the exit, in sentences.
        cures: what to do instead, where a longer grace isn't the cure.
        proof: what the run with the recommended value came to, in a sentence.
        missing: why something isn't proved.
        warnings: where Swarm, Docker or Compose won't do as the value says.
        ended: ``finished``, ``interrupted``, ``broke``; None while it goes on, or when it was killed.
        outcome: ``passed``: recommended, and proved; ``failed``: the grace isn't the cure, or the proof failed.
        patch: of the stack file, as a diff; empty where nothing is to be changed.
        written: whether the file was changed.
        emitted: the same settings for something else, where they were asked for.
    """

    version: int
    tune: str
    stack: str
    service: str
    seed: int
    coverage: float
    confidence: float
    replicas: int
    runs: list[TuneRun] = []
    stops: list[StopRow] = []
    signal_path: list[str] = []
    cures: list[str] = []
    recommendation: Recommendation | None = None
    proof: str | None = None
    edge: EdgeEntry | None = None
    missing: list[str] = []
    warnings: list[str] = []
    ended: str | None = None
    error: str | None = None
    outcome: str = "not_proved"
    exit_code: int = 3
    patch: str = ""
    written: bool = False
    emitted: str = ""
    engine: dict[str, Any] = {}


def write_tune(tune: Tune, folder: Path) -> None:
    """Writes ``tune.json`` whole or not at all, the same bytes for the same tune."""
    write_whole(tune, folder / TUNE_FILE)


def read_tune(folder: Path) -> Tune:
    """Reads ``tune.json``.

    Raises:
        RunFolderError: it's missing, broken or of a later version.
    """
    return read_versioned(
        folder / TUNE_FILE,
        Tune,
        TUNE_VERSION,
        missing="give the folder of a tune",
        broken=("a tune", "was it edited?"),
    )
