"""What the block says for faults: what's released, what's switched off, and how much may be lost."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

from swarmtest.errors import StackError, UsageError
from swarmtest.stack.block.brief import Brief, Overrides, read_brief
from swarmtest.stack.block.wishes import StopAt, parse_stop_at, stop_at_flag
from swarmtest.stack.services import read_stack

SERVICES = """\
services:
  api: {image: demo}
  bank: {image: demo}
  edge: {image: proxy, ports: [{target: 80, published: 8080, mode: host}]}
  agent: {image: demo, deploy: {mode: global}}
  cold: {image: demo, deploy: {replicas: 0}}
"""


def brief(folder: Path, about: str, **flags: Any) -> Brief:
    file = folder / "stack.yml"
    file.write_text(SERVICES + "x-swarmtest:\n  service: api\n" + textwrap.indent(textwrap.dedent(about), "  "))
    return read_brief(read_stack(file, {}), Overrides(**flags))


def refused(folder: Path, about: str) -> StackError:
    with pytest.raises(StackError) as caught:
        brief(folder, about)
    return caught.value


def test_a_block_that_says_nothing_wishes_nothing_and_stops_at_5_percent(tmp_path: Path) -> None:
    read = brief(tmp_path, "")
    assert (read.wishes, read.stop_at) == ({}, StopAt(0.05, 5.0))


@pytest.mark.parametrize(
    ("about", "image", "environment"),
    [
        ("release: api:2", "api:2", {}),
        ("release: {image: 'api:2'}", "api:2", {}),
        ("release: {environment: {A: b, N: 3, EMPTY: }}", None, {"A": "b", "N": "3", "EMPTY": ""}),
        ("release: {image: 'api:2', environment: ['A=b=c', 'D=']}", "api:2", {"A": "b=c", "D": ""}),
    ],
)
def test_the_version_to_release_is_an_image_or_variables_or_both(
    about: str, image: str | None, environment: dict[str, str], tmp_path: Path
) -> None:
    assert brief(tmp_path, about).wishes == {"release": {"image": image, "environment": environment}}


@pytest.mark.parametrize(
    ("about", "key", "words"),
    [
        ("release: {}", "release", "found neither"),
        ("release: ''", "release", "found neither"),
        ("release: 3", "release", "expected an image, or a mapping such as"),
        ("release: [a]", "release", "expected an image, or a mapping such as"),
        ("release: {tag: 2}", "release.tag", "known keys: image, environment"),
        ("release: {images: a}", "release.images", "did you mean image?"),
        ("release: a b", "release.image", "expected an image such as api:2"),
        ("release: {environment: A}", "release.environment", "a mapping or a list"),
        ("release: {environment: [A]}", "release.environment", "list of NAME=value, found 'A' in it"),
        ("release: {environment: {'a b': c}}", "release.environment", "name of a variable"),
        ("release: {environment: {A: true}}", "release.environment", "A: expected a text or a number, found True"),
        ("dependency: api", "dependency", "can't be its own dependency"),
        ("dependency: bonk", "dependency", "there are: bank, edge, agent, cold"),
        ("dependency: agent", "dependency", "isn't replicated"),
        ("dependency: cold", "dependency", "cold has no replica, so it can't be switched off"),
        ("dependency: edge", "dependency", "edge is the front door"),
        ("dependency: [bank]", "dependency", "expected a text"),
        ("stop_at: 5", "stop_at", '"5%/5s", or "off", found 5'),
        ("stop_at: false", "stop_at", "found False"),
    ],
)
def test_what_cannot_be_is_refused_with_its_line_and_key(about: str, key: str, words: str, tmp_path: Path) -> None:
    error = refused(tmp_path, about)
    assert error.key == f"x-swarmtest.{key}"
    assert error.line == 9
    assert words in str(error)


def test_the_dependency_is_another_service(tmp_path: Path) -> None:
    assert brief(tmp_path, "dependency: bank").wishes == {"dependency": "bank"}


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("5%/5s", StopAt(0.05, 5.0)),
        ("0.5%/1m", StopAt(0.005, 60.0)),
        (" 100 % / 1s ", StopAt(1.0, 1.0)),
        ("off", None),
        ("OFF", None),
    ],
)
def test_a_limit_is_a_share_over_a_time_or_off(text: str, limit: StopAt | None, tmp_path: Path) -> None:
    assert parse_stop_at(text) == stop_at_flag(text) == limit
    assert brief(tmp_path, f"stop_at: '{text}'").stop_at == limit


@pytest.mark.parametrize(
    "text",
    ["", "5", "5%", "5%/5", "5/5s", "0%/5s", "101%/5s", "5%/0s", "5%/-5s", "5%/500ms", "-1%/5s", "none", "5%/1d"],
)
def test_a_limit_that_cannot_be_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r'^--stop-at: expected a share and a duration such as "5%/5s", or "off"'):
        stop_at_flag(text)


def test_the_flag_wins_over_the_file(tmp_path: Path) -> None:
    assert brief(tmp_path, "stop_at: off", stop_at="10%/2s").stop_at == StopAt(0.1, 2.0)
    assert brief(tmp_path, "stop_at: 10%/2s", stop_at="off").stop_at is None
