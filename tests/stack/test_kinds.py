"""How long it takes to send what has a number."""

from __future__ import annotations

import pytest

from swarmtest.stack.kinds import Kind, seconds_to_send


@pytest.mark.parametrize(
    ("kinds", "seconds"),
    [
        ([], 0.0),
        ([Kind("a", "GET", "/", 20.0)], 0.0),
        ([Kind("a", "GET", "/", 20.0, count=480)], 24.0),
        (
            [Kind("a", "GET", "/", 20.0, count=480), Kind("b", "GET", "/", 1.0), Kind("c", "GET", "/", 1.0, count=30)],
            30.0,
        ),
    ],
)
def test_all_are_sent_when_the_slowest_number_is(kinds: list[Kind], seconds: float) -> None:
    assert seconds_to_send(kinds) == seconds
