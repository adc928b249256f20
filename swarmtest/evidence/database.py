"""A run's requests, and all lines about requests, as tables of one DuckDB database in memory.

Memory doesn't grow with the run: beyond a limit DuckDB puts what it holds into files of its own, which go with
it. Lines about requests are read from the trace as they stand; the other events are left to Python.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from swarmtest.errors import RunFolderError, in_a_line
from swarmtest.events import Event
from swarmtest.evidence.opening import in_a_file, in_memory, parsed
from swarmtest.evidence.request import Request
from swarmtest.store import REQUEST_COLUMNS, RunFolder

if TYPE_CHECKING:
    import duckdb

SMALL_BYTES = 8_000_000
"""A folder up to this size, some minutes of traffic, is judged in memory; it's quicker by half."""

PACKED = 20
"""So many times as long lines of requests are about what they are when they're sealed."""

STEPS = ("start", "intent", "commit", "stored", "finish")
"""Lines about a request; all other lines of an instance are about its own state."""

LINE_COLUMNS = {
    "t": "DOUBLE",
    "kind": "VARCHAR",
    "event": "VARCHAR",
    "request_id": "VARCHAR",
    "instance": "VARCHAR",
    "seq": "BIGINT",
    "container": "VARCHAR",
    "status": "BIGINT",
    "stored": "BIGINT",
    "sha256": "VARCHAR",
    "server": "VARCHAR",
    "connected": "BOOLEAN",
    "termination": "VARCHAR",
    "duration": "DOUBLE",
}
"""The table ``lines``: each record of an instance and each line of the proxy, in the order of the trace."""

_FROM_TRACE = {
    "t": "t",
    "kind": "kind",
    "event": "event",
    "request_id": "request_id",
    "instance": "instance",
    "seq": "TRY_CAST(seq AS BIGINT)",
    "container": "coalesce(container, '')",
    "status": "TRY_CAST(status AS BIGINT)",
    "stored": "TRY_CAST(stored AS BIGINT)",
    "sha256": "lower(sha256)",
    "server": "server",
    "connected": "TRY_CAST(connected AS BOOLEAN)",
    "termination": "termination",
    "duration": "coalesce(TRY_CAST(duration_ms AS DOUBLE) / 1000,"
    " TRY_CAST(regexp_extract(replace(duration_s, ':', ','), '[^, ]*$') AS DOUBLE), 0)",
}


_ABOUT_A_REQUEST = re.compile(
    rb'\{"t":[-+.e0-9]+,"kind":"(?:proxied"|record","event":"(?:start|intent|commit|stored|finish)")'
)


def is_about_a_request(line: bytes) -> bool:
    """Whether a line of a trace is one that DuckDB reads: whole, and about a request."""
    return _ABOUT_A_REQUEST.match(line) is not None and line.endswith(b"}\n")


def is_step(event: Event) -> bool:
    """Whether an event is an instance's line about a request."""
    return event.kind == "record" and event.get("event") in STEPS


