"""What's sent: a plain path is enough, and what's wrong with one is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from swarmtest.errors import StackError
from swarmtest.stack.block.brief import Brief, read_brief
from swarmtest.stack.services import read_stack


def brief(folder: Path, traffic: str) -> Brief:
    file = folder / "stack.yml"
    file.write_text(f"services: {{web: {{image: demo, ports: ['8080:80']}}}}\nx-swarmtest:\n  traffic: {traffic}\n")
    return read_brief(read_stack(file, {}))


@pytest.mark.parametrize("traffic", ["/orders", "{path: /orders}", '"/orders"', "{kinds: {get: {path: /orders}}}"])
def test_a_plain_path_is_enough(tmp_path: Path, traffic: str) -> None:
    (kind,) = brief(tmp_path, traffic).kinds
    assert (kind.name, kind.method, kind.path, kind.rate) == ("get", "GET", "/orders", 20.0)


@pytest.mark.parametrize(
    ("traffic", "message"),
    [
        ("orders", "expected a path that begins with / and has no spaces (%20), found 'orders'"),
        ("/my orders", "expected a path that begins with / and has no spaces (%20), found '/my orders'"),
        ("http://shop.example/", "expected a path that begins with /"),
        ("[/a, /b]", "expected a path such as /orders, or a mapping, found ['/a', '/b']"),
        ("17", "expected a path such as /orders, or a mapping, found 17"),
        ("{paht: /a}", "did you mean path?"),
    ],
)
def test_what_is_no_path_is_refused_with_its_line(tmp_path: Path, traffic: str, message: str) -> None:
    with pytest.raises(StackError) as caught:
        brief(tmp_path, traffic)
    assert message in str(caught.value)
    assert caught.value.line == 3
