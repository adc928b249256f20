"""One YAML file as Docker reads it: what stays text, where each key is, and what nobody could read."""

from __future__ import annotations

from pathlib import Path

import pytest

from swarmtest.errors import StackError
from swarmtest.stack.yamlfile import read_yaml


def write(folder: Path, text: str) -> Path:
    file = folder / "file.yml"
    file.write_text(text)
    return file


def test_numbers_with_colons_and_dates_stay_text(tmp_path: Path) -> None:
    read = read_yaml(write(tmp_path, "a: 22:22\nb: 2026-01-01\nc: on\nd: 017\ne: true\n"), "a file")
    assert read.tree == {"a": "22:22", "b": "2026-01-01", "c": "on", "d": 15, "e": True}


def test_each_key_has_its_line_and_so_has_each_item(tmp_path: Path) -> None:
    read = read_yaml(write(tmp_path, "a:\n  b:\n    - x\n    - y\n"), "a file")
    assert read.lines == {("a",): 1, ("a", "b"): 2, ("a", "b", "0"): 3, ("a", "b", "1"): 4}


def test_what_is_no_mapping_is_for_the_caller_to_refuse(tmp_path: Path) -> None:
    assert read_yaml(write(tmp_path, "- 1\n- 2\n"), "a file").tree == [1, 2]
    assert read_yaml(write(tmp_path, ""), "a file").tree is None


def test_a_missing_file_is_named_with_what_it_should_be(tmp_path: Path) -> None:
    with pytest.raises(StackError, match="no such file; give the path of an OpenAPI description"):
        read_yaml(tmp_path / "none.yml", "an OpenAPI description")


def test_broken_yaml_has_its_line(tmp_path: Path) -> None:
    with pytest.raises(StackError, match="not valid YAML") as caught:
        read_yaml(write(tmp_path, "a: 1\nb: [1, 2\n"), "a file")
    assert caught.value.line == 3
