"""Limits in the block and on the command line, with the place of each mistake."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from swarmtest.errors import StackError, UsageError
from swarmtest.stack.block.brief import Brief, Overrides, read_brief
from swarmtest.stack.services import read_stack

HEAD = """\
services: {api: {image: demo, ports: ["8080:80"]}}
x-swarmtest:
  traffic: {kinds: {short: {path: /a}, long: {path: /b}, ws: {protocol: websocket}}}
"""


def brief(folder: Path, limits: str, *flags: str) -> Brief:
    file = folder / "stack.yml"
    file.write_text(HEAD + textwrap.indent(textwrap.dedent(limits), "  "))
    return read_brief(read_stack(file, {}), Overrides(limits=flags))


def test_a_limit_is_a_line_or_a_mapping_and_the_command_line_adds_its_own(tmp_path: Path) -> None:
    read = brief(
        tmp_path,
        """\
        limits:
          - p99 of short < 800ms
          - {limit: lost <= 5, abort: true, scenarios: orderly}
          - {limit: refused = 0, scenarios: [rolling, kill]}
        """,
        "max < 3s",
    )
    limits = [asked.limit for asked in read.limits]
    assert [limit.text for limit in limits] == ["p99 of short < 800ms", "lost <= 5", "refused = 0", "max < 3s"]
    assert [limit.abort for limit in limits] == [False, True, False, False]
    assert [limit.scenarios for limit in limits] == [(), ("orderly",), ("rolling", "kill"), ()]


def test_without_any_there_are_none(tmp_path: Path) -> None:
    assert brief(tmp_path, "").limits == ()
    assert brief(tmp_path, "limits: []").limits == ()


@pytest.mark.parametrize(
    ("limits", "line", "message"),
    [
        ("limits: p99 < 1s", 4, "expected a list of limits such as"),
        ("limits:\n  - p99 < 1s\n  - p99 < 800", 6, "did you mean 800ms?"),
        ("limits:\n  - p99: 800ms", 5, "expected a limit such as"),
        ("limits:\n  - 17", 5, "expected a limit such as"),
        ("limits:\n  - limit: lots = 0\n    abort: true", 5, "did you mean lost?"),
        ("limits:\n  - limit: lost = 0\n    abrt: true", 6, "did you mean abort?"),
        ("limits:\n  - limit: lost = 0\n    abort: maybe", 6, "expected true or false, found 'maybe'"),
        ("limits:\n  - limit: cut = 0\n    abort: true", 6, "only known when the run is judged"),
        ("limits:\n  - limit: lost = 0\n    scenarios: 3", 6, "expected names of scenarios"),
        ("limits:\n  - lost of ws = 0", 5, "ws sends no requests but holds streams open"),
        ("limits:\n  - limit: success per second >= 30\n    abort: true", 6, "a share such as 99% can"),
        ("limits:\n  - lost of shrt = 0", 5, "no kind of traffic is called 'shrt'; did you mean short?"),
        ("limits:\n  - lost = 0\n  - lost  =  0", 6, "it's there twice"),
    ],
)
def test_a_mistake_is_shown_with_its_line(tmp_path: Path, limits: str, line: int, message: str) -> None:
    with pytest.raises(StackError) as caught:
        brief(tmp_path, limits)
    assert message in str(caught.value)
    assert caught.value.line == line, str(caught.value)


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        ("p99 < 800", "--limit 'p99 < 800': expected a time such as 800ms or 1.5s, found '800'; did you mean 800ms?"),
        ("lost of shrt = 0", "--limit 'lost of shrt = 0': no kind of traffic is called 'shrt'; did you mean short?"),
    ],
)
def test_a_mistake_of_the_command_line_names_the_flag(tmp_path: Path, flag: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        brief(tmp_path, "", flag)
    assert str(caught.value) == message
