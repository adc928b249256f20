from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swarmtest.losses.seconds import COLUMNS, MOST_SECONDS, Seconds, second_by_second
from swarmtest.losses.table import Told

START = 1_000_000

Row = dict[str, Any]


@pytest.fixture(scope="module")
def base() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        yield connection


def row(name: str, sent: float | None, done: float | None, **changes: Any) -> Row:
    """One request in seconds from the start."""
    when = {"planned": sent, "sent": sent, "done": done, **changes}
    times = {key: START + value for key in ("planned", "sent", "done") if (value := when.get(key)) is not None}
    return {"id": name, "kind": changes.get("kind", "short"), "attempt": changes.get("attempt", 1), **times}


def counted(
    base: duckdb.DuckDBPyConnection,
    *rows: Row,
    lost: dict[str, str] | None = None,
    spans: list[tuple[float, float]] | None = None,
) -> Seconds:
    columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
    base.execute(f"CREATE OR REPLACE TABLE r ({columns})")
    known = [each | {"class": (lost or {}).get(each["id"])} for each in rows]
    if known:
        values = [[each.get(name) for name in COLUMNS] for each in known]
        base.executemany("INSERT INTO r VALUES (?, ?, ?, ?, ?, ?, ?)", values)
    ready = [(START + first, START + last) for first, last in spans or []]
    return second_by_second(Told(base, "r"), ready)


def test_a_request_counts_as_sent_where_it_began_and_as_ok_where_it_ended(base: duckdb.DuckDBPyConnection) -> None:
    seconds = counted(base, row("a", 0.9, 2.1), row("b", 1.0, 1.5))
    assert seconds.start == START
    assert seconds.all.sent == [1, 1, 0]
    assert seconds.all.ok == [0, 1, 1]
    assert seconds.all.in_flight == [1, 1, 0]


def test_what_was_lost_is_counted_by_class_and_not_as_ok(base: duckdb.DuckDBPyConnection) -> None:
    lost = {"b": "cut", "c": "refused"}
    seconds = counted(base, row("a", 0.1, 0.2), row("b", 0.3, 1.4), row("c", 1.1, None), lost=lost)
    assert seconds.all.ok == [1, 0]
    assert seconds.all.lost == {"cut": [0, 1], "refused": [0, 1]}
    assert (seconds.all.ended(0), seconds.all.ended(1)) == (1, 2)


def test_a_second_in_which_nothing_ended_has_no_times(base: duckdb.DuckDBPyConnection) -> None:
    seconds = counted(base, row("a", 0.1, 2.2))
    assert seconds.all.p99_ms == [None, None, 2100.0]


def test_times_count_from_the_plan_and_beside_it_from_the_sending(base: duckdb.DuckDBPyConnection) -> None:
    seconds = counted(base, row("a", 0.5, 0.6, planned=0.1))
    assert (seconds.all.p50_ms, seconds.all.p50_sent_ms) == ([500.0], [100.0])


def test_percentiles_are_the_nearest_rank_to_three_digits(base: duckdb.DuckDBPyConnection) -> None:
    seconds = counted(base, *(row(f"r{n}", 0.0, n / 1000) for n in range(1, 101)), row("x", 0.0, 0.123456))
    assert (seconds.all.p50_ms, seconds.all.p99_ms) == ([51.0], [100.0])
    assert counted(base, row("x", 0.0, 0.123456)).all.p50_ms == [123.0]


def test_kinds_are_apart_and_add_up_to_all(base: duckdb.DuckDBPyConnection) -> None:
    seconds = counted(base, row("a", 0.1, 0.2), row("b", 0.1, 1.2, kind="long"), lost={"b": "cut"})
    assert seconds.kinds["short"].ok == [1, 0]
    assert seconds.kinds["long"].lost == {"cut": [0, 1]}
    assert seconds.all.sent == [2, 0]


def test_tries_after_the_first_are_counted_as_retries(base: duckdb.DuckDBPyConnection) -> None:
    assert counted(base, row("a", 0.1, 0.2), row("b", 0.3, 0.4, attempt=2)).all.retries == [1]


def test_ready_is_the_fewest_at_once_in_a_second(base: duckdb.DuckDBPyConnection) -> None:
    spans = [(-5.0, 1.4), (-5.0, 9.0), (1.6, 9.0)]
    assert counted(base, row("a", 0.1, 3.2), spans=spans).ready == [2, 1, 2, 2]
    assert counted(base, row("a", 0.1, 3.2)).ready == [0, 0, 0, 0]


def test_what_was_before_the_first_request_and_after_the_last_answer_is_no_dip(base: duckdb.DuckDBPyConnection) -> None:
    assert counted(base, row("a", 0.5, 1.5), spans=[(0.4, 1.6)]).ready == [1, 1]
    assert counted(base, row("a", 0.5, 1.5), spans=[(0.6, 1.4)]).ready == [0, 0]
    assert counted(base, row("a", 0.5, 1.0), spans=[(0.4, 0.9)]).ready == [0, 0]


def test_no_request_is_no_second(base: duckdb.DuckDBPyConnection) -> None:
    assert counted(base) == Seconds()
    assert counted(base, row("never planned", None, None)) == Seconds()


def test_a_clock_that_jumped_makes_no_endless_list(base: duckdb.DuckDBPyConnection) -> None:
    assert counted(base, row("a", 0.1, 0.2), row("b", 0.3, 1e9)).length == MOST_SECONDS


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 20), st.floats(0, 9), st.sampled_from(("ok", "cut", "error"))), max_size=30))
def test_every_request_is_in_one_second(base: duckdb.DuckDBPyConnection, sent: list[tuple[float, float, str]]) -> None:
    rows = [row(f"r{n}", at, at + took) for n, (at, took, _) in enumerate(sent)]
    seconds = counted(base, *rows, lost={f"r{n}": loss for n, (*_, loss) in enumerate(sent) if loss != "ok"})
    ended = sum(seconds.all.ended(second) for second in range(seconds.length))
    assert sum(seconds.all.sent) == ended == len(sent)
    assert seconds.all.in_flight[-1:] in ([], [0])
