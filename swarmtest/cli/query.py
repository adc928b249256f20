"""``swarmtest query``: what a run's tables say to a question in SQL."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

if TYPE_CHECKING:
    from rich.table import Table

    from swarmtest.judge.querying import Answer

_NO_END = 1_000_000


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("sql")
@click.option("--csv", "as_csv", is_flag=True, help="Comma-separated values, with a line of names.")
@click.option("--json", "as_json", is_flag=True, help="A JSON object for each row.")
def query(folder: Path, sql: str, as_csv: bool, as_json: bool) -> int:
    """Asks the run in FOLDER by SQL: "select loss, count(*) from accounted group by loss".

    \b
    Tables: accounted (each request and what became of it), requests (as the client wrote them),
    lines (of instances and proxy), events (the trace), instances, streams, connections.
    "show tables" and "describe accounted" say what's in them.
    """
    from swarmtest.errors import UsageError
    from swarmtest.judge.querying import ask

    if as_csv and as_json:
        raise UsageError("--csv and --json: give one of them")
    answer = ask(folder, sql)
    if as_csv:
        _write_csv(answer, sys.stdout)
    elif as_json:
        for row in answer.rows:
            click.echo(json.dumps(dict(zip(answer.columns, row, strict=True)), default=str, ensure_ascii=False))
    else:
        _show(answer)
    return 0


def _write_csv(answer: Answer, out: TextIO) -> None:
    writer = csv.writer(out)
    writer.writerow(answer.columns)
    writer.writerows(answer.rows)


def _show(answer: Answer) -> None:
    """A table; rows that are wider than the terminal are shown a line each value, and a pipe gets them as they are."""
    from rich.console import Console

    console = Console(highlight=False, markup=False)
    whole = _table(answer)
    width = console.measure(whole, options=console.options.update(max_width=_NO_END)).maximum
    if width <= console.width:
        console.print(whole)
    elif console.is_terminal:
        for number, row in enumerate(answer.rows, 1):
            console.print(f"row {number}", style="bold")
            console.print(_one(answer, row))
    else:
        Console(highlight=False, markup=False, width=width).print(whole)


def _table(answer: Answer) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, name in enumerate(answer.columns):
        numbers = all(isinstance(row[place], (int, float, type(None))) for row in answer.rows)
        table.add_column(name, justify="right" if numbers else "left", overflow="fold")
    for row in answer.rows:
        table.add_row(*(_text(value) for value in row))
    return table


def _one(answer: Answer, row: Sequence[Any]) -> Table:
    from rich.table import Table

    table = Table(box=None, show_header=False, padding=(0, 1, 0, 2), pad_edge=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in zip(answer.columns, row, strict=True):
        table.add_row(name, _text(value))
    return table


def _text(value: object) -> str:
    return "" if value is None else str(value)
