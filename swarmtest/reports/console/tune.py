"""A tune, for a person at its end: what to set and why, the runs, the stops and their histogram."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from swarmtest.reports.console.parts import bullet, heading, verdict_word, write
from swarmtest.reports.tune import Tune, tables

BAR_WIDTH = 40
LEFT_OUT_WHERE_NARROW = {"propagation", "drain", "lost", "took", "sent", "slack"}
WIDE = 100


def render(tune: Tune, out: TextIO, *, folder: str | None = None, width: int | None = None) -> None:
    """Writes the report to ``out``.

    Arguments:
        folder: the tune's folder as the person can type it; by default its name.
        width: columns; by default the terminal's, or 80.
    """

    def draw(console: Console) -> None:
        for part in _parts(tune, console.width):
            console.print(part)
        if tune.patch:
            console.print(heading("Written into the file" if tune.written else "Patch (--write puts it into the file)"))
            console.print(Text(tune.patch.rstrip("\n")), soft_wrap=True)
        if tune.emitted:
            console.print(heading("The same elsewhere"))
            console.print(Text(tune.emitted.rstrip("\n")), soft_wrap=True)
        console.print(heading(None))
        console.print(Text(tables.sentence(tune), style="bold"))
        ended = f" · {tune.ended}" if tune.ended not in (None, "finished") else ""
        place = f"{ended} · exit code {tune.exit_code} · {folder or tune.tune}"
        console.print(verdict_word(tune.outcome).append(place, style="not bold"), soft_wrap=True)

    write(draw, out, width)


def _parts(tune: Tune, width: int) -> Iterator[RenderableType]:
    yield Text.assemble("swarmtest tune of ", (tune.service, "bold"), " in ", (tune.stack, "bold"))
    if tune.signal_path:
        yield heading("From the signal to the exit")
        yield from (bullet("·", line) for line in tune.signal_path)
    if tune.cures:
        yield heading("A longer grace isn't the cure; this is")
        yield from (bullet(f"{place}.", line, "bold") for place, line in enumerate(tune.cures, 1))
    if tune.runs:
        yield heading("Runs")
        rows = [tables.run_cells(run, place) for place, run in enumerate(tune.runs, 1)]
        yield _table(tables.RUN_COLUMNS, rows, width, {"for", "verdict"})
    yield from _stops(tune, width)
    yield from _recommendation(tune)
    if tune.missing:
        yield heading("Not proved")
        yield from (bullet("·", line) for line in tune.missing)
    if tune.warnings:
        yield heading("What the value doesn't do")
        yield from (bullet("·", line) for line in tune.warnings)


def _stops(tune: Tune, width: int) -> Iterator[RenderableType]:
    if not tune.stops:
        return
    yield heading("Stops, in seconds: from the signal to the close, the last answer, the exit")
    yield _table(tables.STOP_COLUMNS, tables.stop_rows(tune), width, {"instance", "counts"})
    bars = tables.histogram(tables.measured_stops(tune))
    if bars:
        yield heading("How long the stops took that count")
        most = max(bar.count for bar in bars)
        table = Table.grid(padding=(0, 2))
        table.add_column(justify="right", no_wrap=True)
        table.add_column(justify="right", no_wrap=True)
        table.add_column(no_wrap=True)
        for each in bars:
            table.add_row(
                f"{each.name} s", str(each.count), Text(tables.bar(each.count, most, BAR_WIDTH), style="blue")
            )
        yield table


def _recommendation(tune: Tune) -> Iterator[RenderableType]:
    found = tune.recommendation
    if found is None:
        return
    yield heading(f"stop_grace_period: {found.grace_seconds}s")
    yield from (bullet("·", line) for line in tables.because(found))
    if tune.proof is not None:
        yield bullet("·", f"the proof, with {found.grace_seconds} s: {tune.proof}")
    if edge := [*tables.edge_words(tune)]:
        yield bullet("·", f"the edge: {edge[0]} ({', '.join(edge[1:])})")
    yield heading("To set with it: wait > detection, limit > longest request, grace > both")
    for setting in found.settings:
        yield bullet("·", tables.setting_words(setting), "" if setting.fits else "bold")
        yield bullet(" ", setting.why, "dim")


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]], width: int, left: set[str]) -> RenderableType:
    shown = [name for name in columns if width >= WIDE or name not in LEFT_OUT_WHERE_NARROW]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in shown:
        table.add_column(name, justify="left" if name in left else "right", no_wrap=name not in left)
    for row in rows:
        table.add_row(*(cell for name, cell in zip(columns, row, strict=True) if name in shown))
    return table
