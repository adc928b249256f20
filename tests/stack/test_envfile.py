"""Files of variables, as Compose reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from swarmtest.errors import StackError
from swarmtest.stack.envfile import read_env_file


def read(tmp_path: Path, text: str, environment: dict[str, str] | None = None) -> dict[str, str]:
    file = tmp_path / ".env"
    file.write_text(text)
    return read_env_file(file, environment or {})


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("A=1", "1"),
        ("  A = 1  ", "1"),
        ("export A=1", "1"),
        ("A: 1", "1"),
        ("A=", ""),
        ("A=1 # one", "1"),
        ("A=1#one", "1#one"),
        ("A='1 # one' # two", "1 # one"),
        ('A="1 # one" # two', "1 # one"),
        (r'A="a\nb\"c\d"', 'a\nb"c\\d'),
        (r"A='a\nb'", r"a\nb"),
        ("A=it's", "it's"),
        ('A="two\nlines"', "two\nlines"),
        ("A=$B", "b"),
        ("A=${B}c", "bc"),
        ("A='$B'", "$B"),
        ("A=${C:-c}", "c"),
        ("A=${EMPTY:-c}", "c"),
        ("A=${EMPTY-c}", ""),
        ("A=$C", ""),
        (r"A=\$B", r"\$B"),
    ],
)
def test_a_value_is_read(tmp_path: Path, line: str, value: str) -> None:
    assert read(tmp_path, f"# first\n\nB=b\nEMPTY=\n{line}\nZ=z\n") == {"B": "b", "EMPTY": "", "A": value, "Z": "z"}


def test_a_name_alone_hands_on_the_value_of_the_shell(tmp_path: Path) -> None:
    assert read(tmp_path, "A\nB\n", {"A": "1"}) == {"A": "1"}


def test_the_shell_wins_within_a_value(tmp_path: Path) -> None:
    assert read(tmp_path, "A=1\nB=$A\n", {"A": "2"}) == {"A": "1", "B": "2"}


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [("A=1\n=2\n", 2, "expected NAME=value"), ("A=1\n{a: 1}\n", 2, "{a: 1}"), ("A='1\n2\n", 1, "aren't closed")],
)
def test_what_is_no_variable_is_told_with_its_line(tmp_path: Path, text: str, line: int, said: str) -> None:
    with pytest.raises(StackError, match=said) as caught:
        read(tmp_path, text)
    assert caught.value.line == line
