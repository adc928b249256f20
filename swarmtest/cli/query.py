"""``swarmtest query``: what a run's tables say to a question in SQL."""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

if TYPE_CHECKING:
    from rich.table import Table

    from swarmtest.judge.querying import Answer

_NO_END = 1_000_000

MOST_ROWS = 10_000
"""So many rows of a table are for a person; --csv and --json have all of them."""


@click.command(short_help="Asks a run's records by SQL.")
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
        _write_json(answer, sys.stdout)
    else:
        _show(replace(answer, rows=answer.rows[:MOST_ROWS]))
        if (rest := len(answer.rows) - MOST_ROWS) > 0:
            click.echo(f"swarmtest: {rest:,} rows more; --csv or --json has all of them", err=True)
    return 0


def _write_csv(answer: Answer, out: TextIO) -> None:
    writer = csv.writer(out)
    writer.writerow(answer.columns)
    writer.writerows(answer.rows)


def _write_json(answer: Answer, out: TextIO) -> None:
    names = _each_once(answer.columns)
    for row in answer.rows:
        line = {name: _finite(value) for name, value in zip(names, row, strict=True)}
        out.write(json.dumps(line, default=str, ensure_ascii=False, allow_nan=False) + "\n")


def _each_once(columns: Sequence[str]) -> list[str]:
    """The names with a number where one is there again, as an object has room for only one of them."""
    names: list[str] = []
    for column in columns:
        name, number = column, 1
        while name in names:
            number += 1
            name = f"{column}_{number}"
        names.append(name)
    return names


def _finite(value: Any) -> Any:
    """JSON knows no infinity and nothing that's no number."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return {str(name): _finite(one) for name, one in value.items()} if isinstance(value, dict) else value


def _show(answer: Answer) -> None:
    """A table; rows that are wider than the terminal are shown a line each value, and a pipe gets them as they are."""
    from swarmtest.reports.console.parts import PlainConsole

    console = PlainConsole(highlight=False, markup=False)
    whole = _table(answer)
    width = console.measure(whole, options=console.options.update(max_width=_NO_END)).maximum
    if width <= console.width:
        console.print(whole)
    elif console.is_terminal:
        for number, row in enumerate(answer.rows, 1):
            console.print(f"row {number}", style="bold")
            console.print(_one(answer, row))
    else:
        PlainConsole(highlight=False, markup=False, width=width).print(whole)


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
