"""Reading stack files: as Docker reads them, and never with a traceback."""

from __future__ import annotations

import contextlib
import textwrap
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from swarmtest.errors import StackError
from swarmtest.stack.composefile import ComposeFile, read_compose_file

any_text = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def read(folder: Path, text: str | bytes, **environment: str) -> ComposeFile:
    file = folder / "stack.yml"
    file.write_bytes(text if isinstance(text, bytes) else textwrap.dedent(text).encode())
    return read_compose_file(file, environment)


def problem(folder: Path, text: str | bytes, **environment: str) -> StackError:
    with pytest.raises(StackError) as caught:
        read(folder, text, **environment)
    assert str(caught.value).startswith(str(folder / "stack.yml"))
    return caught.value


def test_unquoted_ports_are_not_numbers_of_base_60(tmp_path: Path) -> None:
    # docker/compose #103, yaml/pyyaml #272
    tree = read(tmp_path, "ports: [2122:22, 22:22, 8080:80]").tree
    assert tree["ports"] == ["2122:22", "22:22", "8080:80"]


def test_the_short_words_of_yaml_1_1_stay_text(tmp_path: Path) -> None:
    tree = read(tmp_path, "{a: on, b: off, c: y, d: n, e: true, f: False, g: 2026-11-29, h: =, yes: 1}").tree
    expected = {"a": "on", "b": "off", "c": "y", "d": "n", "e": True, "f": False, "g": "2026-11-29", "h": "=", "yes": 1}
    assert tree == expected


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("17", 17),
        ("-3", -3),
        ("0x1F", 31),
        ("0o17", 15),
        ("017", 15),
        ("08", 8.0),
        ("1_000", 1000),
        ("1.50", 1.5),
        ("3.10", 3.1),
        ("'3.10'", "3.10"),
        ("~", None),
    ],
)
def test_numbers_are_read_as_docker_reads_them(tmp_path: Path, written: str, value: Any) -> None:
    assert read(tmp_path, f"a: {written}").tree["a"] == value


def test_reset_means_absent_and_override_gives_the_value_below(tmp_path: Path) -> None:
    # testcontainers/testcontainers-java #7919, netdisco/netdisco-docker #92
    tree = read(
        tmp_path,
        """\
        services:
          web:
            build: !reset null
            ports: !override
              - "8080:80"
            deploy: !override {replicas: 2}
            read_only: !override true
        """,
    ).tree
    assert tree["services"]["web"] == {
        "build": None,
        "ports": ["8080:80"],
        "deploy": {"replicas": 2},
        "read_only": True,
    }


def test_merges_and_anchors_are_followed(tmp_path: Path) -> None:
    tree = read(tmp_path, "x-a: &a {one: 1, two: 2}\nb: {<<: *a, two: 3}\n").tree
    assert tree["b"] == {"one": 1, "two": 3}


def test_variables_are_replaced_as_stack_deploy_does(tmp_path: Path) -> None:
    # moby/moby #29133, docker/for-linux #114, docker/cli #2075
    (tmp_path / ".env").write_text("N=1\n")
    file = read(
        tmp_path,
        """\
        x-hc: &hc {interval: "${HC_INTERVAL:-7s}", retries: "${HC_RETRIES:-4}"}
        services:
          web:
            image: "${REG-demo}/web:${TAG:-1.0-rc}"
            command: sh -c 'echo $PORT; exec node s.js'
            healthcheck: {<<: *hc, test: "curl -f http://127.0.0.1:$${PORT}/h || exit 1"}
            deploy: {replicas: "${N:-3}"}
        """,
    )
    web = file.tree["services"]["web"]
    assert web["image"] == "demo/web:1.0-rc"
    assert web["healthcheck"] == {
        "interval": "7s",
        "retries": "4",
        "test": "curl -f http://127.0.0.1:${PORT}/h || exit 1",
    }
    assert web["deploy"]["replicas"] == "3"
    assert web["command"] == "sh -c 'echo ; exec node s.js'"
    assert file.unset == ("PORT",)


@pytest.mark.parametrize(
    ("written", "environment", "value"),
    [
        ("${A-x}", {"A": ""}, ""),
        ("${A:-x}", {"A": ""}, "x"),
        ("${A:-}", {}, ""),
        ("$A-x", {}, "x"),
        ("${A?no}", {"A": "y"}, "y"),
        ("$A$B", {"A": "1", "B": "2"}, "12"),
        ("$$A", {"A": "1"}, "$A"),
        ("${A}", {"A": "$B"}, "$B"),
    ],
)
def test_each_operator_of_a_variable(tmp_path: Path, written: str, environment: dict[str, str], value: str) -> None:
    assert read(tmp_path, f"services: {{a: '{written}'}}", **environment).tree["services"]["a"] == value


def test_a_required_variable_that_is_not_set_is_named_with_its_line(tmp_path: Path) -> None:
    error = problem(tmp_path, "services:\n  web:\n    image: demo:${TAG:?give a tag}\n", TAG="")
    assert (error.line, error.key) == (3, "services.web.image")
    assert "TAG" in error.problem
    assert "give a tag" in error.problem


