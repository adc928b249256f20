"""A run's folder: what's written when, and how it's read again.

Requests are JSON lines while a run goes on and are sealed into one Parquet file at the end; a folder
whose run was killed before that still has the lines, and is read all the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from swarmtest.errors import RunFolderError, in_a_line
from swarmtest.tables import TABLES, Table, needs

REQUEST_COLUMNS = {
    "id": "VARCHAR",
    "kind": "VARCHAR",
    "method": "VARCHAR",
    "path": "VARCHAR",
    "connection": "VARCHAR",
    "reused": "BOOLEAN",
    "target": "VARCHAR",
    "planned": "DOUBLE",
    "sent": "DOUBLE",
    "first_byte": "DOUBLE",
    "done": "DOUBLE",
    "status": "INTEGER",
    "bytes_sent": "BIGINT",
    "bytes_received": "BIGINT",
    "instance": "VARCHAR",
    "echoed": "BOOLEAN",
    "framing": "VARCHAR",
    "retry_after": "BOOLEAN",
    "client_outcome": "VARCHAR",
    "error": "VARCHAR",
    "attempt": "INTEGER",
    "again": "VARCHAR",
    "protocol": "VARCHAR",
    "stream": "BIGINT",
    "goaway": "BIGINT",
    "stored": "BIGINT",
    "matched": "BOOLEAN",
    "connected": "DOUBLE",
    "body_bytes": "BIGINT",
    "acknowledged": "BIGINT",
    "sha256": "VARCHAR",
}


LATER_COLUMNS = frozenset(list(REQUEST_COLUMNS)[list(REQUEST_COLUMNS).index("again") :])
"""Those that files of earlier versions haven't got."""


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The places in a run's folder."""

    path: Path

    @property
    def plan(self) -> Path:
        """What was meant to happen, written before anything did."""
        return self.path / "plan.json"

    @property
    def events(self) -> Path:
        """The trace."""
        return self.path / "events.jsonl"

    @property
    def requests(self) -> Path:
        """The folder of the request lines while a run goes on."""
        return self.path / "requests"

    @property
    def sealed(self) -> Path:
        """The requests of a run that has ended."""
        return self.path / "requests.parquet"

    @property
    def verdicts(self) -> Path:
        """The public verdict document."""
        return self.path / "verdicts.json"

    def write_plan(self, plan: Mapping[str, Any]) -> None:
        """Writes the plan, whole or not at all."""
        part = self.plan.with_suffix(".part")
        part.write_text(json.dumps(plan, indent=1) + "\n", encoding="utf-8")
        part.replace(self.plan)

    def read_plan(self) -> dict[str, Any]:
        """Reads the plan.

        Raises:
            RunFolderError: the folder isn't a run's.
        """
        try:
            plan = json.loads(self.plan.read_text(encoding="utf-8"))
        except OSError as error:
            hint = "give the folder of a run, such as runs/20261129T221500Z-rolling-…"
            raise RunFolderError(f"{self.path}: not a run's folder, plan.json can't be read; {hint}") from error
        except (ValueError, RecursionError) as error:
            raise RunFolderError(f"{self.plan}: broken ({error}); was it edited?") from error
        if not isinstance(plan, dict) or plan.get("version") != 1:
            raise RunFolderError(f"{self.plan}: expected version 1; judge it with the swarmtest that made it")
        return plan

    def seal(self) -> int:
        """Puts the request lines into one Parquet file and removes them; gives the number of requests.

        A line that was cut short by a kill is left out. The lines go only once the file is whole.

        Raises:
            RunFolderError: it can't be written; the lines are still there.
        """
        import duckdb

        for table in TABLES:
            table.seal(self.path, self.requests)
        parts = self._parts()
        if not parts:
            return 0
        part = self.sealed.with_suffix(".part")
        try:
            with duckdb.connect(config=_within_limits(self.path)) as base:
                base.execute("SET enable_progress_bar = false")
                chosen = _chosen(_lines_source(parts))
                base.execute(f"COPY ({chosen}) TO {_quoted(part)} (FORMAT parquet, COMPRESSION zstd)")
                row = base.execute(f"SELECT count(*) FROM read_parquet({_quoted(part)})").fetchone()
            part.replace(self.sealed)
        except (duckdb.Error, OSError) as error:
            raise RunFolderError(
                f"{self.path}: the requests can't be sealed, and stay as they are: {in_a_line(error)}"
            ) from error
        for lines in parts:
            lines.unlink()
        if not any(self.requests.iterdir()):
            self.requests.rmdir()
        return int(row[0]) if row else 0

    def _parts(self) -> list[Path]:
        return sorted(self.requests.glob("requests-*.jsonl")) if self.requests.is_dir() else []

    @property
    def source(self) -> str | None:
        """All requests as DuckDB reads them, from the sealed file or from the lines; None where there are none.

        Columns that the run's version didn't know yet are null.

        Raises:
            RunFolderError: the sealed file isn't one that a version of swarmtest wrote.
        """
        if self.sealed.exists():
            needs(self.sealed, REQUEST_COLUMNS, LATER_COLUMNS)
            return _sealed_source(self.sealed)
        parts = self._parts()
        return _lines_source(parts) if parts else None

    def read_table(self, table: Table) -> list[dict[str, Any]]:
        """All rows of a table beside the requests.

        Raises:
            RunFolderError: it can't be read.
        """
        return table.read(self.path, self.requests)

    def read_requests(self) -> list[dict[str, Any]]:
        """All requests in the order they were sent, from the sealed file or from the lines.

        Raises:
            RunFolderError: neither can be read.
        """
        import duckdb

        source = self.source
        if source is None:
            return []
        names = list(REQUEST_COLUMNS)
        try:
            with duckdb.connect() as base:
                rows = base.execute(_select(source)).fetchall()
        except duckdb.Error as error:
            raise RunFolderError(f"{self.path}: the requests can't be read: {in_a_line(error)}") from error
        return [dict(zip(names, row, strict=True)) for row in rows]


