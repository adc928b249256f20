"""A run's folder, also one whose run was killed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from swarmtest.errors import RunFolderError
from swarmtest.store import REQUEST_COLUMNS, RunFolder, new_run_folder, open_run_folder


def request(identity: str, sent: float, **more: Any) -> dict[str, Any]:
    return dict.fromkeys(REQUEST_COLUMNS) | {"id": identity, "sent": sent, "reused": False, "attempt": 1} | more


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return new_run_folder(tmp_path / "runs", "rolling", "api", "abc123", 1_795_990_500.0)


def write(folder: RunFolder, process: int, *rows: dict[str, Any], torn: str = "") -> None:
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder.requests / f"requests-{process}.jsonl").write_text(lines + torn)


def test_a_new_folder_is_named_by_its_moment_and_scenario(folder: RunFolder) -> None:
    assert folder.path.name == "20261129T221500Z-rolling-api-abc123"
    assert folder.requests.is_dir()


def test_a_name_of_a_stack_never_leaves_the_folder(tmp_path: Path) -> None:
    made = new_run_folder(tmp_path, "rolling", "../../etc/pass wd", "t", 0.0)
    assert made.path.parent == tmp_path


def test_a_folder_that_cannot_be_made_says_where_else_to_go(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(RunFolderError, match="--out"):
            new_run_folder(out, "rolling", "api", "t", 0.0)


def test_a_plan_is_read_as_it_was_written(folder: RunFolder) -> None:
    folder.write_plan({"version": 1, "url": "http://ü"})
    folder.write_plan({"version": 1, "url": "http://ä"})
    assert folder.read_plan() == {"version": 1, "url": "http://ä"}
    assert open_run_folder(folder.path) == folder
    assert [path.name for path in folder.path.iterdir() if path.name.endswith(".part")] == []


@pytest.mark.parametrize("text", ["", "{", "[]", "5", '{"version": 2}', "{}", "\xff", "[" * 5000])
def test_a_folder_whose_plan_is_broken_is_refused(folder: RunFolder, text: str) -> None:
    folder.plan.write_bytes(text.encode("latin-1"))
    with pytest.raises(RunFolderError, match=r"plan\.json"):
        open_run_folder(folder.path)


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="no such folder"):
        open_run_folder(tmp_path / "nowhere")
    with pytest.raises(RunFolderError, match="not a run's folder"):
        open_run_folder(tmp_path)


def test_requests_are_the_same_before_and_after_sealing(folder: RunFolder) -> None:
    row = request("b", 2.0, status=200, first_byte=2.25, echoed=True, framing="length", target="127.0.0.1:80")
    write(folder, 1, row, request("c", 3.0))
    write(folder, 2, request("a", 1.0, error="ConnectionResetError: ünï"))
    before = folder.read_requests()
    assert [item["id"] for item in before] == ["a", "b", "c"]
    assert before[1] == row
    assert folder.seal() == 3
    assert folder.read_requests() == before
    assert not folder.requests.exists()


def test_a_line_that_a_kill_cut_short_is_left_out(folder: RunFolder) -> None:
    write(folder, 1, request("a", 1.0), torn=json.dumps(request("b", 2.0))[:30])
    assert [item["id"] for item in folder.read_requests()] == ["a"]
    assert folder.seal() == 1


@pytest.mark.parametrize("name", ["it's", "br[1]", "st*r", "q?m", "back\\slash", "sp ace", "ünï"])
def test_any_path_will_do(tmp_path: Path, name: str) -> None:
    made = new_run_folder(tmp_path / name, "rolling", "api", "t", 0.0)
    write(made, 1, request("a", 1.0))
    assert made.seal() == 1
    assert [item["id"] for item in made.read_requests()] == ["a"]


def test_a_run_without_a_request_has_none(folder: RunFolder) -> None:
    assert folder.read_requests() == []
    assert folder.seal() == 0
    write(folder, 1)
    assert folder.read_requests() == []
    assert folder.seal() == 0
    assert folder.read_requests() == []


def test_lines_stay_where_they_are_when_they_cannot_be_sealed(folder: RunFolder) -> None:
    write(folder, 1, request("a", 1.0))
    folder.sealed.with_suffix(".part").mkdir()
    with pytest.raises(RunFolderError, match="can't be sealed"):
        folder.seal()
    assert [item["id"] for item in folder.read_requests()] == ["a"]


def test_broken_requests_are_said(folder: RunFolder) -> None:
    folder.sealed.write_bytes(b"no parquet")
    with pytest.raises(RunFolderError, match="can't be read"):
        folder.read_requests()


def test_a_sealed_file_of_before_a_column_was_added_has_null_there(folder: RunFolder) -> None:
    write(folder, 1, {"id": "a", "sent": 1.0, "status": 200})
    folder.seal()
    kept = folder.path / "kept.parquet"
    with duckdb.connect() as base:
        base.execute(
            f"COPY (SELECT * EXCLUDE (protocol) FROM read_parquet('{folder.sealed}')) TO '{kept}' (FORMAT parquet)"
        )
    kept.replace(folder.sealed)
    row = folder.read_requests()[0]
    assert (row["id"], row["status"], row["protocol"]) == ("a", 200, None)
