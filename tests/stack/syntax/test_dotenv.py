"""``.env`` as Compose reads it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmtest.stack.syntax.dotenv import parse_dotenv, read_dotenv

FILE = Path(".env")


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("A=1\nB = two words \n", {"A": "1", "B": "two words"}),
        ("# no\n\nexport A=1", {"A": "1"}),
        ("A=a#b c # comment\n", {"A": "a#b c"}),
        ("A='$B \\n'\n", {"A": "$B \\n"}),
        ('A="x\\ny"\n', {"A": "x\ny"}),
        ('A="two\nlines" # comment\nB=1\n', {"A": "two\nlines", "B": "1"}),
        ("A=1\nB=${A}2\nC=${D:-3}\n", {"A": "1", "B": "12", "C": "3"}),
        ("A=\nB=\n", {"A": "", "B": ""}),
        ("A: 1\r\nB=2\r\n", {"A": "1", "B": "2"}),
        ("HOME\nA=$HOME\n", {"HOME": "/root", "A": "/root"}),
    ],
)
def test_lines_set_values(text: str, values: dict[str, str]) -> None:
    found = parse_dotenv(text, FILE, {"HOME": "/root"})
    assert found.values == values
    assert found.refused_line is None


@pytest.mark.parametrize(("text", "line"), [("A=1\nno way=2\n", 2), ("A=1\n\nB='x\n", 3), ("?=1\n", 1)])
def test_what_compose_refuses_has_its_line_and_takes_nothing_after_it(text: str, line: int) -> None:
    assert parse_dotenv(text, FILE, {}).refused_line == line


def test_a_folder_without_one_sets_nothing(tmp_path: Path) -> None:
    assert read_dotenv(tmp_path, {}).values == {}
    (tmp_path / ".env").write_bytes(b"\xff\xfe")
    assert read_dotenv(tmp_path, {}).values == {}


@given(st.text(alphabet="AB=:'\"\\$#{} \n\tx", max_size=40))
def test_any_text_comes_to_an_end(text: str) -> None:
    parse_dotenv(text, FILE, {})
