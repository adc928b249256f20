"""What's to be added where evidence is missing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from swarmtest.losses import missing
from swarmtest.timeline import Timeline


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "had a hole here"),
        ({"outcome": "interrupted", "skipped": ("x",)}, "it was interrupted"),
        ({"outcome": "failed", "broken": ("x",)}, "what broke it off"),
        ({"broken": ("x",), "skipped": ("x",)}, "had a hole here"),
        ({"stopped_by_guard": "6 % lost", "skipped": ("x",)}, "--stop-at"),
        ({"skipped": ("x",)}, "more replicas"),
    ],
)
def test_what_another_run_needs_is_what_this_one_lacked(changes: dict[str, object], said: str) -> None:
    """A hole in the view is only one of many reasons why nothing was hurt."""
    timeline = {"outcome": "finished", "broken": (), "stopped_by_guard": None, "skipped": (), **changes}
    found = cast("Timeline", SimpleNamespace(**timeline))
    assert said in missing.again(found)
    assert (missing.again(found, "else") == "else") is (not changes)