@pytest.mark.parametrize("written", ["$1", "cost: 5$", "${}", "${A B}", "${A", "$-", "${A+x}", "${A:+x}"])
def test_a_dollar_sign_that_docker_refuses_is_refused(tmp_path: Path, written: str) -> None:
    error = problem(tmp_path, f"services:\n  web:\n    command: '{written}'\n")
    assert (error.line, error.key) == (3, "services.web.command")
    assert "$$" in error.problem


def test_a_dollar_sign_outside_of_what_docker_replaces_is_let_be(tmp_path: Path) -> None:
    assert read(tmp_path, "x-note: costs 5$\nservices: {}\n").tree["x-note"] == "costs 5$"


def test_a_key_that_is_no_text_is_refused_as_docker_does(tmp_path: Path) -> None:
    error = problem(tmp_path, "services:\n  1: {image: a}\n")
    assert (error.line, error.key) == (1, "services")
    assert "quotes" in error.problem
    assert read(tmp_path, "x-other: {1: a}").tree["x-other"] == {"1": "a"}


def test_a_bom_is_no_part_of_the_first_key(tmp_path: Path) -> None:
    assert list(read(tmp_path, b"\xef\xbb\xbfservices: {}\n").tree) == ["services"]


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (b"", 1, "an empty file"),
        (b"# nothing\n", 1, "an empty file"),
        (b"- a\n- b\n", 1, "a list"),
        (b"hello\n", 1, "'hello'"),
        (b"services:\n\tweb: {}\n", 2, "cannot start any token"),
        (b"services:\n  web: {\n", 3, "expected"),
        (b"a: 1\n b: 2\n", 2, "mapping values are not allowed"),
        (b"a: 'x\n", 2, "found unexpected end of stream"),
        (b"a: 1\n---\nb: 2\n", 2, "another document"),
        (b"a: *nobody\n", 1, "nobody"),
        (b"a: 1\nb: \x00\n", 2, "character"),
        (b"\xff\xfea\x00", None, "UTF-8"),
        (b"a: 1\nb: &b [*b]\n", 2, "holds itself"),
        (b"a: &a\n  <<: *a\n", 1, "holds itself"),
        (b"a: &a {b: {c: *a}}\n", 1, "holds itself"),
        (b'a: 1\nb: "\\ud800"\n', 2, "UTF-16"),
        (b"a: !!timestamp soon\n", None, "not valid YAML"),
        (b"a: !!int ''\n", None, "not valid YAML"),
        (b"a: !!bool maybe\n", None, "not valid YAML"),
        (b"a: !!float one\n", None, "not valid YAML"),
        (b"a: !!python/object:os.system x\n", 1, "could not determine a constructor"),
        (b"? [a]\n: b\n", 1, "unhashable key"),
        (b"a: " + b"[" * 3000 + b"]" * 3000, None, "nested too deep"),
    ],
)
def test_what_is_no_stack_file_is_said_in_one_message_with_its_line(
    tmp_path: Path, text: bytes, line: int | None, said: str
) -> None:
    error = problem(tmp_path, text)
    assert said in error.problem
    assert error.line == line


def test_nested_anchors_that_hold_billions_of_values_are_refused_at_once(tmp_path: Path) -> None:
    laughs = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    laughs += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    assert "aliases" in problem(tmp_path, "\n".join(laughs)).problem


def test_a_path_that_is_no_file_says_what_it_is(tmp_path: Path) -> None:
    for path, said in ((tmp_path, "is a folder"), (tmp_path / "no.yml", "no such file")):
        with pytest.raises(StackError, match=said):
            read_compose_file(path, {})
    with pytest.raises(StackError, match="can't be read"):
        read_compose_file(tmp_path / ("x" * 300), {})


def test_an_error_at_an_unknown_key_points_at_the_nearest_one_above(tmp_path: Path) -> None:
    error = read(tmp_path, "services:\n  web:\n    image: a\n").error("what?", "services", "web", "deploy", "mode")
    assert (error.line, error.key) == (2, "services.web.deploy.mode")
    assert str(error) == f"{tmp_path / 'stack.yml'}:2: services.web.deploy.mode: what?"


yaml_like = st.text(alphabet="ab:[]{}-,&*!#|>'\"%@`?<=~01.$\\ \n\tux\ud7ff\x00", max_size=80)


@any_text
@given(st.one_of(st.text(), yaml_like))
def test_any_text_is_a_file_or_a_stack_error(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    with contextlib.suppress(StackError):
        read(tmp_path_factory.getbasetemp(), text.encode())


@any_text
@given(st.binary())
def test_any_bytes_are_a_file_or_a_stack_error(tmp_path_factory: pytest.TempPathFactory, text: bytes) -> None:
    with contextlib.suppress(StackError):
        read(tmp_path_factory.getbasetemp(), text)
