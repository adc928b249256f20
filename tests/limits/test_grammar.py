"""The words of a limit: what they say, and one clear message for each way of getting them wrong."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmtest.limits import Limit
from swarmtest.limits.grammar import MEASURES, parse_limit


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("p99 < 800ms", ("p99", "<", 800.0, "ms")),
        ("p99.9<1.5s", ("p99.9", "<", 1500.0, "ms")),
        ("p50 <= 20 ms", ("p50", "<=", 20.0, "ms")),
        ("max < 3s", ("max", "<", 3000.0, "ms")),
        ("lost = 0", ("lost", "=", 0.0, "requests")),
        ("lost == 0", ("lost", "=", 0.0, "requests")),
        ("cut_finished ≤ 2", ("cut_finished", "<=", 2.0, "requests")),
        ("shed <= 5%", ("shed", "<=", 0.05, "share")),
        ("success >= 99.9 %", ("success", ">=", 0.999, "share")),
        ("success = 100%", ("success", "=", 1.0, "share")),
        ("lost to the fault <= 20", ("lost to fault", "<=", 20.0, "requests")),
        ("duplicates = 0", ("duplicates", "=", 0.0, "requests")),
    ],
)
def test_a_limit_is_a_measure_a_sign_and_a_value(text: str, said: tuple[str, str, float, str]) -> None:
    limit = parse_limit(text)
    assert (limit.measure, limit.sign, limit.value, limit.unit) == said
    assert (limit.kind, limit.phase, limit.per_second, limit.each) == (None, None, False, False)


@pytest.mark.parametrize(
    ("text", "kind", "phase", "per_second", "each"),
    [
        ("p99 of short < 800ms", "short", None, False, False),
        ("p99 < 800ms of short", "short", None, False, False),
        ("p99 of short in rollout < 800ms", "short", "rollout", False, False),
        ("p99 in rollout < 800ms of short", "short", "rollout", False, False),
        ("lost in kill the first of v1.long = 0", "v1.long", "kill the first", False, False),
        ("lost = 0 in kill the first", None, "kill the first", False, False),
        ("lost = 0 in run", None, None, False, False),
        ("refused <= 2 per rollout", None, "rollout", False, True),
        ("refused per rollout <= 2", None, "rollout", False, True),
        ("success per second >= 99%", None, None, True, False),
        ("success per second in settle >= 30", None, "settle", True, False),
    ],
)
def test_it_may_be_of_one_kind_in_one_phase_and_for_each_second(
    text: str, kind: str | None, phase: str | None, per_second: bool, each: bool
) -> None:
    limit = parse_limit(text)
    assert (limit.kind, limit.phase, limit.per_second, limit.each) == (kind, phase, per_second, each)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a limit such as"),
        ("latency < 1s", "found 'latency'; did you mean p99?"),
        ("refusd = 0", "did you mean refused?"),
        ("P99 < 1s", "did you mean p99?"),
        ("qqq = 0", "there are: p50, p90, p99, max"),
        ("p100 < 1s", "expected a percentile below 100"),
        ("p0 < 1s", "expected a percentile below 100"),
        ("p99", "expected one of < <= = >= > after 'p99', found the end"),
        ("p99 800ms", "expected one of < <= = >= > after 'p99', found '800ms'"),
        ("p99 != 800ms", "found '!='"),
        ("p99 <", "expected a value after '<', found the end"),
        ("p99 < 800", "did you mean 800ms?"),
        ("p99 < fast", "expected a time such as 800ms or 1.5s, found 'fast'"),
        ("p99 < 0ms", "expected a time"),
        ("p99 < 5%", "expected a time"),
        ("lost = 1ms", "expected a count such as 2 or a share such as 1%, found '1ms'"),
        ("lost <= 1.5", "expected a count"),
        ("lost <= 101%", "expected a share up to 100%"),
        ("p99 > 1s", "more of it is never what's wanted"),
        ("p99 = 1s", "more of it is never what's wanted"),
        ("lost >= 1", "more of it is never what's wanted"),
        ("lost = 3", "expected <= or < after 'lost'"),
        ("lost < 0", "did you mean lost = 0?"),
        ("success <= 99%", "less of it is never what's wanted"),
        ("success > 100%", "did you mean >= 100%?"),
        ("success >= 30", "expected a share such as 99%, or success per second"),
        ("p99 per second < 1s", "has no sense per second"),
        ("duplicates <= 1%", "expected a count of duplicates"),
        ("lost to <= 3", 'expected "lost to fault"'),
        ("p99 of < 1s", "expected a kind of traffic after 'of', found '<'"),
        ("lost = 0 in", "expected a phase after 'in', found the end"),
        ("lost = 0 per minute", "found 'per minute'"),
        ("lost = 0 per rollot", "did you mean per rollout?"),
        ("lost of a of b = 0", "expected one kind of traffic, found a second one"),
        ("lost in a per rollout = 0", "expected one phase, found a second one"),
        ("lost = 0 please", "expected the end, or one of: of KIND, in PHASE"),
    ],
)
def test_each_mistake_has_a_message_of_its_own(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        parse_limit(text)


WORDS = st.sampled_from(
    [*MEASURES, "p99.9", "<", "<=", "=", ">=", "of", "in", "per", "second", "rollout", "0", "5%", "3s", "to", "fault"]
)


@given(st.lists(WORDS, max_size=8))
def test_any_words_are_a_limit_or_a_mistake_that_is_said(words: list[str]) -> None:
    try:
        limit = parse_limit(" ".join(words))
    except ValueError as error:
        said = str(error)
    else:
        assert parse_limit(limit.text) == limit
        return
    assert any(word in said for word in ("expected", "nothing can be", "no sense"))


@pytest.mark.parametrize(
    ("sign", "within", "beyond"),
    [("<", 4.9, 5.0), ("<=", 5.0, 5.1), ("=", 5.0, 5.1), (">=", 5.0, 4.9), (">", 5.1, 5.0)],
)
def test_a_value_is_within_a_limit_or_beyond_it(sign: str, within: float, beyond: float) -> None:
    limit = Limit("", "lost", sign, 5.0, "requests")
    assert limit.holds(within)
    assert not limit.holds(beyond)


def test_what_arithmetic_adds_in_the_last_digit_is_no_difference() -> None:
    assert Limit("", "success", ">=", 0.99, "share").holds(1 - 0.01)
    assert Limit("", "lost", "<=", 0.3, "share").holds(0.1 + 0.2)


def test_it_is_meant_for_scenarios_by_their_name_or_their_way() -> None:
    limit = Limit("", "lost", "=", 0, "requests", scenarios=("rolling", "destructive"))
    assert limit.meant_for("rolling", "orderly")
    assert limit.meant_for("kill", "destructive")
    assert not limit.meant_for("release", "orderly")
    assert Limit("", "lost", "=", 0, "requests").meant_for("release", "orderly")
