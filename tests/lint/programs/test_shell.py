"""Scripts taken apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmtest.lint.programs.shell import read_script


def said(text: str) -> list[tuple[str, str]]:
    return [(" ".join(command.words), command.after) for command in read_script(text).commands]


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("a b", [("a b", "")]),
        ("a && b || c; d & e | f", [("a", "&&"), ("b", "||"), ("c", ";"), ("d", "&"), ("e", "|"), ("f", "")]),
        ("a&&b||c;d&e|f", [("a", "&&"), ("b", "||"), ("c", ";"), ("d", "&"), ("e", "|"), ("f", "")]),
        ("a\nb", [("a", ";"), ("b", "")]),
        ("a &&\n b", [("a", "&&"), ("b", "")]),
        ("a \\\n b", [("a b", "")]),
        ("a 'b && c' \"d; e\"", [("a b && c d; e", "")]),
        ("A=1 B='2 3' a", [("a", "")]),
        ("a A=1", [("a A=1", "")]),
        ("a > /x 2>&1", [("a", "")]),
        ("a >/dev/null 2>/dev/null || b", [("a", "||"), ("b", "")]),
        ("a &> /x; b", [("a", ";"), ("b", "")]),
        ("a $(b | c) d", [("a $(b | c) d", "")]),
        ('[ "$(a | b)" = 1 ]', [("[ $(a | b) = 1 ]", "")]),
        ("a # b; c\nd", [("a", ";"), ("d", "")]),
        ("a b#c", [("a b#c", "")]),
        ("a |& b", [("a", "|"), ("b", "")]),
        ("", []),
        ("'", [("'", "")]),
    ],
)
def test_commands_and_what_stands_between_them(text: str, commands: list[tuple[str, str]]) -> None:
    assert said(text) == commands


@pytest.mark.parametrize(
    ("text", "compound", "loops"),
    [
        ("a; b", False, False),
        ("if a; then b; fi", True, False),
        ("(a; b)", True, False),
        ("{ a; }", True, False),
        ("while a; do b; done", True, True),
        ("for i in 1 2; do b; done", True, True),
        ("echo if while", False, False),
    ],
)
def test_conditions_and_loops_are_noted(text: str, compound: bool, loops: bool) -> None:
    script = read_script(text)
    assert (script.compound, script.loops) == (compound, loops)


def test_a_redirection_is_noted_with_its_command() -> None:
    assert [command.redirected for command in read_script("a > /x && b; c 2>&1").commands] == [True, False, True]


def test_lists_end_where_what_came_before_no_longer_counts() -> None:
    lists = read_script("a && b; c || d & e").lists
    assert [[command.name for command in each] for each in lists] == [["a", "b"], ["c", "d"], ["e"]]


@given(st.text(alphabet="ab '\"\\$(){}|&;<>#\n`1=", max_size=40))
def test_whatever_is_written_it_ends_and_names_no_empty_command(text: str) -> None:
    for command in read_script(text).commands:
        assert command.words
        assert command.after in ("", ";", "&", "&&", "||", "|")
