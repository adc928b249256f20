"""What's to be added where evidence is missing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from swarmtest.losses import Losses, missing
from swarmtest.timeline import Timeline


def made(**changes: object) -> Timeline:
    """A timeline of a run that came to its end, but for what's changed."""
    whole = {"outcome": "finished", "outcome_error": None, "broken": (), "stopped_by_guard": None, "skipped": ()}
    return cast("Timeline", SimpleNamespace(**{**whole, **changes}))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "had a hole here"),
        ({"outcome": "interrupted", "skipped": ("x",)}, "it was interrupted"),
        ({"outcome": "interrupted", "outcome_error": "killed; healed by swarmtest recover"}, "it was killed"),
        ({"outcome": None}, "it was killed"),
        ({"outcome": "failed", "broken": ("x",)}, "what broke it off"),
        ({"broken": ("x",), "skipped": ("x",)}, "had a hole here"),
        ({"stopped_by_guard": "6 % lost", "skipped": ("x",)}, "--stop-at"),
        ({"skipped": ("x",)}, "more replicas"),
    ],
)
def test_what_another_run_needs_is_what_this_one_lacked(changes: dict[str, object], said: str) -> None:
    """A hole in the view is only one of many reasons why nothing was hurt."""
    found = made(**changes)
    assert said in missing.again(found)
    assert (missing.again(found, "else") == "else") is (not changes)


@pytest.mark.parametrize(
    ("reason", "gaps", "said"),
    [
        ("no request was answered before the rollout, so …", (), "let the app answer"),
        ("no request was answered before the rollout, so …", ("x",), "had a hole here"),
        ("no instance logs the start of a request", (), "write the line start"),
        ("a sequence number is missing", (), "number all lines"),
    ],
)
def test_records_that_cannot_be_trusted_name_what_is_in_the_way(reason: str, gaps: tuple[str, ...], said: str) -> None:
    losses = cast("Losses", SimpleNamespace(records=SimpleNamespace(reason=reason, gaps=gaps)))
    assert said in missing.to_trust(losses, made())
