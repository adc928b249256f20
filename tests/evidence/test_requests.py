from __future__ import annotations

import pytest

from swarmtest.evidence.database import Database
from swarmtest.evidence.requests import Requests


def requests_of(milliseconds: list[float]) -> Requests:
    database = Database()
    database.run(
        "CREATE TABLE accounted AS SELECT 'ok' AS loss, true AS plain, 0.0 AS began, unnest($ended::DOUBLE[]) AS ended,"
        " NULL::DOUBLE AS started",
        {"ended": [value / 1000 for value in milliseconds]},
    )
    return Requests(database)


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [
        ([], 0.5, None),
        ([7.0], 0.99, 7.0),
        ([1.0, 2.0, 3.0, 4.0], 0.5, 2.0),
        ([float(n) for n in range(1, 101)], 0.99, 99.0),
        ([float(n) for n in range(1, 1001)], 0.5, 500.0),
    ],
)
def test_shares_are_taken_by_the_nearest_rank(values: list[float], share: float, expected: float | None) -> None:
    assert requests_of(values).quantile(share, "loss = 'ok'") == expected


def test_requests_are_counted_by_a_condition_with_values() -> None:
    assert requests_of([1.0, 2.0, 3.0]).count("ended > $t", {"t": 0.0015}) == 2


def test_the_first_time_of_those_that_fulfil_a_condition_is_theirs_or_nothing() -> None:
    assert requests_of([2.0, 1.0]).plain_times("loss = 'ok'") == [0.001]
    assert requests_of([]).plain_times("loss = 'ok'") == []
