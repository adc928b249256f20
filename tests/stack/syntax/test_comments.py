"""Comments are found where YAML has them, and nowhere else."""

from __future__ import annotations

import re

import pytest

from swarmtest.stack.syntax.comments import Comment, comments

NOTE = re.compile("# note")


def found(text: str) -> list[Comment]:
    return list(comments(text, NOTE))


def test_a_comment_at_the_end_of_a_line_is_about_that_line() -> None:
    assert found("a: 1\nb: 2  # note this\n") == [Comment(2, "# note this", alone=False, of_line=2)]


@pytest.mark.parametrize("between", ["", "\n", "    # another\n", "\n\n  # one\n\n"])
def test_a_comment_of_its_own_is_about_the_next_line_that_says_something(between: str) -> None:
    (comment,) = found(f"a:\n  # note\n{between}  b: 1\n")
    assert comment.alone
    assert comment.of_line == 3 + between.count("\n")


@pytest.mark.parametrize("head", ["", "\n", "%YAML 1.2\n---\n", "--- \n", "# licence\n\n", "\ufeff"])
def test_a_comment_before_everything_else_is_about_the_whole_file(head: str) -> None:
    (comment,) = found(f"{head}# note\na: 1\n")
    assert comment.of_line is None
    assert comment.line == head.count("\n") + 1


def test_a_comment_at_the_end_of_the_first_line_is_about_that_line() -> None:
    assert found("services:  # note\n  a: 1\n")[0].of_line == 1


def test_a_comment_below_everything_is_about_nothing_else() -> None:
    assert found("a: 1\n# note\n")[0].of_line == 2


@pytest.mark.parametrize(
    "text",
    [
        'a: "b # note"\n',
        "a: 'b # note'\n",
        'a: "b\n  # note"\n',
        "a: |\n  b\n  # note\n",
        "a: >-\n  # note\n  b\n",
        "a: b# note\n",
        "a: 1  # another\n",
    ],
)
def test_what_looks_like_a_comment_within_a_text_is_none(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize("text", ["é: 'ü'  # note\n", "\ufeffé: 'ü'  # note\n", "é: 'ü'  # note\r\n"])
def test_places_are_counted_in_characters(text: str) -> None:
    assert [comment.text for comment in found(text)] == ["# note"]


def test_a_comment_right_behind_a_block_of_lines_is_one() -> None:
    assert found("a:\n  b: |\n    text\n  # note\n  c: 1\n")[0].of_line == 5
