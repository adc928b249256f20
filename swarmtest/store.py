"""A run's folder: what's written when, and how it's read again.

Requests are JSON lines while a run goes on and are sealed into one Parquet file at the end; a folder
whose run was killed before that still has the lines, and is read all the same.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from swarmtest.errors import RunFolderError

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
}


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
        part.write_text(json.dumps(plan, indent=1) + "\n")
        os.replace(part, self.plan)

    def read_plan(self) -> dict[str, Any]:
        """Reads the plan.

        Raises:
            RunFolderError: the folder isn't a run's.
        """
        try:
            plan = json.loads(self.plan.read_text())
        except OSError as error:
            raise RunFolderError(f"{self.path}: not a run's folder, plan.json can't be read") from error
        except ValueError as error:
            raise RunFolderError(f"{self.plan}: broken ({error}); was it edited?") from error
        if not isinstance(plan, dict) or plan.get("version") != 1:
            raise RunFolderError(f"{self.plan}: expected version 1; judge it with the swarmtest that made it")
        return plan

    def seal(self) -> int:
        """Puts the request lines into one Parquet file and removes them; gives the number of requests.

        A line that was cut short by a kill is left out.
        """
        import duckdb

        parts = sorted(self.requests.glob("requests-*.jsonl")) if self.requests.is_dir() else []
        if not parts:
            return 0
        part = self.sealed.with_suffix(".part")
        with duckdb.connect() as base:
            base.execute("SET threads = 2")
            source = _lines_source(parts)
            base.execute(
                f"COPY (SELECT * FROM {source} WHERE id IS NOT NULL ORDER BY sent, id) TO '{_quoted(part)}' (FORMAT parquet, COMPRESSION zstd)"
            )
            row = base.execute(f"SELECT count(*) FROM read_parquet('{_quoted(part)}')").fetchone()
        os.replace(part, self.sealed)
        for lines in parts:
            lines.unlink()
        self.requests.rmdir() if not any(self.requests.iterdir()) else None
        return int(row[0]) if row else 0

    def read_requests(self) -> list[dict[str, Any]]:
        """All requests in the order they were sent, from the sealed file or from the lines.

        Raises:
            RunFolderError: neither can be read.
        """
        import duckdb

        parts = sorted(self.requests.glob("requests-*.jsonl")) if self.requests.is_dir() else []
        if self.sealed.exists():
            source = f"read_parquet('{_quoted(self.sealed)}')"
        elif parts:
            source = _lines_source(parts)
        else:
            return []
        names = list(REQUEST_COLUMNS)
        try:
            with duckdb.connect() as base:
                rows = base.execute(
                    f"SELECT {', '.join(names)} FROM {source} WHERE id IS NOT NULL ORDER BY sent, id"
                ).fetchall()
        except duckdb.Error as error:
            raise RunFolderError(f"{self.path}: the requests can't be read: {error}") from error
        return [dict(zip(names, row, strict=True)) for row in rows]


def _lines_source(parts: list[Path]) -> str:
    columns = ", ".join(f"{name}: '{kind}'" for name, kind in REQUEST_COLUMNS.items())
    files = ", ".join(f"'{_quoted(part)}'" for part in parts)
    return f"read_json([{files}], format = 'newline_delimited', ignore_errors = true, columns = {{{columns}}})"


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")


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
    if not path.is_dir():
        raise RunFolderError(
            f"{path}: no such folder; give the folder of a run, such as runs/20261129T221500Z-rolling-…"
        )
    folder = RunFolder(path)
    folder.read_plan()
    return folder
