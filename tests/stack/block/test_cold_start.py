"""The limit on cold starts: a factor or a duration."""

from __future__ import annotations

import pytest

from swarmtest.stack.block.cold_start import ColdStart, parse_cold_start


@pytest.mark.parametrize(
    ("text", "limit"),
    [("3x", ColdStart(times=3.0)), ("1.5x", ColdStart(times=1.5)), ("500ms", ColdStart(seconds=0.5))],
)
def test_a_factor_or_a_duration(text: str, limit: ColdStart) -> None:
    assert parse_cold_start(text) == limit


@pytest.mark.parametrize("text", ["3", 3, "0.5x", "-1s", "slow", "x", True])
def test_anything_else_is_refused_with_an_example(text: object) -> None:
    with pytest.raises(ValueError, match='such as "3x"'):
        parse_cold_start(text)
