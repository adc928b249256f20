from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from swarmtest.cli.query import query
from swarmtest.errors import RunFolderError, UsageError
from tests.judge.builder import Rollout
from tests.judge.test_judge import folder_of

SQL = "SELECT kind, loss, count(*) AS n FROM accounted GROUP BY ALL ORDER BY kind"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(folder_of(Rollout(update=False).at(10.0, 4.0), tmp_path_factory.mktemp("runs") / "run"))


def printed(*arguments: str) -> str:
    result = CliRunner().invoke(query, arguments, standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    return result.output


def test_an_answer_is_a_table_for_a_person(run: str) -> None:
    lines = printed(run, SQL).splitlines()
    assert lines[0].split() == ["kind", "loss", "n"]
    assert lines[1].split() == ["long", "ok", "72"]


def test_a_wide_answer_stays_a_line_each_row_in_a_pipe(run: str) -> None:
    lines = printed(run, "SELECT * FROM requests LIMIT 2").splitlines()
    assert len(lines) == 3
    assert lines[0].split()[:3] == ["n", "id", "kind"]


def test_a_wide_answer_is_a_line_each_value_in_a_terminal(run: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", "80")
    lines = printed(run, "SELECT * FROM requests LIMIT 2").splitlines()
    assert [line.strip() for line in lines if line.startswith("row")] == ["row 1", "row 2"]
    assert lines[1].split() == ["n", "0"]


def test_an_answer_is_csv_with_names(run: str) -> None:
    assert printed(run, SQL, "--csv").splitlines()[:2] == ["kind,loss,n", "long,ok,72"]


def test_an_answer_is_an_object_a_row_as_json(run: str) -> None:
    assert json.loads(printed(run, SQL, "--json").splitlines()[0]) == {"kind": "long", "loss": "ok", "n": 72}


def test_what_json_has_no_word_for_is_null_and_a_name_that_is_there_twice_gets_a_number(run: str) -> None:
    sql = "SELECT 1 AS a, 2 AS a, 'inf'::DOUBLE AS b, ['nan'::DOUBLE, 1] AS c"
    assert json.loads(printed(run, sql, "--json"), parse_constant=pytest.fail) == {
        "a": 1, "a_2": 2, "b": None, "c": [None, 1.0],
    }  # fmt: skip


def test_a_table_without_end_is_cut_and_says_so(run: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("swarmtest.cli.query.MOST_ROWS", 3)
    sql = "SELECT n FROM requests"
    lines = printed(run, sql).splitlines()
    rows = len(printed(run, sql, "--csv").splitlines()) - 1
    assert [line.strip() for line in lines] == [
        "n",
        "0",
        "1",
        "2",
        f"swarmtest: {rows - 3} rows more; --csv or --json has all of them",
    ]


def test_both_at_once_are_refused(run: str) -> None:
    with pytest.raises(UsageError, match="give one of them"):
        printed(run, SQL, "--json", "--csv")


def test_a_folder_that_is_no_run_s_is_said(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="not a run's folder"):
        printed(str(tmp_path), SQL)
