"""One YAML file as Docker reads it: what stays text, where each key is, and what nobody could read."""

from __future__ import annotations

from pathlib import Path

import pytest

from swarmtest.errors import StackError
from swarmtest.stack.syntax import yamlfile
from swarmtest.stack.syntax.yamlfile import parse_tagged, read_yaml


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


def test_an_item_of_a_list_and_a_merged_key_have_the_line_that_they_are_written_in(tmp_path: Path) -> None:
    lines = read_yaml(write(tmp_path, "a: &a\n  b: 1\n  c: 2\nd:\n  <<: *a\n  c: 3\n"), "a file").lines
    assert (lines["d", "b"], lines["d", "c"]) == (2, 6)
    assert lines.get(("d", "x")) is None
    assert lines.get(()) is None


def test_without_libyaml_everything_is_said_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [
        "a: [1, {b: yes}]\nc: &c {d: 017}\ne: {<<: *c}\n",
        "a: 1\nb: [1, 2\n",
        "a: 'x\n",
        "a:\n\tb: 1\n",
        "a: *nobody\n",
        "a: 1\nb: \x01\n",
        'a: 1\nb: "\\ud800"\n',
        "a: &a 1\nb: &a 2\nc: *a\n",
        "? [a]\n: b\n",
        "a: 1\n---\nb: 2\n",
        "",
        "%YAML 3.0\n---\na: 1\n",
    ]
    fast = [answer(write(tmp_path, text)) for text in texts]
    monkeypatch.setattr(yamlfile, "_FAST", None)
    assert [answer(write(tmp_path, text)) for text in texts] == fast
    assert "c" in fast[7]  # an anchor may be set anew: Docker takes the last one


def answer(path: Path) -> str:
    try:
        read = read_yaml(path, "a file")
    except StackError as error:
        return str(error)
    return f"{read.tree} {dict(read.lines)}"


@pytest.mark.parametrize(
    ("text", "oddity"),
    [
        ("a: 1\nb: 2\na: 3\n", ("duplicate-key", ("a",), 3, "a", 1)),
        ("a: {<<: {b: 1}, <<: {c: 2}}\n", ("duplicate-key", ("a", "<<"), 1, "<<", 1)),
        ("a:\n  <<: text\n", ("merge", ("a", "<<"), 2, "map merge requires a mapping or a list of mappings", 0)),
        ("a:\n  1: b\n", ("key", ("a",), 2, "1", 0)),
        ("a:\n  - b: !reset null\n", ("tag", ("a", "0", "b"), 2, "!reset", 0)),
        ("a: 2026-11-30\n", ("time", ("a",), 1, "2026-11-30", 0)),
        ("a: .inf\n", ("endless", ("a",), 1, ".inf", 0)),
        ("# x\n%YAML 1.2\n---\na: 1\n", ("directive", (), 2, "%YAML 1.2", 0)),
    ],
)
def test_what_docker_reads_in_its_own_way_is_noted(text: str, oddity: tuple[object, ...]) -> None:
    (found,) = parse_tagged(text, Path("file.yml")).oddities
    assert (found.kind, found.path, found.line, found.text, found.first_line) == oddity


def test_a_file_without_an_end_is_not_read_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "stack.yml"
    file.write_text("services: {}")
    monkeypatch.setattr("swarmtest.stack.syntax.yamlfile.MOST_CHARACTERS", len("services: {}"))
    assert read_yaml(file, "a stack file").tree == {"services": {}}
    file.write_text("services: {} ")
    with pytest.raises(StackError, match="longer than 12 characters; give the path of a stack file"):
        read_yaml(file, "a stack file")
