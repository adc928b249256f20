"""The table of `stop-modes` for the terminal: side by side where there's room, else counts first, then times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from swarmtest.reports import Document
from swarmtest.reports.series.stop_modes import SAW, run_table, tried, way_table

WIDE = 150
"""From so many columns on a table isn't parted."""


def stop_modes(documents: Iterable[Document | None], width: int = 80) -> Iterator[RenderableType]:
    """The ways, then each run; nothing where none of the four ways was run."""
    runs = tried(list(documents))
    if not runs:
        return
    for title, cells in (("Median of the runs (least–most)", way_table(runs)), ("\nEach run", run_table(runs))):
        yield Text(title, style="bold")
        if width >= WIDE:
            yield _drawn(cells.head, cells.rows)
            continue
        end = cells.counts
        yield _drawn(cells.head[:end], [row[:end] for row in cells.rows])
        yield Text()
        yield _drawn((*cells.head[:2], *cells.head[end:]), [(*row[:2], *row[end:]) for row in cells.rows])


def _drawn(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for number, column in enumerate(head):
        table.add_column(column, justify="left" if number == 0 or column == SAW else "right", no_wrap=number == 0)
    for row in rows:
        table.add_row(*row)
    return table
