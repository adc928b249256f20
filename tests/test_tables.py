"""The tables beside the requests, also those of a run that was killed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from swarmtest.errors import RunFolderError
from swarmtest.store import RunFolder, new_run_folder
from swarmtest.tables import STREAMS
from swarmtest.traffic.streams import StreamRecord


def stream(identity: str, session: str, attempt: int, **more: Any) -> dict[str, Any]:
    return {
        "id": identity,
        "kind": "chat",
        "protocol": "websocket",
        "session": session,
        "attempt": attempt,
        "client_outcome": "cut",
    } | more


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return new_run_folder(tmp_path / "runs", "rolling", "api", "abc123", 1_795_990_500.0)


def write(folder: RunFolder, process: int, *rows: dict[str, Any], torn: str = "") -> None:
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder.requests / f"streams-{process}.jsonl").write_text(lines + torn)


def test_streams_are_sealed_together_with_the_requests_and_read_alike(folder: RunFolder) -> None:
    write(folder, 1, stream("b", "s2", 1, code=1012), stream("c", "s1", 2))
    write(folder, 2, stream("a", "s1", 1))
    before = folder.read_table(STREAMS)
    folder.seal()
    assert [row["id"] for row in before] == ["a", "c", "b"]
    assert folder.read_table(STREAMS) == before
    assert (folder.path / "streams.parquet").exists()
    assert not list(folder.path.glob("**/streams-*.jsonl"))


def test_a_line_that_a_kill_cut_short_is_left_out(folder: RunFolder) -> None:
    write(folder, 1, stream("a", "s1", 1), torn='{"id":"b","kind":"ch')
    assert [row["id"] for row in folder.read_table(STREAMS)] == ["a"]


def test_a_run_without_streams_has_no_file_of_them(folder: RunFolder) -> None:
    folder.seal()
    assert folder.read_table(STREAMS) == []
    assert not (folder.path / "streams.parquet").exists()


ALL = ", ".join(f"NULL::{kind} AS {name}" for name, kind in STREAMS.columns.items())


def seal(folder: RunFolder, chosen: str) -> None:
    with duckdb.connect() as base:
        base.execute(f"COPY (SELECT {chosen}) TO '{folder.path / 'streams.parquet'}' (FORMAT parquet)")


def test_a_file_of_before_a_column_was_added_has_null_there(folder: RunFolder) -> None:
    seal(folder, f"* EXCLUDE (unnumbered) REPLACE ('a' AS id) FROM (SELECT {ALL})")
    table = replace(STREAMS, later=frozenset({"unnumbered"}))
    assert folder.read_table(table)[0] | {"id": "a", "unnumbered": None} == folder.read_table(table)[0]


def test_a_file_that_lacks_what_every_version_wrote_is_refused(folder: RunFolder) -> None:
    """Taken for null, a column of lost messages would say that none was."""
    seal(folder, f"* EXCLUDE (lost) FROM (SELECT {ALL})")
    with pytest.raises(RunFolderError, match=r"streams\.parquet: the column lost is missing"):
        folder.read_table(STREAMS)


def test_a_column_of_another_type_is_refused(folder: RunFolder) -> None:
    seal(folder, f"* REPLACE ('many' AS lost) FROM (SELECT {ALL})")
    with pytest.raises(RunFolderError, match="the column lost is VARCHAR, expected BIGINT"):
        folder.read_table(STREAMS)


def test_a_broken_file_is_said(folder: RunFolder) -> None:
    (folder.path / "streams.parquet").write_text("no parquet")
    with pytest.raises(RunFolderError, match=r"streams\.parquet: can't be read"):
        folder.read_table(STREAMS)


def test_the_columns_are_those_that_the_client_writes() -> None:
    assert set(STREAMS.columns) == set(StreamRecord.__struct_fields__)
