import contextlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmtest.stack.syntax.durations import parse_duration, parse_rate


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90),
        ("1m30s", 90),
        ("1.5m", 90),
        ("90000ms", 90),
        ("1h30m", 5400),
        ("0s", 0),
        ("0", 0),
        ("+0", 0),
        ("-5s", -5),
        (".5s", 0.5),
        ("1.s", 1),
        ("500µs", 0.0005),
        ("500μs", 0.0005),
        ("1us", 1e-6),
        ("7ns", 7e-9),
    ],
)
def test_what_docker_takes_is_read_as_docker_reads_it(text: str, seconds: float) -> None:
    # community-valheim-tools/valheim-server-docker #746, compose-spec/compose-spec #496
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "value",
    [
        90,
        90.0,
        None,
        True,
        "90",
        "1d",
        "5 min",
        "1m30",
        "10S",
        "",
        "s",
        ".s",
        "-",
        "+",
        "--1s",
        "1s ",
        " 1s",
        "1_0s",
        "٣s",
        "1e3s",
        "infs",
        "nans",
        "9" * 30 + "h",
    ],
)
def test_what_docker_refuses_is_refused_and_never_guessed(value: object) -> None:
    # kubernetes/kompose PR #608
    with pytest.raises(ValueError, match="expected a duration"):
        parse_duration(value)


_UNITS = st.sampled_from(["ns", "us", "ms", "s", "m", "h"])


@given(st.lists(st.tuples(st.integers(0, 10**4), _UNITS), min_size=1, max_size=50))
def test_a_duration_is_the_sum_of_its_parts(parts: list[tuple[int, str]]) -> None:
    whole = parse_duration("".join(f"{number}{unit}" for number, unit in parts))
    assert whole == pytest.approx(math.fsum(parse_duration(f"{number}{unit}") for number, unit in parts))


@given(st.one_of(st.text(), st.integers(), st.floats(), st.none(), st.lists(st.text())))
def test_any_value_is_a_finite_duration_or_a_value_error(value: object) -> None:
    with contextlib.suppress(ValueError):
        assert math.isfinite(parse_duration(value))


@pytest.mark.parametrize(
    ("value", "rate"),
    [("40/s", 40), ("90/m", 1.5), ("7200/h", 2), (" 1.5 / s ", 1.5), (34, 34), (0.5, 0.5), ("34", 34), ("2.5", 2.5)],
)
def test_rates_are_read_with_and_without_a_unit(value: object, rate: float) -> None:
    assert parse_rate(value) == pytest.approx(rate)


@pytest.mark.parametrize(
    "value",
    [0, -1, "0/s", "-1/s", "fast", "", "1/d", True, None, [], float("nan"), float("inf"), 10**400, "²", "200000/s"],
)
def test_what_is_no_rate_above_zero_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="expected a rate above zero"):
        parse_rate(value)
