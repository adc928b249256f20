"""The report of a series: a line for each run, then what isn't passed with what to do, then the comparison."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from swarmtest.reports import CheckEntry, Document, wording
from swarmtest.reports.console.parts import STYLES, bullet, check_text, heading, verdict_word, write
from swarmtest.reports.console.stop_modes import stop_modes
from swarmtest.reports.series import ChecklistLine, Series, Spread, tables

FIGURE_WIDTH = 22
SCENARIO_WIDTH = 24
WIDE = 100
"""From so many columns on every column of the runs is shown."""


def render(
    series: Series,
    documents: Sequence[Document | None],
    out: TextIO,
    *,
    folder: Path | str | None = None,
    width: int | None = None,
) -> None:
    """Writes the report to ``out``.

    Arguments:
        documents: the members', None where nothing could be judged.
        folder: the series' folder as the person can type it; by default its name.
        width: columns; by default the terminal's, or 80.
    """

    def draw(console: Console) -> None:
        for part in _parts(series, documents, console.width):
            console.print(part)
        console.print(_verdict(series, str(folder or series.series)), soft_wrap=True)

    write(draw, out, width)


def _parts(series: Series, documents: Sequence[Document | None], width: int) -> Iterator[RenderableType]:
    yield from _head(series, documents)
    yield heading("Runs")
    yield _runs(series, width)
    if found := [*stop_modes(documents, width)]:
        yield heading("Ways of stopping")
        yield from found
    elif tables.is_compared(series):
        yield heading("Side by side: median (least–most)" if series.repeat > 1 else "Side by side")
        yield from _figures(series.spread, width)
        yield from (bullet("·", line) for line in tables.proofs(series.spread))
    if opened := [*_open_checks(series, documents)]:
        yield heading("Checks that aren't passed")
        yield from opened
    if tables.has_checklist(series):
        yield heading(f"Checklist: {tables.checklist_sentence(series)}")
        yield _checklist(series.checklist)
    if series.notes:
        yield heading("Notes")
        yield from (bullet("·", note) for note in series.notes)
    yield heading(None)
    yield Text(tables.sum_sentence(series))


def _head(series: Series, documents: Sequence[Document | None]) -> Iterator[RenderableType]:
    line = Text.assemble("swarmtest series ", (series.asked, "bold"), " on ", (series.stack, "bold"))
    engine = next((wording.engine_sentence(document) for document in documents if document is not None), "")
    yield line.append(f", {engine}" if engine else "")
    facts = [f"{wording.counted(len(series.members), 'run')}, each with a deployment of its own", f"seed {series.seed}"]
    facts += [f"{series.repeat} of each scenario"] if series.repeat > 1 else []
    yield Text(" · ".join(facts))


def _runs(series: Series, width: int) -> RenderableType:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    shown = [column for column in tables.RUN_COLUMNS if width >= WIDE or column not in tables.LEFT_OUT_WHERE_NARROW]
    for column in shown:
        left, wraps = column in ("run", "verdict", "by class"), column == "by class"
        table.add_column(column, justify="left" if left else "right", no_wrap=not wraps)
    for member in series.members:
        name, _, sent, lost, *rest = tables.run_cells(member, series)
        outcome, words = tables.verdict(member)
        style = "bold red" if member.lost and outcome != "passed" else ""
        cells: list[str | Text] = [
            name,
            Text(words, style=STYLES.get(outcome, "")),
            sent,
            Text(lost, style=style),
            *rest,
        ]
        table.add_row(*cells[: len(shown)])
    return table


def _figures(spreads: Sequence[Spread], width: int) -> Iterator[RenderableType]:
    """As many scenarios side by side as fit; the others in a table below."""
    size = max(1, (width - FIGURE_WIDTH) // SCENARIO_WIDTH)
    for first in range(0, len(spreads), size):
        group = spreads[first : first + size]
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        table.add_column("", width=FIGURE_WIDTH - 2)
        for spread in group:
            table.add_column(spread.scenario, justify="right", width=SCENARIO_WIDTH - 2)
        for name, cells in tables.figure_rows(group):
            table.add_row(name, *cells)
        yield table


def _open_checks(series: Series, documents: Sequence[Document | None]) -> Iterator[RenderableType]:
    """For each run what's failed or not proved; what repeats say in the same words is said once."""
    advised: set[str] = set()
    told: set[tuple[str, str, str]] = set()
    for member, document in zip(series.members, documents, strict=True):
        checks = [check for check in document.checks if check.outcome != "passed"] if document is not None else []
        keys = {check.name: (member.scenario, check.name, check.sentence) for check in checks}
        fresh = [check for check in checks if keys[check.name] not in told]
        told.update(keys.values())
        if fresh:
            yield Text(tables.run_name(member, series), style="bold")
            yield Padding(_checks(fresh, advised), (0, 0, 0, 2))


def _checks(checks: Sequence[CheckEntry], said: set[str]) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column()
    for check in sorted(checks, key=lambda check: check.outcome != "failed"):
        table.add_row(verdict_word(check.outcome), check_text(check, said))
    return table


def _checklist(lines: Sequence[ChecklistLine]) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column()
    for line in lines:
        shown: list[RenderableType] = [Text(line.text)]
        if line.outcome != "passed":
            shown.append(bullet("·", line.sentence))
        table.add_row(f"{line.number}", verdict_word(line.outcome), Group(*shown))
    return table


def _verdict(series: Series, folder: str) -> Text:
    word = verdict_word(series.outcome)
    ended = f" · {series.ended}" if series.ended not in (None, "finished") else ""
    return word.append(f"{ended} · exit code {series.exit_code} · {folder}")
