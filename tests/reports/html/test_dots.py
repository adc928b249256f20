from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from struct import unpack
from typing import Any

import duckdb
import pytest

from swarmtest.losses.table import Told
from swarmtest.reports import CLASSES, Document, LossEvent
from swarmtest.reports.html import dots
from swarmtest.reports.html.dots import Places, class_number, lost_dots, ok_dots, packed

PLACES = Places(zero=100.0, since=90.0, rows=2, rows_by_name={"task1": 0, "one": 0, "task2": 1, "two": 1})


@pytest.fixture
def requests() -> Iterator[Told]:
    with duckdb.connect() as base:
        base.execute(
            "CREATE TABLE r (id VARCHAR, place VARCHAR, planned DOUBLE, sent DOUBLE, done DOUBLE, class VARCHAR)"
        )
        yield Told(base, "r")


def put(requests: Told, *rows: tuple[str, str | None, float, float | None], loss: str | None = None) -> None:
    requests.base.executemany("INSERT INTO r SELECT $1, $2, $3, $3, $4, $5", [[*row, loss] for row in rows])


def column(drawn: dict[str, Any], name: str) -> list[int]:
    raw = b64decode(drawn[name])
    kind, size = {"t": ("I", 4), "row": ("H", 2), "level": ("B", 1), "n": ("I", 4)}[name]
    return list(unpack(f"<{len(raw) // size}{kind}", raw))


def event(
    at: float, done: float | None, loss: str = "cut", instance: str | None = "task1", why: str = "w"
) -> LossEvent:
    return LossEvent(f"r-{at}", loss, "short", True, at, done, instance, "shutdown", why)


def with_losses(events: list[LossEvent], left_out: int = 0) -> Document:
    return Document(
        version=1, run="r", outcome="failed", exit_code=1, scenario="rolling", stack="s", engine={}, settings={},
        checks=[], losses={}, instances=[], loss_events=events, loss_events_left_out=left_out,
    )  # fmt: skip


def test_a_dot_lies_at_the_end_of_its_request_on_the_row_of_its_instance(requests: Told) -> None:
    put(requests, ("a", "one", 100.0, 100.5), ("b", "two", 101.0, 101.001), ("c", None, 102.0, 162.0))
    drawn = ok_dots(requests, PLACES)
    assert [drawn["since"] + t * drawn["unit"] for t in column(drawn, "t")] == pytest.approx([0.5, 1.001, 62.0])
    assert column(drawn, "row") == [0, 1, 2]
    assert column(drawn, "level")[1] == 0
    assert column(drawn, "level")[2] > column(drawn, "level")[0] > 0


def test_what_is_not_ok_is_no_dot_of_what_is(requests: Told) -> None:
    put(requests, ("a", "one", 100.0, 100.5))
    put(requests, ("b", "one", 100.0, 100.6), ("open", "one", 100.0, None), loss="cut")
    drawn = ok_dots(requests, PLACES)
    assert (column(drawn, "n"), drawn["count"]) == ([1], 1)


def test_dots_on_each_other_are_one_and_none_is_left_out(requests: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dots, "MOST_BINS", 10)
    requests.base.execute(
        "INSERT INTO r SELECT 'r' || i, 'one', 100 + i / 50.0, 100 + i / 50.0, 100.1 + i / 50.0, NULL"
        " FROM range(500) t(i)"
    )
    drawn = ok_dots(requests, PLACES)
    assert len(column(drawn, "t")) <= 10
    assert sum(column(drawn, "n")) == drawn["count"] == 500
    assert drawn["grain"] == 5.0


def test_no_request_is_no_dot(requests: Told) -> None:
    drawn = ok_dots(requests, PLACES)
    assert (drawn["count"], drawn["t"]) == (0, "")


def test_each_lost_request_has_a_dot_with_all_that_there_is_to_say() -> None:
    events = [event(101.0, 101.5, why="no finish"), event(100.0, None, "refused", None)]
    drawn = lost_dots(with_losses(events), None, PLACES)
    first, second = drawn["told"]
    assert first[:6] == [0.0, 0.0, 2, 0, CLASSES.index("refused"), "r-100.0"]
    assert second[:3] == [1.0, 1.5, 0]
    assert [drawn["texts"][place] for place in second[6:]] == ["short", "kept", "shutdown", "", "no finish"]


def test_lost_requests_are_counted_together_and_all_drawn_also_those_that_the_document_leaves_out(
    requests: Told,
) -> None:
    count = dots.MOST_TOLD + 40
    put(requests, ("ok", "task2", 100.0, 100.5))
    put(requests, *((f"l{n}", "task1", 100.0 + n / 1000, 100.2 + n / 1000) for n in range(count)), loss="cut")
    put(requests, ("never ended", None, 104.0, None), loss="refused")
    document = with_losses([event(100.0, 100.2)], left_out=count)
    drawn = lost_dots(document, requests, PLACES)
    assert "told" not in drawn
    assert sum(one[-1] for one in drawn["crowd"]) == drawn["count"] == count + 1
    assert drawn["crowd"][0] == [0.2, 0, PLACES.level(0.2), CLASSES.index("cut"), 1]
    assert drawn["crowd"][-1] == [4.0, 2, 0, CLASSES.index("refused"), 1]
    assert drawn["untimed"] == 0


def test_many_lost_requests_are_as_few_dots_as_a_browser_can_draw(
    requests: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dots, "MOST_TOLD", 10)
    monkeypatch.setattr(dots, "MOST_BINS", 40)
    put(requests, *((f"l{n}", "task1", 100.0 + n / 50, 100.2 + n / 50) for n in range(500)), loss="cut")
    drawn = lost_dots(with_losses([event(100.0, 100.2)], left_out=499), requests, PLACES)
    assert len(drawn["crowd"]) <= 10
    assert sum(one[-1] for one in drawn["crowd"]) == drawn["count"] == 500
    assert drawn["grain"] == 5.0


def test_a_lost_request_without_any_time_is_said() -> None:
    untimed = LossEvent("r", "unresolved", "short", True, None, None, None, "unplaced", "w")
    drawn = lost_dots(with_losses([untimed]), None, PLACES)
    assert (drawn["told"], drawn["untimed"]) == ([], 1)


def test_a_class_of_a_later_version_is_drawn_as_unknown() -> None:
    assert class_number("vanished") == CLASSES.index("unknown")


def test_numbers_are_little_endian() -> None:
    assert b64decode(packed("H", [1, 258])) == b"\x01\x00\x02\x01"


def test_with_many_rows_there_are_fewer_steps_of_height() -> None:
    crowded = Places(0.0, 0.0, 60, {})
    assert crowded.levels < PLACES.levels
    assert crowded.level(1e9) == crowded.levels - 1
