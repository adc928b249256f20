"""What's beside the requests is read from the lines of a run that goes on, and from the files of one that has ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from swarmtest.errors import RunFolderError
from swarmtest.judge.beside import NOTHING, read_beside, read_connections
from swarmtest.store import RunFolder
from swarmtest.traffic.http2_connections import ConnectionFile, ConnectionRecord


def written(folder: Path) -> RunFolder:
    """A folder with the lines of two connections, as the client writes them."""
    (folder / "requests").mkdir()
    file = ConnectionFile(folder / "requests")
    for name, at in (("h2", 2.0), ("h1", 1.0)):
        record = ConnectionRecord(connection=name, kind="k", target="10.0.0.1:80", opened=at)
        record.saw("a")
        record.go_away(2**31 - 1, "NO_ERROR")
        record.go_away(7, "NO_ERROR")
        record.end("peer", 3, "ConnectionResetError")
        file.write(record)
    return RunFolder(folder)


def test_lines_and_sealed_files_say_the_same(tmp_path: Path) -> None:
    folder = written(tmp_path)
    before = read_beside(folder)
    folder.seal()
    assert (tmp_path / "connections.parquet").exists()
    assert read_beside(folder) == before
    first, second = before.connections
    assert (first.connection, second.connection) == ("h1", "h2")
    assert (first.goaway, first.goaways, first.code, first.open, first.ended_by) == (7, 2, "NO_ERROR", 3, "peer")
    assert (first.instance, first.error) == ("a", "ConnectionResetError")


def test_a_run_without_any_has_none(tmp_path: Path) -> None:
    assert read_beside(RunFolder(tmp_path)) == NOTHING


def test_a_record_that_no_version_wrote_is_named() -> None:
    with pytest.raises(RunFolderError, match=r"connections: .* was the folder edited"):
        read_connections([{"connection": "h1", "goaways": "many"}])


def test_an_instance_is_named_only_where_it_is_the_only_one() -> None:
    record = ConnectionRecord(connection="h1", kind="k", target="t", opened=1.0)
    for name in ("a", None, "a"):
        record.saw(name)
    assert record.instance == "a"
    record.saw("b")
    record.saw("b")
    assert record.instance is None
