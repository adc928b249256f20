"""Opens DuckDB for the tables of a run: all that are in memory share one engine, large ones have one of their own."""

from __future__ import annotations

import os
import tempfile
import weakref
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

if TYPE_CHECKING:
    import duckdb

MEMORY_LIMIT = "600MB"
"""What DuckDB may hold in memory; the rest goes to files until the judging is over."""


def in_a_file(place: Path) -> duckdb.DuckDBPyConnection:
    """An engine with its tables in a folder, which is the caller's to remove."""
    return _opened(str(place / "tables.duckdb"), place, threads=2)


def in_memory() -> duckdb.DuckDBPyConnection:
    """A database of its own in memory, which goes with the connection to it."""
    base, name = _memory().cursor(), f"run_{uuid4().hex}"
    base.execute(f"ATTACH ':memory:' AS {name}; USE {name}; PRAGMA disable_optimizer")
    weakref.finalize(base, _detach, name).atexit = False
    return base


@lru_cache(maxsize=256)
def parsed(sql: str) -> duckdb.Statement:
    """A statement that's read once, however many runs are judged: that's a sixth of what judging a short one takes.

    Raises:
        duckdb.Error: it's no statement of SQL.
        ValueError: it's several.
    """
    (statement,) = _memory().cursor().extract_statements(sql)
    return statement


def _opened(tables: str, place: Path, threads: int) -> duckdb.DuckDBPyConnection:
    import duckdb

    config: dict[str, str | bool | int | float | list[str]] = {"memory_limit": MEMORY_LIMIT, "threads": threads}
    return duckdb.connect(tables, config=config | {"temp_directory": str(place / "spill")})


@cache
def _memory() -> duckdb.DuckDBPyConnection:
    """The one engine for all tables in memory: it takes 10 ms to begin, and one more database in it a tenth of one."""
    place = Path(tempfile.gettempdir(), f"swarmtest-{os.getpid()}")
    return _opened(":memory:", place, threads=1)  # what fits into memory is done before a second one has begun


def _detach(name: str) -> None:
    _memory().cursor().execute(f"DETACH {name}")
