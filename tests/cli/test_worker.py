"""Where a worker finds its master."""

from __future__ import annotations

import socket

import pytest

from swarmtest.cli.worker import DEFAULT_PORT, address, find
from swarmtest.errors import UsageError


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("10.0.0.5", ("10.0.0.5", DEFAULT_PORT)),
        ("load.example:6000", ("load.example", 6000)),
        ("0.0.0.0:5557", ("0.0.0.0", 5557)),
    ],
)
def test_a_host_stands_alone_or_with_a_port(text: str, found: tuple[str, int]) -> None:
    assert address(text) == found


@pytest.mark.parametrize("text", ["", ":5557", "host:", "host:0", "host:65536", "host:port", "host:-1"])
def test_what_is_no_address_is_refused_with_one_that_is(text: str) -> None:
    with pytest.raises(UsageError, match="expected host:port such as"):
        address(text)


@pytest.mark.parametrize("host", ["a b", "[::1]", "::1", "nobody.invalid", "x" * 300, "a..b"])
def test_a_host_that_nobody_knows_is_not_waited_for(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(UsageError, match="IPv4 address is known"):
        find(host)


def test_an_address_is_known() -> None:
    find("127.0.0.1")
