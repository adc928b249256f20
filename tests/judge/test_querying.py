from __future__ import annotations

from pathlib import Path

import pytest

from swarmtest.errors import UsageError
from swarmtest.judge.querying import QUERY_TABLES, ask
from tests.judge.builder import Rollout
from tests.judge.test_judge import folder_of


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rollout = Rollout()
    rollout.bad_gateway("lost", 3.1, 3.2, rollout.old[0])
    return folder_of(rollout, tmp_path_factory.mktemp("runs") / "run")


def test_every_request_is_there_with_what_became_of_it(run: Path) -> None:
    rows = ask(run, "SELECT loss, charge, count(*) FROM accounted GROUP BY ALL ORDER BY 3").rows
    assert rows[0][:3] == ("gateway", "shutdown", 1)
    assert rows[1][0] == "ok"


def test_tables_are_joined_by_number_task_and_id(run: Path) -> None:
    answer = ask(
        run,
        "SELECT i.name, count(DISTINCT r.id) AS requests, count(DISTINCT l.request_id) AS recorded FROM accounted a"
        " JOIN requests r USING (n) JOIN instances i USING (task) JOIN lines l ON l.request_id = r.id GROUP BY i.name",
    )
    assert list(answer.columns) == ["name", "requests", "recorded"]
    assert {name for name, _, _ in answer.rows} == {"api.1", "api.2", "api.3"}
    assert all(requests == recorded > 0 for _, requests, recorded in answer.rows)


def test_the_trace_s_fields_are_json(run: Path) -> None:
    assert ask(run, "SELECT data->>'outcome' FROM events WHERE kind = 'ended'").rows == [("finished",)]


@pytest.mark.parametrize("table", sorted(QUERY_TABLES))
def test_every_table_that_is_named_is_there(run: Path, table: str) -> None:
    assert ask(run, f"SELECT count(*) FROM {table}").rows[0][0] >= 0


def test_a_statement_that_is_not_understood_is_told_the_tables_and_columns(run: Path) -> None:
    with pytest.raises(UsageError, match=r"nothing(?s:.*)accounted: n, kind(?s:.*)requests: n, id"):
        ask(run, "SELECT nothing FROM accounted")


@pytest.mark.parametrize(
    "sql",
    [
        "DROP TABLE requests",
        "COPY requests TO 'out.csv'",
        "SELECT 1; DROP TABLE requests",
        "",
        "SET memory_limit = '1MB'",
        "ATTACH 'other.duckdb'",
        "selec",
    ],
)
def test_whatever_is_not_one_statement_that_reads_is_refused(run: Path, sql: str) -> None:
    with pytest.raises(UsageError, match="expected one"):
        ask(run, sql)


@pytest.mark.parametrize("source", ["'{}'", "read_text('{}')", "read_csv('{}')", "glob('{}')"])
def test_no_file_can_be_opened(run: Path, source: str) -> None:
    with pytest.raises(UsageError):
        ask(run, f"SELECT * FROM {source.format(run / 'plan.json')}")
    with pytest.raises(UsageError):
        ask(run, f"SELECT * FROM {source.format('/etc/passwd')}")