class Database:
    """The tables of a run. They're there until it's closed or forgotten.

    Arguments:
        place: a folder of its own for the tables, which goes with them; without one they're in memory, and only
            what's too much is put into files.

    Attributes:
        small: whether they're in memory, where it takes longer to plan a statement well than to carry it out anyhow.
    """

    def __init__(self, place: Path | None = None) -> None:
        self.small = place is None
        self._place = place
        self._base = in_memory() if place is None else in_a_file(place)
        self._base.execute("SET enable_progress_bar = false")

    def rows(self, sql: str, values: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """The rows of a statement; ``$name`` in it stands for a value."""
        return self._base.execute(parsed(sql), dict(values) if values else None).fetchall()

    def run(self, sql: str, values: Mapping[str, Any] | None = None) -> None:
        """Carries a statement out that gives no rows."""
        self._base.execute(parsed(sql), dict(values) if values else None)

    def value(self, sql: str, values: Mapping[str, Any] | None = None) -> Any:
        """The first value of the first row."""
        return self.rows(sql, values)[0][0]

    def columns(self, sql: str, values: Mapping[str, Any] | None = None) -> tuple[list[str], list[tuple[Any, ...]]]:
        """The names of a statement's columns, and its rows."""
        found = self._base.execute(sql, dict(values) if values else None)
        return [column[0] for column in found.description or ()], found.fetchall()

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """For those who count by themselves."""
        return self._base

    def close(self) -> None:
        """Lets go of all tables, and of what was put into files."""
        self._base.close()
        if self._place is not None:
            shutil.rmtree(self._place, ignore_errors=True)


def database_of_folder(folder: RunFolder, *, apart: bool = False) -> Database:
    """The tables of a run's folder: ``requests`` and ``lines``.

    Arguments:
        apart: with an engine of their own, however small they are, so that its settings can be changed.

    Raises:
        RunFolderError: they can't be read.
    """
    import duckdb

    small = not apart and _bytes_of(folder) <= SMALL_BYTES
    database = Database(None if small else _place_in(folder.path))
    try:
        _read_requests(database, folder.source)
        _read_trace(database, folder)
    except BaseException as error:
        database.close()
        if isinstance(error, duckdb.Error):
            raise RunFolderError(f"{folder.path}: the requests can't be read: {in_a_line(error)}") from error
        raise
    return database


def _bytes_of(folder: RunFolder) -> int:
    """What's to be read; what's sealed counts as the lines that it was made of."""
    sealed = PACKED * folder.sealed.stat().st_size if folder.sealed.exists() else 0
    return folder.events.stat().st_size + sealed + sum(part.stat().st_size for part in folder.requests.glob("*.jsonl"))


def _place_in(folder: Path) -> Path:
    """A new folder for the tables: in the run's own, or where the system puts such things if that's only to be read."""
    try:
        return Path(tempfile.mkdtemp(prefix="tables-", dir=folder))
    except OSError:
        return Path(tempfile.mkdtemp(prefix="swarmtest-tables-"))


def _read_requests(database: Database, source: str | None) -> None:
    chosen = ", ".join(REQUEST_COLUMNS)
    if source is None:
        nothing = ", ".join(f"NULL::{kind} AS {name}" for name, kind in REQUEST_COLUMNS.items())
        database.run(f"CREATE TABLE requests AS SELECT 0::BIGINT AS n, {nothing} WHERE false")
    elif "read_parquet" in source:
        numbered = source.replace(".parquet')", ".parquet', file_row_number = true)", 1)
        columns = f"file_row_number AS n, {chosen}"
        how = "TABLE" if database.small else "VIEW"
        database.run(f"CREATE {how} requests AS SELECT {columns} FROM {numbered} WHERE id IS NOT NULL")
        database.run("SELECT n FROM requests LIMIT 1")
    else:
        database.run(f"CREATE TABLE request_lines AS SELECT {chosen} FROM {source} WHERE id IS NOT NULL")
        database.run(f"CREATE VIEW requests AS SELECT rowid AS n, {chosen} FROM request_lines")


def _read_trace(database: Database, folder: RunFolder) -> None:
    typed = dict.fromkeys((*LINE_COLUMNS, "duration_ms", "duration_s"), "VARCHAR") | {"t": "DOUBLE"}
    del typed["duration"]
    columns = ", ".join(f"{name}: '{kind}'" for name, kind in typed.items())
    path = str(folder.events).replace("'", "''")
    source = f"read_json('{path}', format = 'newline_delimited', ignore_errors = true, columns = {{{columns}}})"
    chosen = ", ".join(f"{read} AS {name}" for name, read in _FROM_TRACE.items())
    wanted = "kind IN ('record', 'proxied') AND t IS NOT NULL"
    if folder.events.stat().st_size == 0:
        source, wanted = f"(SELECT {', '.join(f'NULL::{kind} AS {name}' for name, kind in typed.items())})", "false"
    database.run(f"CREATE TABLE lines AS SELECT {chosen} FROM {source} WHERE {wanted}")


def database_of(events: Iterable[Event], requests: Sequence[Request]) -> Database:
    """The same tables of events and requests that are in memory already; the events are sound."""
    database = Database()
    counted = list(requests)
    _fill(database, "requests", REQUEST_COLUMNS, counted, f"unnest(range({len(counted)})) AS n")
    lines = [_line(event) for event in events if event.kind in ("record", "proxied")]
    _fill(database, "lines", LINE_COLUMNS, lines)
    return database


def _line(event: Event) -> dict[str, Any]:
    """A row of ``lines``, without the columns that the event hasn't got."""
    data = event.data
    milliseconds, stored, sha256 = data.get("duration_ms"), data.get("stored"), data.get("sha256")
    seconds = data.get("duration_s") or 0.0
    return {
        **{name: value for name, value in data.items() if name in LINE_COLUMNS},
        "t": event.t,
        "kind": event.kind,
        "container": data.get("container") or "",
        "duration": float(milliseconds) / 1000 if milliseconds is not None else float(seconds),
        "stored": stored if isinstance(stored, int) else None,
        "sha256": sha256.lower() if isinstance(sha256, str) else None,
    }


def _fill(database: Database, table: str, columns: Mapping[str, str], rows: Sequence[object], first: str = "") -> None:
    """Makes a table of rows by way of JSON, which is the quickest way into DuckDB that needs no other library.

    Arguments:
        first: what's the first column, in order of the rows; without it there's none but theirs.
    """
    shape = msgspec.json.encode([dict(columns)]).decode()
    chosen = ", ".join([*(["n"] if first else []), *(f"one.{name}" for name in columns)])
    unfolded = ", ".join([*([first] if first else []), f"unnest(from_json($rows::JSON, '{shape}')) AS one"])
    database.run(
        f"CREATE TABLE {table} AS SELECT {chosen} FROM (SELECT {unfolded})",
        {"rows": msgspec.json.encode(rows).decode()},
    )
