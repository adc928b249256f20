"""Sizes of memory and short mounts, as Docker reads them."""

from __future__ import annotations

import pytest

from swarmtest.stack.ports import ports_of
from swarmtest.stack.syntax.sizes import parse_size
from swarmtest.stack.syntax.volumes import ShortMount, short_mount


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("512M", 512 << 20),
        ("512MB", 512 << 20),
        ("1g", 1 << 30),
        ("1.5GiB", 3 << 29),
        ("1 G", 1 << 30),
        ("512", 512),
        ("0.5k", 512),
        ("5 b", 5),
        (64, 64),
        ("1e3m", 1000 << 20),  # Go's numbers, as docker stack config takes them
        ("1_000", 1000),
        ("+.5k", 512),
        ("-0", 0),
    ],
)
def test_sizes(text: object, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "text", ["", "b", "5e", "5iB", "-5m", " 5m", "5m ", "5 5", "1..5m", "50X", "1e400", "-1", "1__0", True, None, 1.5]
)
def test_what_is_no_size_is_refused(text: object) -> None:
    with pytest.raises(ValueError, match="expected a size"):
        parse_size(text)


@pytest.mark.parametrize(
    ("text", "mount"),
    [
        ("/data", ShortMount("volume", "", "/data")),
        ("data:/x", ShortMount("volume", "data", "/x", ("",))),
        ("data:/x:ro,nocopy", ShortMount("volume", "data", "/x", ("ro", "nocopy"))),
        ("./a:/b", ShortMount("bind", "./a", "/b", ("",))),
        ("~/a:/b", ShortMount("bind", "~/a", "/b", ("",))),
        ("C:\\a:/b", ShortMount("bind", "C:\\a", "/b", ("",))),
        ("a:/x", ShortMount("volume", "", "a:/x")),  # a drive of Windows to docker/cli
        ("::", ShortMount("volume", "", "::")),
    ],
)
def test_short_mounts(text: str, mount: ShortMount) -> None:
    assert short_mount(text) == mount


@pytest.mark.parametrize("text", ["", "data:", ":/x", "data::ro", "data:/x:ro:z", "aa:bb:cc:dd"])
def test_what_is_no_mount_is_refused(text: str) -> None:
    assert short_mount(text) is None


def test_a_range_of_ports_has_two_ends_and_what_follows_is_not_looked_at() -> None:
    assert [port.target for port in ports_of("80-82-x")] == [80, 81, 82]


@pytest.mark.parametrize("text", ["65536", "065536", "06553565536", "80-"])
def test_what_is_no_port_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="a port is a number"):
        ports_of(text)
