"""What's only counted is left out of nothing: with a look at every request by itself the same is found."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from _pytest.mark import ParameterSet
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from swarmtest import checks
from swarmtest.events import read_events
from swarmtest.evidence import database
from swarmtest.judge import judge, judge_each, judge_folder, read_requests
from tests.judge.builder import Rollout
from tests.judge.stories import frozen, killed, stopped_by_hand, without_its_dependency
from tests.judge.test_judge import folder_of

STORIES: dict[str, Callable[[], Rollout]] = {
    "clean": Rollout,
    "direct": lambda: Rollout(front_door="direct"),
    "mesh": lambda: Rollout(front_door="mesh"),
    "nothing done": lambda: Rollout(update=False),
    "killed": killed,
    "frozen": frozen,
    "stopped by hand": stopped_by_hand,
    "a dependency off": without_its_dependency,
}


def same(run: Rollout) -> bool:
    """Whether both ways find the same, by every check there is."""
    run.plan["checks"] = checks.check_names()
    given = (run.plan, run.events(), read_requests(run.requests()), run.beside())
    return msgspec.json.encode(judge(*given)) == msgspec.json.encode(judge_each(*given))


@pytest.mark.parametrize("story", STORIES)
def test_a_look_at_every_request_finds_the_same(story: str) -> None:
    run = STORIES[story]()
    assert same(run)
    assert run.judged().losses.plain > 0


@pytest.mark.parametrize("story", ["clean", "direct", "killed", "a dependency off"])
def test_a_folder_and_what_is_in_memory_are_judged_alike(
    story: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DuckDB plans the same statements in another way for a large folder."""
    run = STORIES[story]()
    run.plan["checks"] = checks.check_names()
    folder = folder_of(run, tmp_path / "run")
    inside = judge(run.plan, list(read_events(folder / "events.jsonl")), read_requests(run.requests()))
    assert msgspec.json.encode(judge_folder(folder)) == msgspec.json.encode(inside)
    monkeypatch.setattr(database, "SMALL_BYTES", 0)
    assert msgspec.json.encode(judge_folder(folder)) == msgspec.json.encode(inside)


CHANGES: dict[str, list[object]] = {
    "instance": [None, "", "somebody", "oldtask2".ljust(25, "o"), "10.0.1.11:8000"],
    "echoed": [None, False, True],
    "status": [None, 204, 302, 429, 500, 502, 503],
    "framing": [None, "close", "chunked"],
    "client_outcome": ["closed_unanswered", "closed_in_body", "timed_out", "still_open", "local_error"],
    "attempt": [2],
    "again": ["short-3"],
    "protocol": ["h2", "upload", "download"],
    "matched": [False, True],
    "id": ["short-3", "ab12.burst1-7"],
    "done": [None, 1_000_003.0],
    "sent": [None],
    "kind": ["other"],
    "target": [None, "10.9.9.9:32001"],
}


def each() -> list[ParameterSet]:
    """Every value of every column; all but the first one of a column are left to the long repeats."""
    return [
        pytest.param(name, value, marks=[pytest.mark.repeats] if place else [])
        for name, values in CHANGES.items()
        for place, value in enumerate(values)
    ]


@pytest.mark.parametrize(("name", "value"), each())
def test_a_single_request_that_is_odd_in_one_way_is_seen(name: str, value: object) -> None:
    run = Rollout()
    for row in run.requests()[40:300:130]:
        row[name] = value
    assert same(run)


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    story=st.sampled_from(sorted(STORIES)),
    changes=st.lists(
        st.sampled_from(sorted(CHANGES)).flatmap(
            lambda name: st.tuples(st.just(name), st.sampled_from(CHANGES[name]), st.integers(0, 10_000))
        ),
        max_size=6,
    ),
    losses=st.lists(st.tuples(st.sampled_from(("record", "proxied")), st.integers(2, 60)), max_size=2),
    often=st.integers(1, 400),
)
def test_it_does_so_whatever_is_wrong_with_some_of_them(
    story: str, changes: list[tuple[str, object, int]], losses: list[tuple[str, int]], often: int
) -> None:
    run = STORIES[story]()
    rows = run.requests()
    for name, value, place in changes:
        for row in rows[place % len(rows) :: often]:
            row[name] = value
    for kind, each in losses:
        run.drop(partial(_gone, kind, each))
    assert same(run)


def _gone(kind: str, each: int, event: dict[str, Any]) -> bool:
    return bool(event["kind"] == kind and int(event["t"] * 1000) % each == 0)
