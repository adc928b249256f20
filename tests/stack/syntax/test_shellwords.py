"""A command as words, as Docker splits it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmtest.stack.syntax.shellwords import split


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('a b "c d"', ["a", "b", "c d"]),
        ("a 'b \"c' d", ["a", 'b "c', "d"]),
        ("a\\ b c", ["a b", "c"]),
        ('"a \\" b"', ['a " b']),
        ("a # b\nc", ["a", "c"]),
        ("a#b", ["a#b"]),
        ('a "" b', ["a", "", "b"]),
        ("sh -c 'x | y && z'", ["sh", "-c", "x | y && z"]),
        ("", []),
    ],
)
def test_words_are_those_of_docker(text: str, words: list[str]) -> None:
    assert split(text) == words


def test_compose_takes_a_hash_for_a_word() -> None:
    assert split("a # b", comments=False) == ["a", "#", "b"]


@pytest.mark.parametrize("text", ['"a', "'a", "a\\"])
def test_what_is_not_closed_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"closed|end"):
        split(text)


@given(st.lists(st.text(alphabet="ab \t", min_size=1, max_size=5), max_size=5))
def test_quoted_words_come_back(words: list[str]) -> None:
    assert split(" ".join(f"'{word}'" for word in words)) == words
