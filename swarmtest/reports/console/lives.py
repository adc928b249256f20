"""The lives of the instances as tables: a row for each mark, a column for each instance.

Marks go down and instances across, because eleven numbers with error bars don't fit in one line of 80
columns; where the instances don't fit, there's another table below.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Table
from rich.text import Text

from swarmtest.reports import Document, InstanceEntry, wording
from swarmtest.reports.lifespans import (
    ONLY_WHERE_SEEN,
    START_MARKS,
    STOP_MARKS,
    UNSEEN,
    Durations,
    Span,
    begun,
    durations,
    grace_seconds,
    mark_text,
    span_text,
    stopped,
    told_apart,
    zero,
)

AS_ASKED = "stopped as asked"
"""The cause that needs no word, as an exit code of 0 and no loss need none: the tables say what's amiss."""

NAME_WIDTH = 19
NARROWEST, WIDEST = 14, 18


def _columns(count: int, width: int) -> tuple[int, int]:
    """How many instances go side by side, and how wide each is."""
    room = max(1, (width - NAME_WIDTH) // (NARROWEST + 1))
    side_by_side = max(1, min(count, room))
    return side_by_side, max(NARROWEST, min(WIDEST, (width - NAME_WIDTH) // side_by_side - 1))


def _tables(
    document: Document, instances: Sequence[InstanceEntry], width: int
) -> Iterator[tuple[Table, Sequence[InstanceEntry]]]:
    names = told_apart(instances, document)
    size, wide = _columns(len(instances), width)
    for first in range(0, len(instances), size):
        group = instances[first : first + size]
        table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
        table.add_column("", width=NAME_WIDTH)
        for instance in group:
            table.add_column(names[instance.id], justify="right", width=wide)
        yield table, group


def stops(document: Document, width: int) -> Iterator[Table]:
    """From the announcement to the exit, and what follows from it."""
    for table, group in _tables(document, stopped(document), width):
        _add_marks(table, group, STOP_MARKS, zero(document))
        spans = [durations(instance, grace_seconds(document)) for instance in group]
        for words, cells in _span_rows(spans):
            table.add_row(words, *cells)
        if any(instance.exit_code != 0 for instance in group):
            table.add_row("exit code", *[_exit_code(instance) for instance in group])
        if any(instance.cause != AS_ASKED for instance in group):
            table.add_row("ended by", *[instance.cause or UNSEEN for instance in group])
        _add_work(table, group)
        yield table


def starts(document: Document, width: int) -> Iterator[Table]:
    """From the start of the container to its first request."""
    for table, group in _tables(document, begun(document), width):
        _add_marks(table, group, START_MARKS, zero(document))
        if any(instance.first for instance in group):
            table.add_row("first ms (usual)", *[_first(instance) for instance in group])
        _add_work(table, group)
        yield table


def _add_marks(table: Table, group: Sequence[InstanceEntry], marks: Sequence[tuple[str, str]], start: float) -> None:
    for mark, words in marks:
        if mark not in ONLY_WHERE_SEEN or any(instance.marks.get(mark) for instance in group):
            style = "bold red" if mark == "killed" else ""
            table.add_row(words, *[_cell(mark_text(instance.marks.get(mark), start), style) for instance in group])


def _span_rows(spans: Sequence[Durations]) -> Iterator[tuple[str, list[Text]]]:
    yield "propagation T2-T1", [_cell(span_text(span.propagation)) for span in spans]
    yield "drain T3-signal", [_cell(span_text(span.drain)) for span in spans]
    yield "stop T4-signal", [_cell(span_text(span.stop)) for span in spans]
    yield "slack of the grace", [_slack(span.slack) for span in spans]


def _slack(span: Span | None) -> Text:
    return _cell(span_text(span), "bold red" if span is not None and span.seconds <= 0 else "")


def _cell(text: str, style: str = "") -> Text:
    """A time with room for an error bar, so that the points stand below each other."""
    return Text(text if "±" in text else text + " " * len(" ±0.00"), style)


def _exit_code(instance: InstanceEntry) -> Text:
    if instance.exit_code is None:
        return Text(UNSEEN)
    return Text(str(instance.exit_code), style="" if instance.exit_code == 0 else "bold red")


def _add_work(table: Table, group: Sequence[InstanceEntry]) -> None:
    table.add_row("requests served", *[wording.number(instance.served) for instance in group])
    if any(instance.lost for instance in group):
        lost = [Text(wording.number(instance.lost), style="bold red" if instance.lost else "") for instance in group]
        table.add_row("requests lost", *lost)
    if any(instance.cpu_max is not None or instance.memory_max is not None for instance in group):
        table.add_row("most cores; MiB", *[_load(instance) for instance in group])


def _first(instance: InstanceEntry) -> str:
    first = instance.first
    return UNSEEN if first is None else f"{first.first_ms:,.0f} ({first.usual_ms:,.0f}), {first.kind}"


def _load(instance: InstanceEntry) -> str:
    cores = UNSEEN if instance.cpu_max is None else f"{instance.cpu_max:.2f}"
    return f"{cores}; {UNSEEN if instance.memory_max is None else f'{instance.memory_max / 2**20:,.0f}'}"
