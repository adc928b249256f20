"""Edits of stack files: one value is another, and every other byte is as it was."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmtest.errors import StackError
from swarmtest.stack.syntax.editing import Edit, diff, edited, read_exactly, write_exactly
from swarmtest.stack.syntax.yamlfile import parse_yaml

FILE = Path("stack.yml")
GRACE = ("services", "api", "stop_grace_period")
DELAY = ("services", "api", "deploy", "update_config", "delay")


def grace(text: str, value: str = "13s") -> str:
    return edited(text, [Edit(GRACE, value, after=("healthcheck", "image"))], FILE)


def delay(text: str, value: str = "5s") -> str:
    return edited(text, [Edit(DELAY, value, after=("parallelism",))], FILE)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("{}30s", "{}13s", id="plain"),
        pytest.param('{}"30s"  # as the bank asks', '{}"13s"  # as the bank asks', id="double quotes, and a comment"),
        pytest.param("{}'30s'", "{}'13s'", id="single quotes"),
        pytest.param("{}&grace 30s", "{}&grace 13s", id="an anchor that nobody uses"),
        pytest.param("{}!override 30s", "{}!override 13s", id="a tag"),
        pytest.param("{}", "{} 13s", id="no value"),
        pytest.param("{} # later", "{} 13s # later", id="no value, and a comment"),
        pytest.param("{}30", "{}13s", id="a number, which Docker would refuse"),
        pytest.param("{}   30s   ", "{}   13s   ", id="odd space"),
    ],
)
def test_a_value_is_replaced_where_it_stands(before: str, after: str) -> None:
    key = "services:\n  api:\n    image: a:1  # one\n    stop_grace_period:"
    rest = "\n    deploy: {replicas: 3}\n  # the end\n"
    space = "" if before == "{}" or before.startswith("{} ") else " "
    text = key + before.format(space) + rest
    assert grace(text) == key + after.format(space) + rest


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "{api: {image: a, stop_grace_period: 30s}}", "{api: {image: a, stop_grace_period: 13s}}", id="set"
        ),
        pytest.param("{api: {image: a}}", "{api: {image: a, stop_grace_period: 13s}}", id="put in"),
        pytest.param("{api: { image: a, }}", "{api: { image: a, stop_grace_period: 13s, }}", id="trailing comma"),
        pytest.param("{api: {}}", "{api: {stop_grace_period: 13s}}", id="an empty mapping"),
        pytest.param("{api: }", "{api: {stop_grace_period: 13s} }", id="no value at all"),
        pytest.param("{api: null}", "{api: {stop_grace_period: 13s}}", id="null"),
        pytest.param('{"api": {"image": "a"}}', '{"api": {"image": "a", "stop_grace_period": "13s"}}', id="as JSON"),
        pytest.param("{api: {x: [1, {b: c}]}}", "{api: {x: [1, {b: c}], stop_grace_period: 13s}}", id="behind a list"),
    ],
)
def test_flow_style_is_kept(before: str, after: str) -> None:
    assert grace(f"services: {before} # all of it\n") == f"services: {after} # all of it\n"


def test_a_new_key_comes_behind_the_one_that_it_belongs_to() -> None:
    text = (
        "services:\n    api:\n        image: a\n        healthcheck:\n            test: [CMD, a]\n"
        "            # interval: 5s\n\n        # how it's deployed\n        deploy:\n            replicas: 3\n"
    )
    key = "        deploy:"
    assert grace(text) == text.replace(
        "            # interval: 5s\n", "            # interval: 5s\n        stop_grace_period: 13s\n"
    )
    assert delay(text) == text + "            update_config:\n                delay: 5s\n"
    assert delay(text.replace(key, "        x: 1\n" + key)).endswith("update_config:\n                delay: 5s\n")


def test_mappings_that_are_missing_are_put_in_as_the_file_indents() -> None:
    text = "services:\n   api:\n      image: a\n   web: {image: b}\n"
    new = "      deploy:\n         update_config:\n            delay: 5s\n"
    assert delay(text) == text.replace("image: a\n", "image: a\n" + new)


def test_a_key_with_nothing_below_it_gets_a_block() -> None:
    text = "services:\n  api:\n    deploy:  # none yet\n    image: a\n"
    assert delay(text) == text.replace("yet\n", "yet\n      update_config:\n        delay: 5s\n")


def test_a_block_of_text_before_a_new_key_stays_as_it_is() -> None:
    text = "services:\n  api:\n    image: a\n    command: |+\n      one\n      two\n\n\n  web:\n    image: b\n"
    new = edited(text, [Edit(GRACE, "13s")], FILE)
    assert new == text.replace("\n\n\n  web", "\n\n\n    stop_grace_period: 13s\n  web")


def test_line_ends_byte_order_mark_and_a_missing_last_line_end_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "stack.yml"
    raw = "\ufeffservices:\r\n  api:\r\n    image: a # ä\r\n    deploy: {replicas: 3}".encode()
    file.write_bytes(raw)
    write_exactly(file, grace(read_exactly(file)))
    assert file.read_bytes() == raw.replace(b"\xa4\r\n", b"\xa4\r\n    stop_grace_period: 13s\r\n")
    write_exactly(file, delay(read_exactly(file), "7s"))
    assert file.read_bytes().endswith(b"{replicas: 3, update_config: {delay: 7s}}")


def test_a_new_last_line_ends_as_the_last_one_did() -> None:
    assert grace("services:\n  api:\n    image: a") == "services:\n  api:\n    image: a\n    stop_grace_period: 13s"


def test_what_a_merge_brings_is_overridden_beside_it() -> None:
    text = "x-all: &all\n  stop_grace_period: 9s\nservices:\n  api:\n    <<: *all\n    image: a\n  b:\n    <<: *all\n"
    assert grace(text) == text.replace("image: a\n", "image: a\n    stop_grace_period: 13s\n")


def test_a_list_that_ends_with_an_alias_is_no_hindrance() -> None:
    text = "x: &word hello\nservices:\n  api:\n    image: a\n    command:\n      - *word\n  # end\n"
    assert edited(text, [Edit(GRACE, "13s")], FILE) == text.replace(
        "- *word\n", "- *word\n    stop_grace_period: 13s\n"
    )


def test_an_item_of_a_list_is_set_by_its_number_and_quoted_where_it_must_be() -> None:
    text = "services:\n  api:\n    ports:\n      - 22:22  # a trap\n      - '80:80'\n"
    path = ("services", "api", "ports", "0")
    assert edited(text, [Edit(path, "22:22")], FILE) == text.replace("- 22:22", '- "22:22"')


@pytest.mark.parametrize(
    ("value", "written"),
    [("on", '"on"'), (3, "3"), (True, "true"), ("1.5", '"1.5"'), ("a b", '"a b"'), ("5m30s", "5m30s")],
)
def test_a_value_reads_back_as_what_it_is(value: str | int, written: str) -> None:
    text = "services:\n  api: {image: a}\n"
    assert edited(text, [Edit(("services", "api", "x"), value)], FILE) == text.replace("a}", f"a, x: {written}}}")


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        pytest.param(
            "x: &g 9s\nservices:\n  api:\n    stop_grace_period: *g\n",
            4,
            "stop_grace_period is an alias of what's written in line 1",
            id="an alias",
        ),
        pytest.param(
            "x-d: &d\n  a: 1\nservices:\n  b: &b\n    stop_grace_period: 9s\n  api: *b\n",
            6,
            "services.api is an alias of what's written in line 4",
            id="an alias of a service",
        ),
        pytest.param(
            "services:\n  api:\n    stop_grace_period: ${GRACE:-9s}\n", 3, "from the variable GRACE", id="a variable"
        ),
        pytest.param(
            "services:\n  api: &api\n    stop_grace_period: 9s\n  worker:\n    <<: *api\n",
            3,
            "services.worker.stop_grace_period would change too",
            id="an anchor that a merge uses",
        ),
        pytest.param(
            "services:\n  api:\n    stop_grace_period: &g 9s\n  b:\n    stop_grace_period: *g\n",
            3,
            "services.b.stop_grace_period would change too",
            id="an anchor that an alias uses",
        ),
        pytest.param("services:\n  api:\n    stop_grace_period: [9s]\n", 3, "isn't a single value", id="a list"),
        pytest.param(
            "services:\n  api:\n    stop_grace_period: |\n      9s\n", 3, "isn't a single value", id="a block"
        ),
        pytest.param("services:\n  - api\n", 2, "no mapping", id="no mapping"),
        pytest.param("", None, "no mapping", id="an empty file"),
    ],
)
def test_what_others_share_is_refused_with_its_place(text: str, line: int | None, problem: str) -> None:
    with pytest.raises(StackError, match=problem.replace(".", r"\.")) as caught:
        grace(text)
    assert (caught.value.line, caught.value.key) == (line, ".".join(GRACE))


def test_a_mapping_that_is_merged_isnt_hidden_by_a_small_one() -> None:
    text = "x-all: &all\n  deploy: {replicas: 3}\nservices:\n  api:\n    <<: [*all]\n    image: a\n"
    with pytest.raises(StackError, match="deploy is merged from what's written in line 2"):
        delay(text)


def test_a_doubled_dollar_is_no_variable() -> None:
    text = "services:\n  api:\n    stop_grace_period: $$HOME\n"
    assert grace(text) == text.replace("$$HOME", "13s")


def test_an_edit_that_changes_nothing_changes_no_byte() -> None:
    text = "services:\n  api:\n    stop_grace_period:   '13s'\n"
    assert grace(text) == text
    assert diff(text, text, FILE) == ""


def test_the_diff_can_be_applied_by_patch() -> None:
    before = "services:\n  api:\n    stop_grace_period: 30s"
    assert diff(before, grace(before), FILE) == (
        "--- a/stack.yml\n+++ b/stack.yml\n@@ -1,3 +1,3 @@\n services:\n   api:\n"
        "-    stop_grace_period: 30s\n\\ No newline at end of file\n"
        "+    stop_grace_period: 13s\n\\ No newline at end of file\n"
    )


def test_a_file_by_its_whole_path_is_named_so_that_patch_finds_it() -> None:
    before = "services:\n  api:\n    stop_grace_period: 30s\n"
    assert diff(before, grace(before), Path("/srv/stack.yml")).startswith("--- a/srv/stack.yml\n+++ b/srv/stack.yml\n")


OTHERS = st.lists(
    st.sampled_from(
        [
            "image: a",
            "deploy: {replicas: 3}",
            "deploy:\n      update_config: {order: start-first}",
            "command: >-\n      one\n      two",
            "environment:\n      A: 'b # c'\n      # D: e",
            "labels: [x, *x]",
            "ports:\n    - 80:80\n    -  '443:443'",
            "user: *x",
        ]
    ),
    unique_by=lambda text: text.split(":")[0],
    max_size=6,
)


@given(before=OTHERS, behind=OTHERS, line_end=st.sampled_from(["\n", "\r\n"]), last=st.booleans())
def test_whatever_stands_around_it_only_that_value_changes(
    before: list[str], behind: list[str], line_end: str, last: bool
) -> None:
    keys = {text.split(":")[0]: text for text in [*before, *behind]}
    text = "x-x: &x one\nservices:\n  api:\n    x-first: 1\n" + "".join(f"    {body}\n" for body in keys.values())
    text += "" if last else "  # the others\n  web:\n    image: b\n"
    text = text.replace("\n", line_end)
    new = grace(text)
    wanted = parse_yaml(text, FILE).tree
    wanted["services"]["api"]["stop_grace_period"] = "13s"
    assert parse_yaml(new, FILE).tree == wanted
    added = f"    stop_grace_period: 13s{line_end}"
    assert new.replace(added, "", 1) == text
    assert grace(new, "14s") == new.replace("13s", "14s")
