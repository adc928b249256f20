"""A run's tables opened to SQL: the requests with what became of each, the lines about them, the trace, the instances.

One statement that reads, and nothing but these tables: what's asked can neither write nor open a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from swarmtest.errors import UsageError
from swarmtest.events import Event, read_events
from swarmtest.evidence.database import Database, database_of_folder, is_about_a_request
from swarmtest.judge import see_folder
from swarmtest.store import open_run_folder
from swarmtest.tables import TABLES
from swarmtest.timeline import Lifespan

QUERY_TABLES = {
    "accounted": "each request with what became of it, where and when",
    "requests": "the same requests as the client wrote them; joined to accounted by n",
    "lines": "what instances and proxy wrote about requests",
    "events": "the rest of the trace, each with its fields as JSON",
    "instances": "each instance, with its marks",
    **{table.stem: f"what the client wrote of {table.stem}, which are no requests" for table in TABLES},
}
"""The tables that can be asked for, and what's in each row."""

INSTANCE_MARKS = ("started", "healthy", "warm", "announced", "unready", "signalled", "closed", "killed", "exited")


@dataclass(frozen=True, slots=True)
class Answer:
    """The columns and the rows that a statement gives."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


def ask(path: Path, sql: str) -> Answer:
    """What a statement says of a run's folder.

    Raises:
        RunFolderError: it isn't a run's folder.
        UsageError: it isn't a statement that reads, or DuckDB doesn't understand it.
    """
    import duckdb

    _reads(sql)
    folder = open_run_folder(path)
    events = list(read_events(folder.events, is_about_a_request))
    database = database_of_folder(folder, apart=True)
    try:
        lives = see_folder(folder, events, database).timeline.lifespans
        _fill(database, "events", _EVENTS, [_event(event) for event in events])
        _fill(database, "instances", _INSTANCES, [_instance(life) for life in lives])
        for table in TABLES:
            _fill(database, table.stem, table.columns, folder.read_table(table))
        _shut(database)
        try:
            return Answer(*database.columns(sql))
        except duckdb.Error as error:
            problem = str(error).split("\n\n")[0].strip()
            raise UsageError(f"{problem}\n{described(database)}") from error
    finally:
        database.close()


def _reads(sql: str) -> None:
    """Refuses whatever isn't one statement that only reads."""
    import duckdb

    try:
        statements = duckdb.extract_statements(sql)
    except duckdb.Error as error:
        raise UsageError(f"{str(error).strip()}\nexpected one select, in DuckDB's SQL") from error
    if len(statements) != 1 or statements[0].type not in (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN):
        raise UsageError("expected one statement that reads (select, with …, describe); a run's evidence isn't changed")


def _shut(database: Database) -> None:
    """From here on nothing but the tables can be read; the sealed requests are taken in before."""
    database.run("CREATE TABLE own_requests AS SELECT * FROM requests")
    database.run("CREATE OR REPLACE VIEW requests AS SELECT * FROM own_requests")
    for table in _SCAFFOLD:
        database.run(f"DROP TABLE IF EXISTS {table}")
    database.run("SET enable_external_access = false")
    database.run("SET lock_configuration = true")


def described(database: Database) -> str:
    """Each table with its columns, a line each."""
    rows = database.rows(
        "SELECT table_name, string_agg(column_name, ', ' ORDER BY column_index) FROM duckdb_columns()"
        " WHERE NOT internal GROUP BY table_name"
    )
    columns = {str(name): str(names) for name, names in rows}
    return "\n".join(f"  {name}: {columns[name]}" for name in QUERY_TABLES if name in columns)


_SCAFFOLD = ("said", "facts", "edges", "odd", "instants", "names")
"""What the other tables were made by."""

_EVENTS = {"t": "DOUBLE", "kind": "VARCHAR", "data": "JSON"}
_INSTANCES = {
    "task": "VARCHAR",
    "name": "VARCHAR",
    "slot": "INTEGER",
    "node": "VARCHAR",
    "container": "VARCHAR",
    "generation": "VARCHAR",
    "image": "VARCHAR",
    "cause": "VARCHAR",
    "exit_code": "INTEGER",
    "served": "BIGINT",
    "grace_seconds": "DOUBLE",
    **dict.fromkeys(INSTANCE_MARKS, "DOUBLE"),
}


def _event(event: Event) -> dict[str, Any]:
    return {"t": event.t, "kind": event.kind, "data": msgspec.json.encode(dict(event.data)).decode()}


def _instance(life: Lifespan) -> dict[str, Any]:
    own = {name: getattr(life, name) for name in _INSTANCES if name not in INSTANCE_MARKS}
    return own | {name: life.at(name) for name in INSTANCE_MARKS}


def _fill(database: Database, table: str, columns: Any, rows: Sequence[dict[str, Any]]) -> None:
    unnested = ", ".join(f"unnest(${name}::{kind}[]) AS {name}" for name, kind in columns.items())
    database.run(f"CREATE TABLE {table} AS SELECT {unnested}", {name: [row[name] for row in rows] for name in columns})