def _sealed_source(sealed: Path) -> str:
    import duckdb

    source = f"read_parquet({_quoted(sealed)})"
    try:
        with duckdb.connect() as base:
            found = base.execute(f"SELECT name FROM parquet_schema({_quoted(sealed)})").fetchall()
    except duckdb.Error:
        return source  # whoever reads it says what's wrong with it
    missing = [f"NULL::{kind} AS {name}" for name, kind in REQUEST_COLUMNS.items() if (name,) not in found]
    return f"(SELECT *, {', '.join(missing)} FROM {source})" if missing else source


def _lines_source(parts: list[Path]) -> str:
    columns = ", ".join(f"{name}: '{kind}'" for name, kind in REQUEST_COLUMNS.items())
    files = ", ".join(map(_quoted, parts))
    return f"read_json([{files}], format = 'newline_delimited', ignore_errors = true, columns = {{{columns}}})"


SEALING_MEMORY = "600MB"
"""What sealing may hold in memory, however many requests there are."""


def _within_limits(folder: Path) -> dict[str, str | bool | int | float | list[str]]:
    return {
        "threads": 2,
        "memory_limit": SEALING_MEMORY,
        "temp_directory": str(folder / "spill"),
    }


def _chosen(source: str) -> str:
    """All requests of a source; the names are those above, and the source is a path of ours."""
    return f"SELECT {', '.join(REQUEST_COLUMNS)} FROM {source} WHERE id IS NOT NULL"


def _select(source: str) -> str:
    """The same in the order they were sent, which takes memory; the sealed file has them as they ended."""
    return f"{_chosen(source)} ORDER BY sent, id"


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


def new_run_folder(out: Path, scenario: str, stack: str, token: str, now: float) -> RunFolder:
    """Makes the folder of a new run under ``out``.

    Raises:
        RunFolderError: it can't be made.
    """
    moment = datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%SZ")
    path = out / f"{moment}-{scenario}-{re.sub(r'[^A-Za-z0-9_.-]', '-', stack)}-{token}"
    try:
        path.mkdir(parents=True)
        (path / "requests").mkdir()
    except OSError as error:
        raise RunFolderError(f"{path}: can't be made ({error.strerror}); choose another place with --out") from error
    return RunFolder(path)


def open_run_folder(path: Path) -> RunFolder:
    """An old run's folder.

    Raises:
        RunFolderError: no such folder, or not a run's.
    """
    if path.is_file():
        raise RunFolderError(f"{path}: is a file; give the run's folder, here {path.parent}")
    if not path.is_dir():
        raise RunFolderError(
            f"{path}: no such folder; give the folder of a run, such as runs/20261129T221500Z-rolling-…"
        )
    folder = RunFolder(path)
    folder.read_plan()
    return folder
