"""The tables of a run's folder beside its requests: JSON lines while it runs, one Parquet file when it has ended.

A run that has none of a kind has no file of it. These tables are small, one line a stream; what's large
is the requests (``store``).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swarmtest.errors import RunFolderError, in_a_line


def needs(sealed: Path, columns: Mapping[str, str], later: Collection[str]) -> None:
    """Holds a sealed file to its columns: what's missing, or is of another type, would be taken for nothing seen.

    Arguments:
        later: columns that files of earlier versions haven't got, which are null there.

    Raises:
        RunFolderError: it isn't what a version of swarmtest wrote, or can't be read.
    """
    import duckdb

    try:
        with duckdb.connect() as base:
            rows = base.execute(f"DESCRIBE SELECT * FROM read_parquet({_quoted(sealed)})").fetchall()
    except duckdb.Error as error:
        raise RunFolderError(f"{sealed}: can't be read: {in_a_line(error)}") from error
    found = {str(name): str(kind) for name, kind, *_ in rows}
    for name, kind in columns.items():
        if name not in found and name not in later:
            raise RunFolderError(f"{sealed}: the column {name} is missing; was the folder edited?")
        if found.get(name, kind) != kind:
            told = f"the column {name} is {found[name]}, expected {kind}"
            raise RunFolderError(f"{sealed}: {told}; was the folder edited?")


@dataclass(frozen=True, slots=True)
class Table:
    """One table of a run's folder.

    Attributes:
        stem: of its files: ``requests/STEM-<pid>.jsonl`` while the run goes on, ``STEM.parquet`` afterwards.
        columns: name to type, as DuckDB calls it; the first one is never null.
        order: columns to sort by.
        later: columns that files of earlier versions haven't got.
    """

    stem: str
    columns: Mapping[str, str]
    order: tuple[str, ...]
    later: frozenset[str] = frozenset()

    def seal(self, folder: Path, lines: Path) -> int:
        """Puts the lines into one file and removes them; gives the number of rows.

        Arguments:
            folder: the run's.
            lines: where the lines are.

        Raises:
            RunFolderError: it can't be written; the lines are still there.
        """
        import duckdb

        parts = self._parts(lines)
        if not parts:
            return 0
        sealed = self._sealed(folder)
        part = sealed.with_suffix(".part")
        try:
            with duckdb.connect() as base:
                chosen = self._select(self._lines_source(parts))
                base.execute(f"COPY ({chosen}) TO {_quoted(part)} (FORMAT parquet, COMPRESSION zstd)")
                row = base.execute(f"SELECT count(*) FROM read_parquet({_quoted(part)})").fetchone()
            part.replace(sealed)
        except (duckdb.Error, OSError) as error:
            raise RunFolderError(
                f"{folder}: the {self.stem} can't be sealed, and stay as they are: {in_a_line(error)}"
            ) from error
        for path in parts:
            path.unlink()
        return int(row[0]) if row else 0

    def read(self, folder: Path, lines: Path) -> list[dict[str, Any]]:
        """All rows, from the sealed file or from the lines.

        Raises:
            RunFolderError: neither can be read.
        """
        import duckdb

        sealed, parts = self._sealed(folder), self._parts(lines)
        if not sealed.exists() and not parts:
            return []
        if sealed.exists():
            needs(sealed, self.columns, self.later)
        source = self._sealed_source(sealed) if sealed.exists() else self._lines_source(parts)
        try:
            with duckdb.connect() as base:
                rows = base.execute(self._select(source)).fetchall()
        except duckdb.Error as error:
            raise RunFolderError(f"{folder}: the {self.stem} can't be read: {in_a_line(error)}") from error
        return [dict(zip(self.columns, row, strict=True)) for row in rows]

    def _sealed(self, folder: Path) -> Path:
        return folder / f"{self.stem}.parquet"

    def _parts(self, lines: Path) -> list[Path]:
        return sorted(lines.glob(f"{self.stem}-*.jsonl")) if lines.is_dir() else []

    def _lines_source(self, parts: list[Path]) -> str:
        columns = ", ".join(f"{name}: '{kind}'" for name, kind in self.columns.items())
        files = ", ".join(map(_quoted, parts))
        return f"read_json([{files}], format = 'newline_delimited', ignore_errors = true, columns = {{{columns}}})"

    def _sealed_source(self, sealed: Path) -> str:
        # By name, so that a column of a later version is null in a file of an earlier one.
        nothing = ", ".join(f"NULL::{kind} AS {name}" for name, kind in self.columns.items())
        return f"(SELECT {nothing} WHERE false UNION ALL BY NAME SELECT * FROM read_parquet({_quoted(sealed)}))"

    def _select(self, source: str) -> str:
        """All rows of a source; the names are ours, and the source is a path of ours."""
        first = next(iter(self.columns))
        order = ", ".join(self.order)
        return f"SELECT {', '.join(self.columns)} FROM {source} WHERE {first} IS NOT NULL ORDER BY {order}"


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


STREAMS = Table(
    "streams",
    {
        "id": "VARCHAR",
        "kind": "VARCHAR",
        "protocol": "VARCHAR",
        "session": "VARCHAR",
        "attempt": "INTEGER",
        "connection": "VARCHAR",
        "target": "VARCHAR",
        "instance": "VARCHAR",
        "began": "DOUBLE",
        "opened": "DOUBLE",
        "closed": "DOUBLE",
        "status": "INTEGER",
        "code": "INTEGER",
        "reason": "VARCHAR",
        "framing": "VARCHAR",
        "client_outcome": "VARCHAR",
        "sent": "BIGINT",
        "answered": "BIGINT",
        "received": "BIGINT",
        "lost": "BIGINT",
        "repeated": "BIGINT",
        "resent": "BIGINT",
        "unnumbered": "BIGINT",
        "reconnect_seconds": "DOUBLE",
        "error": "VARCHAR",
    },
    ("session", "attempt"),
)
"""Every stream of every session: WebSockets and server-sent events."""

CONNECTIONS = Table(
    "connections",
    {
        "connection": "VARCHAR",
        "kind": "VARCHAR",
        "target": "VARCHAR",
        "opened": "DOUBLE",
        "ended": "DOUBLE",
        "streams": "BIGINT",
        "open": "BIGINT",
        "instance": "VARCHAR",
        "goaway": "BIGINT",
        "goaway_at": "DOUBLE",
        "goaways": "BIGINT",
        "code": "VARCHAR",
        "ended_by": "VARCHAR",
        "error": "VARCHAR",
    },
    ("opened", "connection"),
)
"""Every HTTP/2 connection that has ended."""

TABLES = (STREAMS, CONNECTIONS)
"""All tables there are, which are sealed together with the requests."""
