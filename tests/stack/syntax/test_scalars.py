"""Plain words as Docker's own parser takes them (each answer is one of ``docker stack config``)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmtest.stack.syntax.scalars import as_text, is_time, plain_value


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("yes", "yes"),
        ("on", "on"),
        ("n", "n"),
        ("TRUE", True),
        ("tRue", "tRue"),
        ("~", None),
        ("NULL", None),
        ("", None),
        ("017", 15),
        ("08", 8.0),
        ("0o17", 15),
        ("0o8", "0o8"),
        ("0x1F", 31),
        ("-0x10", -16),
        ("0B11", 3),
        ("1_000", 1000),
        ("_1", "_1"),
        ("+5", 5),
        ("22:22", "22:22"),
        ("1.", 1.0),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("1e400", "1e400"),
        ("12345678901234567890", 12345678901234567890),
        ("123456789012345678901234567890", 1.2345678901234568e29),
        ("2001-01-01", "2001-01-01"),
        ("1-2", "1-2"),
    ],
)
def test_a_plain_word_is_what_docker_takes_it_for(word: str, value: Any) -> None:
    found = plain_value(word)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1e6, "1e+06"),
        (1234567.0, "1.234567e+06"),
        (100000.0, "100000"),
        (123456.5, "123456.5"),
        (0.0001, "0.0001"),
        (0.00001, "1e-05"),
        (1.5, "1.5"),
        (-0.0, "-0"),
        (True, "true"),
        (None, ""),
        (float("nan"), "NaN"),
        (float("-inf"), "-Inf"),
        (12, "12"),
    ],
)
def test_a_scalar_is_written_as_docker_writes_it_into_an_environment(value: Any, text: str) -> None:
    assert as_text(value) == text


@pytest.mark.parametrize("word", ["2001-01-01", "2001-1-1", "2001-01-01T10:00:00Z", "2001-01-01 10:00:00"])
def test_a_date_is_a_point_in_time_to_docker(word: str) -> None:
    assert is_time(word)


@pytest.mark.parametrize("word", ["2001-13-01", "2001-02-30", "01-01-2001", "2001", "2001-01-01-01", "20010101"])
def test_what_only_looks_like_a_date_is_none(word: str) -> None:
    assert not is_time(word)


@given(st.text(min_size=1))
def test_any_word_has_a_value_and_a_text(word: str) -> None:
    assert isinstance(as_text(plain_value(word)), str)
    is_time(word)
