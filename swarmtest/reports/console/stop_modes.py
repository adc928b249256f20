"""The table of `stop-modes` for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from swarmtest.reports import Document
from swarmtest.reports.series.stop_modes import run_rows, tried, way_rows

TEXTS = 1
"""So many columns from the left are words; those after them are numbers, but for what clients saw."""


def stop_modes(documents: Iterable[Document | None]) -> Iterator[RenderableType]:
    """Both tables; nothing where none of the four ways was run."""
    runs = tried(list(documents))
    if not runs:
        return
    yield Text("Four ways of stopping: median of the runs (least–most)", style="bold")
    yield _table(*way_rows(runs))
    yield Text("\nEach run", style="bold")
    yield _table(*run_rows(runs))


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for number, column in enumerate(head):
        words = number < TEXTS or column.startswith("what")
        table.add_column(column, justify="left" if words else "right")
    for row in rows:
        table.add_row(*row)
    return table
