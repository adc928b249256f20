"""The tables of the page, as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from swarmtest.reports import Document, InstanceEntry, streams, wording
from swarmtest.reports.acts import act_rows
from swarmtest.reports.html.picture import in_rows
from swarmtest.reports.lifespans import (
    ONLY_WHERE_SEEN,
    START_MARKS,
    STOP_MARKS,
    UNSEEN,
    durations,
    full_label,
    grace_seconds,
    mark_text,
    span_text,
    with_error,
    zero,
)

MOST_LISTED = 500
"""Lost requests in the table; all of them are in ``verdicts.json``."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of text: ``numbers`` are the columns that are set to the right."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: frozenset[int] = frozenset()


def losses_table(document: Document) -> Table:
    """Requests by kind, connection and class."""
    classes = wording.present_classes(document)
    rows = [
        (
            row.kind,
            row.connection,
            wording.number(row.sent),
            wording.number(row.counts.get("ok", 0)),
            *wording.unproved_cells(document, row),
            *(wording.number(row.counts.get(name, 0)) for name in classes),
            *(UNSEEN if time is None else f"{time:,.0f}" for time in (row.p50_ms, row.p99_ms, row.p99_sent_ms)),
        )
        for row in document.loss_rows
    ]
    times = ("p50 ms", "p99 ms", "p99 ms from sending")
    doubts = wording.UNPROVED_HEADER if any(row.unproved for row in document.loss_rows) else ()
    columns = ("kind", "connection", "sent", "ok", *doubts, *(name.replace("_", " ") for name in classes), *times)
    return Table(columns, rows, frozenset(range(2, len(columns))))


def events_table(document: Document) -> Table:
    """The first of those that aren't ok."""
    start = zero(document)
    rows = [
        (
            event.loss.replace("_", " "),
            event.kind,
            "kept" if event.reused else "fresh",
            UNSEEN if event.sent is None else with_error(event.sent - start, 0),
            UNSEEN if event.done is None else with_error(event.done - start, 0),
            full_label(event.instance, document),
            event.saw or UNSEEN,
            wording.CHARGE_WORDS.get(event.charge, event.charge),
            event.why,
            event.id,
        )
        for event in document.loss_events[:MOST_LISTED]
    ]
    columns = ("class", "kind", "connection", "sent", "ended", "instance", "client saw", "belongs to", "why", "request")
    return Table(columns, rows, frozenset({3, 4}))


def streams_table(document: Document) -> Table:
    """Streams by kind."""
    rows = [streams.cells(row) for row in document.stream_rows]
    return Table(streams.HEADER, rows, frozenset(range(1, len(streams.HEADER))))


def stream_events_table(document: Document) -> Table:
    """Streams that ended badly; each is one row, whatever it lost."""
    start = zero(document)
    rows = [
        (
            event.ending,
            event.kind,
            *(UNSEEN if at is None else with_error(at - start, 0) for at in (event.opened, event.closed)),
            full_label(event.instance, document),
            wording.number(event.lost),
            wording.number(event.repeated),
            event.error or UNSEEN,
            event.id,
        )
        for event in document.stream_events[:MOST_LISTED]
    ]
    columns = ("how it ended", "kind", "opened", "closed", "instance", "lost", "twice", "the client's words", "stream")
    return Table(columns, rows, frozenset({2, 3, 5, 6}))


def retries_table(document: Document) -> Table:
    """What came of tries after the first."""
    rows = [
        (
            entry.kind,
            *(wording.number(count) for count in (entry.requests, entry.tries)),
            f"{entry.amplification:.3f}",
            *(wording.number(count) for count in (entry.lost_first, entry.saved, entry.unbudgeted)),
            f"{entry.budget:g}",
        )
        for entry in document.retries
    ]
    columns = (
        "kind",
        "requests",
        "tries",
        "amplification",
        "first try lost",
        "of these saved",
        "over budget",
        "budget",
    )
    return Table(columns, rows, frozenset(range(1, len(columns))))


def acts_table(document: Document) -> Table:
    """What was done to whom."""
    rows = [(row.at, row.name, row.whom, row.result) for row in act_rows(document)]
    return Table(("s from T0", "act", "whom", "what came of it"), rows, frozenset({0}))


def lives_table(document: Document) -> Table:
    """Each instance a row, so that sixty of them still fit."""
    marks = [
        (name, words)
        for name, words in (*START_MARKS, *STOP_MARKS)
        if name not in ONLY_WHERE_SEEN or any(one.marks.get(name) for one in document.instances)
    ]
    spans = ("T2-T1", "T3-signal", "T4-signal", "slack")
    quick = ("first requests, usually, ms",) if any(one.first for one in document.instances) else ()
    columns = ("instance", *(words for _, words in marks), *spans, "ended by", "exit", "served", "lost", *quick)
    grace = grace_seconds(document)
    names = [name for name, _ in marks]
    rows = [(*_life(one, document, names, grace), *(_first(one) for _ in quick)) for one in in_rows(document.instances)]
    return Table(columns, rows, frozenset({*range(1, len(marks) + 5), *range(len(marks) + 6, len(columns))}))


def _first(one: InstanceEntry) -> str:
    """How quick a new instance's first requests were, beside later ones: half of them, and the slowest."""
    if one.first is None:
        return UNSEEN
    first = f"{one.first.first_ms:,.0f} to {one.first.first_most_ms:,.0f}"
    return f"{first}, {one.first.usual_ms:,.0f} to {one.first.usual_most_ms:,.0f} ({one.first.kind})"


def _life(one: InstanceEntry, document: Document, marks: Sequence[str], grace: float | None) -> tuple[str, ...]:
    span = durations(one, grace)
    return (
        full_label(one.id, document),
        *(mark_text(one.marks.get(name), zero(document)) for name in marks),
        *(span_text(each) for each in (span.propagation, span.drain, span.stop, span.slack)),
        one.cause or UNSEEN,
        UNSEEN if one.exit_code is None else str(one.exit_code),
        wording.number(one.served),
        wording.number(one.lost),
    )


def settings_table(document: Document) -> Table:
    """All settings, and the engine's."""
    engine = [(f"engine.{name}", value) for name, value in wording.flat(document.engine).items()]
    return Table(("setting", "value"), [*wording.flat(document.settings).items(), *engine])
