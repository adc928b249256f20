"""Streams as all reports of a run tell of them: a table by kind, and the ones that ended badly.

Not a report: it has no ``render``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from swarmtest.reports import Document, StreamRow, wording
from swarmtest.reports.lifespans import full_label, with_error, zero

HEADER = ("kind", "sessions", "opened", "told", "cut", "messages", "lost", "twice", "back: median", "longest")
"""``told``: ended in good order by the service; ``back``: until a session had a stream again."""

UNSEEN = "–"
SHOWN = 3


def cells(row: StreamRow) -> Sequence[str]:
    """One kind, as :data:`HEADER` has it."""
    counts = (row.sessions, row.opened, row.told, row.cut + row.untold, row.sent + row.received, row.lost, row.repeated)
    times = (row.back_median_seconds, row.back_longest_seconds)
    return (
        row.kind,
        *(wording.number(count) for count in counts),
        *(UNSEEN if seconds is None else f"{seconds:.2f} s" for seconds in times),
    )


def lines(document: Document) -> Iterator[str]:
    """The first streams that ended badly, and how many more there are."""
    for event in document.stream_events[:SHOWN]:
        at = "" if event.closed is None else f" at {with_error(event.closed - zero(document), 0)} s"
        lost = f"; {event.lost} lost, {event.repeated} repeated" if event.lost or event.repeated else ""
        yield f"{event.id}: {event.ending}{at}, {full_label(event.instance, document)}{lost}"
    if (rest := len(document.stream_events) - SHOWN) > 0:
        yield f"and {wording.number(rest)} more in verdicts.json"
