from __future__ import annotations

import pytest

from swarmtest.events import Event
from swarmtest.evidence.database import database_of
from swarmtest.evidence.lines import Counts, count_lines, names_said, settle


def line(
    seq: int | None, event: str = "start", t: float = 1.0, container: str = "c1", request: str | None = "r"
) -> Event:
    data = {"event": event, "seq": seq, "container": container, "request_id": request, "instance": "i-" + container}
    return Event(t, "record", data)


def counts(*lines: Event) -> Counts:
    return count_lines(database_of(lines, []))["c1"]


def test_lines_are_counted_by_what_they_say() -> None:
    found = counts(line(1, "booted", request=None), line(2, t=2.0), line(3, "commit"), line(4, "finish", t=3.0))
    assert (found.lines, found.distinct, found.starts, found.finishes, found.ended) == (4, 4, 1, 1, 2)
    assert (found.first_start, found.last_start, found.last_finish) == (2.0, 2.0, 3.0)


def test_a_line_that_is_read_again_counts_once() -> None:
    found = counts(line(1), line(2), line(2), line(1))
    assert (found.lines, found.distinct, found.starts) == (2, 2, 2)


def test_the_same_number_on_two_different_lines_is_a_repetition() -> None:
    found = counts(line(1), line(1, request="other"))
    assert (found.lines, found.distinct) == (2, 1)


def test_lines_without_a_number_are_told_apart_from_those_with_one() -> None:
    assert (counts(line(1), line(None)).lines, counts(line(1), line(None)).numbered) == (2, 1)


@pytest.mark.parametrize("far", [9, 10**15])
def test_gaps_are_found_however_far_the_numbers_reach(far: int) -> None:
    found = counts(line(1), line(2), line(5), line(far))
    assert found.holes == ((3, 4), (6, far - 1))
    assert (found.least, found.most) == (1, far)


def test_lines_about_a_request_that_name_none_are_counted_apart() -> None:
    found = counts(line(1, request=None), line(2, "finish", request=""))
    assert (found.nameless, found.ended, found.first_start) == (2, 0, None)


def test_other_services_lines_are_left_out_and_times_are_turned_into_ours() -> None:
    database = database_of([line(1, t=10.0), line(1, container="proxy")], [])
    assert sorted(names_said(database)) == [("i-c1", "c1"), ("i-proxy", "proxy")]
    settle(database, {"proxy"}, {"c1": 2.5})
    found = count_lines(database)
    assert list(found) == ["c1"]
    assert found["c1"].first_start == 7.5
