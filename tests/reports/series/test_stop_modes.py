"""The table of `stop-modes`, from documents alone: what's counted as what, and what's beside it."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pytest
from rich.console import Console

from swarmtest.reports import CLASSES, Document, Figures, Hurt, InstanceEntry, LossEvent, Mark
from swarmtest.reports.console.stop_modes import stop_modes
from swarmtest.reports.series.stop_modes import render_stop_modes, run_table, stopped_ms, tried, way_table

T0 = 1_796_163_331.0


def instance(name: str, began: float | None = None, exited: float | None = None) -> InstanceEntry:
    """An instance that something was done to at ``began``."""
    hurts = [] if began is None else [Hurt(1, "signal", T0 + began, T0 + began + 0.02, None, "ok")]
    if began is not None:
        hurts.append(Hurt(2, "signal", T0 + began + 2.0, T0 + began + 2.02, None, "ok"))
    marks = {"exited": Mark(T0 + exited, 0.01, "engine: die") if exited is not None else None}
    return InstanceEntry(name, f"st_api.1.{name}", 1, "n", "old", None, None, 1, marks, hurts=hurts)


def document(scenario: str, *, saw: Sequence[str] = (), p50: float | None = 2001.4, **losses: int) -> Document:
    """A run of 480 orders in which so many were lost in each class."""
    counts = dict.fromkeys(CLASSES, 0) | losses | {"sent": 480, "duplicates": 0}
    counts["ok"] = 480 - sum(losses.values())
    events = [LossEvent("r", "cut", "order", False, T0, T0, None, "fault", "why", saw=one) for one in saw]
    return Document(
        version=1, run="r", outcome="passed", exit_code=0, scenario=scenario, stack="stacks/payment.yml",
        engine={}, settings={}, checks=[], losses=counts, loss_events=events,
        instances=[instance("new"), instance("b", 6.0, 8.9), instance("a", 0.0, 2.5), instance("lives", 9.0)],
        figures=Figures(p50_ms=p50, p99_ms=2999.6),
    )  # fmt: skip


KILL = document("stop-by-kill", saw=["502", "502", "503", "closed_unanswered"], cut=30, cut_finished=2, gateway=10)


def test_whatever_no_handler_saw_is_refused_and_the_cut_that_were_finished_are_cut_too() -> None:
    run = tried([document("stop_by_kill", refused=1, unserved=2, gateway=4, cut=30, cut_finished=2, unknown=5)])[0]
    assert (run.sent, run.ok, run.refused, run.cut, run.finished, run.others) == (480, 436, 7, 32, 2, 5)


def test_a_stop_counts_from_the_first_thing_that_was_done_and_ends_with_the_exit() -> None:
    assert [round(took) for took in stopped_ms(KILL)] == [2500, 2900]


def test_runs_stand_in_the_order_of_the_ways_and_count_on_within_each() -> None:
    mixed = [document("withdraw-then-term"), None, KILL, document("rolling"), document("stop-by-kill")]
    assert [(run.way, run.number) for run in tried(mixed)] == [("kill", 1), ("kill", 2), ("withdraw-term", 1)]


def test_a_run_s_line_has_what_the_clients_saw_beside_the_classes() -> None:
    table = run_table(tried([KILL, document("stop-by-term")]))
    assert table.head[table.counts :] == ("p50 ms", "p99 ms", "stopped after ms", "what clients saw")
    assert table.rows == (
        ("kill", "1", "480", "438", "10", "32", "2", "2,001", "3,000", "2,500 + 2,900",
         "2 × 502, 1 × 503, 1 × closed unanswered"),
        ("term", "1", "480", "480", "0", "0", "0", "2,001", "3,000", "2,500 + 2,900", "-"),
    )  # fmt: skip


def test_a_way_s_line_is_the_median_with_least_and_most_where_they_differ() -> None:
    runs = [document("withdraw-then-term-1s", cut_finished=lost) for lost in (1, 4, 2)]
    assert way_table(tried(runs)).rows == (
        ("withdraw-term-1s", "3", "480", "478 (476–479)", "0", "2 (1–4)", "2 (1–4)",
         "2,001", "3,000", "2,700 (2,500–2,900)"),
    )  # fmt: skip
    assert way_table(tried(runs[:2])).rows[0][5] == "2.5 (1–4)"


def test_what_was_lost_otherwise_has_a_column_only_where_there_is_any() -> None:
    odd = [KILL, document("stop-by-term", unknown=3)]
    for table in (run_table(tried(odd)), way_table(tried(odd))):
        assert table.head[table.counts - 1] == "other"
        assert [row[table.counts - 1] for row in table.rows] == ["0", "3"]
    assert "other" not in run_table(tried([KILL])).head


def test_a_time_that_nobody_saw_is_a_dash() -> None:
    assert run_table(tried([document("stop-by-term", p50=None)])).rows[0][7] == "-"


def test_in_markdown_each_line_has_as_many_cells_as_the_head() -> None:
    out = io.StringIO()
    render_stop_modes([KILL, document("stop-by-term", unknown=1)], out)
    blocks = [block for block in out.getvalue().split("\n\n") if block.startswith("|")]
    assert [len(block.splitlines()) for block in blocks] == [4, 4]
    for block in blocks:
        assert len({line.count("|") for line in block.splitlines()}) == 1


def test_where_none_of_the_ways_was_run_nothing_is_written() -> None:
    out = io.StringIO()
    render_stop_modes([document("rolling"), None], out)
    assert out.getvalue() == ""
    assert list(stop_modes([document("rolling"), None])) == []


@pytest.mark.parametrize(("width", "tables"), [(80, 4), (149, 4), (150, 2), (200, 2)])
def test_in_the_terminal_a_table_is_parted_where_it_has_no_room_and_loses_nothing(width: int, tables: int) -> None:
    console = Console(file=io.StringIO(), width=width)
    parts = list(stop_modes([document("withdraw-then-term-1s", saw=["502"] * 3, cut_finished=3)], width))
    assert sum(type(part).__name__ == "Table" for part in parts) == tables
    for part in parts:
        console.print(part)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "…" not in text
    assert all(word in text for word in ("withdraw-term-1s", "2,500 + 2,900", "3 × 502", "p99 ms"))
