"""``--fix`` changes the lines that are meant, and says what it leaves alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from swarmtest.lint import Certainty, Edit, Finding, Place, Severity, Target
from swarmtest.lint.fixing import fix
from swarmtest.lint.linting import Linted
from tests.calling import Call
from tests.lint.stand_ins import BAD, GOOD

FILE = Path("stack.yml")


def finding(key: tuple[str, ...], value: str | int, file: Path = FILE) -> Finding:
    place = Place(file, 1, key)
    return Finding("a-rule", Severity.ERROR, Certainty.CERTAIN, place, "effect", "fix", Edit(key, value))


def linted(*findings: Finding, files: tuple[Path, ...] = (FILE,)) -> Linted:
    return Linted(files, Target.SWARM, findings)


REPLICAS = ("services", "api", "deploy", "replicas")


def test_it_changes_the_lines_that_are_meant_and_looks_again(call: Call) -> None:
    FILE.write_text(BAD)
    ended = call("stack.yml", "--fix")
    assert FILE.read_text() == BAD.replace("replicas: 1", "replicas: 2").replace("2s  # as", "10s  # as")
    assert ended.code == 0
    assert ended.err.splitlines() == [
        "fixed stack.yml:4: services.api.stop_grace_period [short-grace]",
        "fixed stack.yml:6: services.api.deploy.replicas [one-replica]",
    ]
    assert "one-replica" not in ended.out
    assert "1 info in 1 file" in ended.out


def test_a_byte_order_mark_and_the_ends_of_lines_stay(call: Call) -> None:
    before = b"\xef\xbb\xbf" + BAD.replace("\n", "\r\n").encode()
    FILE.write_bytes(before)
    assert call("stack.yml", "--fix").code == 0
    assert FILE.read_bytes() == before.replace(b"replicas: 1", b"replicas: 2").replace(b": 2s", b": 10s")


def test_diff_shows_a_patch_and_writes_nothing(call: Call) -> None:
    FILE.write_text(BAD)
    ended = call("stack.yml", "--diff")
    assert FILE.read_text() == BAD
    assert ended.code == 1
    assert ended.out == (
        "--- a/stack.yml\n"
        "+++ b/stack.yml\n"
        "@@ -1,6 +1,6 @@\n"
        " services:\n"
        "   api:\n"
        "     image: api:latest\n"
        "-    stop_grace_period: 2s  # as before\n"
        "+    stop_grace_period: 10s  # as before\n"
        "     deploy:\n"
        "-      replicas: 1\n"
        "+      replicas: 2\n"
    )
    assert "would fix stack.yml:6: services.api.deploy.replicas [one-replica]" in ended.err


def test_diff_of_standard_input_is_shown(call: Call) -> None:
    assert "+      replicas: 2\n" in call("-", "--diff", stdin=BAD).out
    assert "+      replicas: 2\r\n" in call("-", "--diff", stdin=BAD.replace("\n", "\r\n")).out


def test_a_patch_is_no_json(call: Call) -> None:
    FILE.write_text(BAD)
    ended = call("stack.yml", "--diff", "--format", "json")
    assert (ended.code, ended.out) == (2, "")
    assert "--diff prints a patch and no json" in ended.err


def test_a_file_that_is_named_twice_is_looked_at_once(call: Call) -> None:
    FILE.write_text(BAD)
    assert call("stack.yml", "stack.yml").out == call("stack.yml").out


def test_diff_of_nothing_to_change_is_empty_and_what_cannot_be_read_is_told(call: Call) -> None:
    FILE.write_text(GOOD)
    ended = call("stack.yml", "missing.yml", "--diff")
    assert (ended.code, ended.out) == (2, "")
    assert "missing.yml: no such file" in ended.err


def test_a_value_by_an_alias_is_left_alone_and_told(call: Call) -> None:
    text = "x-one: &one\n  replicas: 1\nservices:\n  api:\n    image: api:1\n    deploy: *one\n"
    FILE.write_text(text)
    ended = call("stack.yml", "--fix")
    assert FILE.read_text() == text
    assert ended.code == 1
    assert "not fixed: stack.yml:" in ended.err
    assert "alias" in ended.err


def test_a_value_by_a_variable_is_left_alone_and_told(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    text = GOOD.replace("2", "$REPLICAS")
    FILE.write_text(text)
    monkeypatch.setenv("REPLICAS", "1")
    ended = call("stack.yml", "--fix")
    assert FILE.read_text() == text
    assert "the variable REPLICAS" in ended.err


def test_a_silenced_finding_is_not_fixed(call: Call) -> None:
    text = BAD.replace("replicas: 1", "replicas: 1  # swarmtest: allow one-replica: a batch")
    FILE.write_text(text)
    call("stack.yml", "--fix")
    assert "replicas: 1  # swarmtest" in FILE.read_text()


def test_a_file_that_cannot_be_written_is_told(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    FILE.write_text(BAD)

    def refuse(_path: Path, _data: bytes) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "write_bytes", refuse)
    ended = call("stack.yml", "--fix")
    assert ended.code == 2
    assert "can't be written: Permission denied" in ended.err


@pytest.mark.parametrize(("second", "refused"), [(2, 0), (3, 1)])
def test_two_findings_at_one_key_are_done_once_and_two_values_are_not(second: int, refused: int) -> None:
    found = linted(finding(REPLICAS, 2), finding(REPLICAS, second))
    (fixed,) = fix([found], {FILE: BAD})
    assert "replicas: 2\n" in fixed.after
    assert [len(fixed.done), len(fixed.refused)] == [2 - refused, refused]
    assert [reason for _, reason in fixed.refused] == [
        f"{'.'.join(REPLICAS)} is set to 2 for another finding"
    ] * refused


def test_a_second_finding_at_a_key_that_cannot_be_set_is_refused_like_the_first() -> None:
    (fixed,) = fix([linted(*[finding(("services", "api", "image", "name"), "x")] * 2)], {FILE: BAD})
    assert fixed.after == fixed.before
    assert len(fixed.refused) == 2


@pytest.mark.parametrize(("files", "done"), [((FILE,), 1), ((FILE, Path("b.yml")), 0)])
def test_an_item_of_a_list_is_changed_only_where_one_file_makes_it_up(files: tuple[Path, ...], done: int) -> None:
    texts: Mapping[Path, str] = {FILE: "services:\n  api:\n    command: [a, b]\n"}
    (fixed,) = fix([linted(finding(("services", "api", "command", "1"), "c"), files=files)], texts)
    assert len(fixed.done) == done
    assert ("[a, c]" in fixed.after) == bool(done)


def test_a_file_of_two_stacks_is_changed_once() -> None:
    stack = linted(finding(REPLICAS, 2))
    (fixed,) = fix([stack, stack], {FILE: BAD})
    assert fixed.after == BAD.replace("replicas: 1", "replicas: 2")
