"""Each usual slip in a YAML file is told in words that say what to look at."""

from __future__ import annotations

from pathlib import Path

import pytest

from swarmtest.errors import StackError
from swarmtest.stack.syntax.yamlfile import parse_yaml


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("services:\n\tweb:\n", 2, "indent with spaces, not with tabs"),
        ("a:\n  command: @run\n", 2, "put what begins with @ in quotes"),
        ("a:\n  command: echo b: c\n", 2, "quotes are missing"),
        ("a:\n  web:\n    image: x\n   ports: 1\n", 4, "isn't indented as its neighbours"),
        ("a:\n  b: 1\n- c\n", 3, "isn't indented as its neighbours"),
        ('a:\n  image: "x\n  b: 1\n', 4, "opened in line 2 is never closed"),
        ("a:\n  ports: [80\n  b: {}\n", 3, "opened in line 2 has to be closed by ]"),
        ("a: {b: 1\nc: 2\n", 2, "opened in line 1 has to be closed by }"),
        ("a:\n  b: 1\n  image\nc: 2\n", 4, "a key without its colon"),
        ("a: *nobody\n", 1, "has to stand above it"),
    ],
)
def test_a_slip_is_named_behind_the_words_of_the_parser(text: str, line: int, said: str) -> None:
    with pytest.raises(StackError, match="not valid YAML: ") as caught:
        parse_yaml(text, Path("stack.yml"))
    assert said in caught.value.problem
    assert caught.value.line == line


def test_what_isnt_known_is_left_in_the_words_of_the_parser() -> None:
    with pytest.raises(StackError) as caught:
        parse_yaml("a: &x &y 1\n", Path("stack.yml"))
    assert ";" not in caught.value.problem
