from __future__ import annotations

import gc
from pathlib import Path

import duckdb
import pytest

from swarmtest.evidence.opening import in_a_file, in_memory


def databases(base: duckdb.DuckDBPyConnection) -> set[str]:
    return {name for (name,) in base.execute("SELECT database_name FROM duckdb_databases()").fetchall()}


def test_each_database_in_memory_has_its_own_tables() -> None:
    one, other = in_memory(), in_memory()
    one.execute("CREATE TABLE requests AS SELECT 1 AS n")
    with pytest.raises(duckdb.CatalogException):
        other.execute("SELECT n FROM requests")


def test_a_database_in_memory_goes_when_it_is_forgotten() -> None:
    one, other = in_memory(), in_memory()
    names = {name for base in (one, other) for (name,) in base.execute("SELECT current_database()").fetchall()}
    assert len(names & databases(other)) == 2
    del one
    gc.collect()
    assert len(names & databases(other)) == 1


def test_what_is_in_a_file_is_there_when_it_is_opened_again(tmp_path: Path) -> None:
    with in_a_file(tmp_path) as base:
        base.execute("CREATE TABLE requests AS SELECT 1 AS n")
    with in_a_file(tmp_path) as base:
        assert base.execute("SELECT n FROM requests").fetchall() == [(1,)]
