"""Where a worker finds its master."""

from __future__ import annotations

import pytest

from swarmtest.cli.worker import DEFAULT_PORT, address
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
