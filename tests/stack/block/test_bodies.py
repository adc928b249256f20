"""Sizes as Docker writes them, and what a kind of large bodies may say."""

from __future__ import annotations

from pathlib import Path

import pytest

from swarmtest.errors import StackError
from swarmtest.stack.block.bodies import LargeBody, parse_size
from swarmtest.stack.block.brief import read_brief
from swarmtest.stack.block.kinds import Kind
from swarmtest.stack.services import read_stack


@pytest.mark.parametrize(
    ("text", "size"),
    [("512", 512), (512, 512), ("64k", 65536), ("4MB", 4194304), ("1.5 g", 1610612736), ("2KiB", 2048), ("7b", 7)],
)
def test_sizes_are_read_as_docker_reads_them(text: object, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "MB", "4 megabytes", "-1k", True, "4,5m", None])
def test_what_is_no_size_is_refused_with_an_example(text: object) -> None:
    with pytest.raises(ValueError, match='such as "4MB"'):
        parse_size(text)


def kind(tmp_path: Path, keys: str) -> Kind:
    file = tmp_path / "stack.yml"
    services = 'version: "3.8"\nservices:\n  api: {image: api, ports: ["80:80"]}\n'
    file.write_text(f"x-swarmtest:\n  traffic:\n    kinds:\n      a: {{{keys}}}\n{services}")
    return read_brief(read_stack(file, {})).kinds[0]


def test_an_upload_is_a_post_of_four_megabytes_unless_it_says_otherwise(tmp_path: Path) -> None:
    plain = kind(tmp_path, "protocol: upload")
    assert (plain.method, plain.large) == ("POST", LargeBody(4194304))
    other = kind(tmp_path, "protocol: upload, method: PUT, bytes: 1m, chunk: 4k")
    assert (other.method, other.large) == ("PUT", LargeBody(1048576, 4096))


def test_a_download_has_any_length_unless_it_is_known(tmp_path: Path) -> None:
    assert kind(tmp_path, "protocol: download").large == LargeBody(None)
    known = kind(tmp_path, f"protocol: download, bytes: 1k, sha256: {'AB' * 32}")
    assert known.large == LargeBody(1024, sha256="ab" * 32)


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ("protocol: upload, bytes: much", "expected a size such as"),
        ("protocol: upload, bytes: 0", "expected a size from 1 "),
        ("protocol: upload, chunk: 1b", "expected a size from 1,024 "),
        ("protocol: download, sha256: abc", "64 hex digits"),
        ("protocol: download, chunk: 4k", "says nothing to a kind with the protocol download"),
        ("protocol: upload, body_bytes: 9", "says nothing to a kind with the protocol upload"),
        ("bytes: 4MB", "says nothing to a kind with the protocol http1"),
    ],
)
def test_what_a_kind_cannot_be_is_refused_at_its_key(tmp_path: Path, keys: str, problem: str) -> None:
    with pytest.raises(StackError, match=problem):
        kind(tmp_path, keys)
