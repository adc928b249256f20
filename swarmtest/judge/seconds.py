"""The seconds of a run's folder: counted from its requests and its document, and kept as ``seconds.json``."""

from __future__ import annotations

from pathlib import Path

import msgspec

from swarmtest.errors import RunFolderError, in_a_line
from swarmtest.losses.seconds import SECONDS_VERSION, Seconds, second_by_second
from swarmtest.losses.table import Told
from swarmtest.reports import Document, InstanceEntry
from swarmtest.reports.versioned import read_versioned
from swarmtest.timeline.capacity import Spans

SECONDS_FILE = "seconds.json"


def count_seconds(requests: Told, document: Document) -> Seconds:
    """Counts a run's requests by second; the document says who was ready when.

    Raises:
        RunFolderError: the requests can't be read.
    """
    import duckdb

    try:
        return second_by_second(requests, ready_spans(document))
    except duckdb.Error as error:
        raise RunFolderError(f"{document.run}: the requests can't be counted by second: {in_a_line(error)}") from error


def ready_spans(document: Document) -> Spans:
    """From when until when each instance was ready, as the document's marks say."""
    stack = document.settings.get("stack")
    checked = isinstance(stack, dict) and stack.get("healthcheck") is not None
    return [span for instance in document.instances if (span := _ready_span(instance, checked)) is not None]


def _ready_span(instance: InstanceEntry, checked: bool) -> tuple[float, float] | None:
    """From the later of healthy and warm to the first sign of going; None where it never got ready."""
    marks = instance.marks
    if checked and marks.get("healthy") is None:
        return None
    begins = [mark.at for name in ("healthy", "warm") if (mark := marks.get(name)) is not None]
    ends = [mark.at for name in ("unready", "announced", "exited") if (mark := marks.get(name)) is not None]
    return (max(begins), min(ends, default=float("inf"))) if begins else None


def write_seconds(seconds: Seconds, folder: Path) -> None:
    """Writes ``seconds.json``, the same bytes for the same requests."""
    (folder / SECONDS_FILE).write_bytes(msgspec.json.encode(seconds) + b"\n")


def read_seconds(folder: Path) -> Seconds:
    """Reads ``seconds.json``.

    Raises:
        RunFolderError: it's missing, broken or of a later version.
    """
    return read_versioned(
        folder / SECONDS_FILE,
        Seconds,
        SECONDS_VERSION,
        missing="make it with `swarmtest judge`",
        broken=("a run's seconds", "make it again with `swarmtest judge`"),
    )
