"""The command line: what's read, what's printed, and what it ends with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from swarmtest.lint import linting, pages
from swarmtest.lint.document import Document
from swarmtest.lint.services import LintService
from tests.calling import Call
from tests.lint.stand_ins import BAD, GOOD


def write(text: str | bytes, name: str = "stack.yml") -> str:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return name


# ---------------------------------------------------------------- exit codes


@pytest.mark.parametrize(
    ("text", "fail_on", "code"),
    [
        (GOOD, "info", 0),
        (BAD, "error", 1),
        (BAD.replace("replicas: 1", "replicas: 2"), "error", 0),
        (BAD.replace("replicas: 1", "replicas: 2"), "warning", 1),
        (BAD.replace("replicas: 1", "replicas: 2").replace("2s", "20s"), "warning", 0),
        (BAD.replace("replicas: 1", "replicas: 2").replace("2s", "20s"), "info", 1),
    ],
)
def test_it_fails_on_what_is_as_bad_as_asked_for(call: Call, text: str, fail_on: str, code: int) -> None:
    assert call(write(text), "--fail-on", fail_on).code == code


def test_errors_fail_where_nothing_is_said(call: Call) -> None:
    assert call(write(BAD)).code == 1
    assert call(write(BAD.replace("replicas: 1", "replicas: 2"))).code == 0


@pytest.mark.parametrize(
    ("bad", "line", "said"),
    [
        (b"services:\n  api: [\n", 3, "not valid YAML"),
        (b"services:\n  api: {image: '\xff'}\n", None, "isn't UTF-8"),
        (b"a: 1\n b: 2\n", 2, "not valid YAML"),
        (b"- a\n", 1, "expected a mapping"),
        (b"", 1, "an empty file"),
    ],
)
def test_a_file_that_cannot_be_read_is_told_with_its_line_and_the_others_are_looked_at(
    call: Call, bad: bytes, line: int | None, said: str
) -> None:
    ended = call(write(bad, "a.yml"), write(BAD, "b.yml"))
    assert ended.code == 2
    head, _, rest = ended.out.partition("b.yml\n")
    assert head.startswith("a.yml\n")
    assert f"{line or '':>5}  error    can't be read" in head
    assert said in head
    assert "one-replica" in rest
    assert "1 can't be read" in rest


def test_a_file_that_is_not_there_and_a_folder_say_what_to_do(call: Call) -> None:
    write(GOOD, "stacks/a.yml")
    ended = call("missing.yml", "stacks")
    assert ended.code == 2
    assert "no such file" in ended.out
    assert "is a folder" in ended.out
    assert "2 files can't be read" in ended.out


def test_a_rule_that_breaks_is_our_fault_and_hides_no_other(call: Call) -> None:
    text = BAD.replace("api:\n", "breaks:\n", 1)
    ended = call(write(text, "a.yml"), write(text, "b.yml"), write(BAD, "c.yml"))
    assert ended.code == 4
    assert ended.out.count("one-replica") == 3
    assert (
        "swarmtest itself broke on a.yml and 1 more: the rule breaks (ZeroDivisionError: one by nothing)" in ended.err
    )


def test_reading_that_breaks_on_one_file_is_our_fault_and_hides_no_other(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = linting.services_of

    def breaks(document: Document) -> Iterator[LintService]:
        if document.files == (Path("a.yml"),):
            raise ZeroDivisionError("one by nothing")
        return reads(document)

    monkeypatch.setattr(linting, "services_of", breaks)
    ended = call(write(BAD, "a.yml"), write(BAD, "b.yml"))
    assert ended.code == 4
    assert ended.out.startswith("b.yml\n")
    assert ended.err == (
        "swarmtest: error: swarmtest itself broke on a.yml: reading (ZeroDivisionError: one by nothing); report it\n"
    )


# ---------------------------------------------------------------- what's read


def test_each_file_is_a_stack_of_its_own(call: Call) -> None:
    ended = call(write(BAD, "a.yml"), write(GOOD, "b.yml"))
    assert "1 error, 1 warning, 1 info in 2 files" in ended.out


def test_several_files_by_c_are_one_stack_in_their_order(call: Call) -> None:
    over = "services:\n  api:\n    deploy:\n      replicas: {}\n"
    write(BAD, "base.yml")
    assert call("-c", "base.yml", "-c", write(over.format(3), "over.yml")).code == 0
    ended = call("-c", write(GOOD, "good.yml"), "--compose-file", write(over.format(1), "over.yml"))
    assert ended.code == 1
    assert ended.out.startswith("over.yml\n    4  error    one-replica\n")


def test_files_of_c_and_others_go_together(call: Call) -> None:
    write("services:\n  api:\n    init: true\n", "c.yml")
    ended = call(write(BAD, "a.yml"), "-c", write(GOOD, "b.yml"), "-c", "c.yml", "--format", "json")
    assert [stack["files"] for stack in json.loads(ended.out)["stacks"]] == [["a.yml"], ["b.yml", "c.yml"]]


def test_a_dash_is_standard_input(call: Call) -> None:
    ended = call("-", stdin=b"\xef\xbb\xbf" + BAD.replace("\n", "\r\n").encode())
    assert ended.code == 1
    assert ended.out.startswith("-\n    3  info     latest-tag")


def test_standard_input_may_be_one_of_several_files(call: Call) -> None:
    write(GOOD)
    assert call("-c", "stack.yml", "-c", "-", stdin="services:\n  api:\n    deploy: {replicas: 1}\n").code == 1


def test_standard_input_that_is_no_text_is_told(call: Call) -> None:
    ended = call("-", stdin=b"\xff\xfe")
    assert ended.code == 2
    assert "standard input isn't UTF-8" in ended.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "name a stack file"),
        (["-c", "a.yml", "b.yml"], "write -c before each file of one stack"),
        (["--fix", "-"], "--diff shows what it would change"),
        (["--before", "a.yml", "b.yml", "c.yml"], "an older version of one stack"),
        (["--target", "kubernetes", "a.yml"], "kubernetes"),
        (["--format", "xml", "a.yml"], "xml"),
        (["--explain", "one-replic"], "did you mean one-replica or fewer-replicas?"),
        (["--explain", "zzz"], "swarmtest list has them all"),
    ],
)
def test_wrong_usage_is_told(call: Call, words: list[str], said: str) -> None:
    ended = call(*words)
    assert ended.code == 2
    assert said in ended.err


def test_values_come_from_the_shell(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    write(BAD.replace("replicas: 1", "replicas: $REPLICAS"))
    monkeypatch.setenv("REPLICAS", "1")
    assert call("stack.yml").code == 1
    monkeypatch.setenv("REPLICAS", "2")
    assert call("stack.yml").code == 0


def test_values_of_an_env_file_are_under_those_of_the_shell(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    write(BAD.replace("replicas: 1", "replicas: $REPLICAS"))
    write("REPLICAS=1\n", "some.env")
    assert call("stack.yml", "--env-file", "some.env").code == 1
    monkeypatch.setenv("REPLICAS", "2")
    assert call("stack.yml", "--env-file", "some.env").code == 0


def test_an_env_file_that_cannot_be_read_is_told(call: Call) -> None:
    ended = call(write(GOOD), "--env-file", write("A=1\n=\n", "some.env"))
    assert ended.code == 2
    assert "some.env:2: expected NAME=value" in ended.err


def test_an_older_version_is_given_to_the_rules(call: Call) -> None:
    write(GOOD.replace("2", "4"), "old.yml")
    ended = call(write(GOOD), "--before", "old.yml", "--fail-on", "info")
    assert ended.code == 1
    assert "api has 2 replicas, and had 4" in ended.out
    assert call("stack.yml", "--before", "-", "--fail-on", "info", stdin=GOOD.replace("2", "5")).code == 1
    assert call("stack.yml", "--before", "stack.yml", "--fail-on", "info").code == 0


def test_an_older_version_that_cannot_be_read_is_told(call: Call) -> None:
    ended = call(write(GOOD), "--before", "missing.yml")
    assert ended.code == 2
    assert ended.out.startswith("missing.yml\n")


# ---------------------------------------------------------------- what's printed


def test_a_page_is_explained(call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(pages, "folder", lambda: tmp_path)
    write("# one-replica\n\nWhat it is.\n", "one-replica.md")
    ended = call("--explain", "one-replica")
    assert (ended.code, ended.out) == (0, "# one-replica\n\nWhat it is.\n")


def test_a_silenced_finding_is_counted_and_fails_nothing(call: Call) -> None:
    text = BAD.replace("replicas: 1", "replicas: 1  # swarmtest: allow one-replica: a batch, nobody waits for it")
    ended = call(write(text))
    assert ended.code == 0
    assert "1 warning, 1 info in 1 file, for swarm · 1 silenced" in ended.out
    assert "    6" not in ended.out


def test_colours_are_for_terminals_and_for_who_asks(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    write(BAD)
    assert "\x1b[" not in call("stack.yml").out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[31m\x1b[1merror" in call("stack.yml").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in call("stack.yml").out


def test_in_a_terminal_the_name_of_a_rule_is_a_link_to_its_page(
    call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write(BAD)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(pages, "folder", lambda: tmp_path)
    link = f"\x1b]8;;file://{tmp_path}/one-replica.md\x1b\\\x1b[1mone-replica\x1b[0m\x1b]8;;\x1b\\"
    assert link in call("stack.yml").out
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b" not in call("stack.yml").out


def test_whoever_stops_reading_stops_no_more_than_that(tmp_path: Path) -> None:
    file = tmp_path / "stack.yml"
    file.write_text("services:\n" + "".join(f"  s{n}: {{image: 's:latest'}}\n" for n in range(3000)))
    command = f"{sys.executable} -m swarmtest lint --format json {file} | head -1"
    ended = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False, env=dict(os.environ)
    )
    assert ended.stderr == ""
    assert ended.stdout == "{\n"
