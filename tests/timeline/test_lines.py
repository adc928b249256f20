"""What stands in other people's log lines never breaks the judging off, and never says more."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from swarmtest.events import Event
from swarmtest.judge import judge, read_requests
from swarmtest.timeline.lines import sound
from tests.judge.builder import Rollout

ODD = ("17", "x", "", None, 3.5, -1, 10**30, True, [], [1], {}, {"a": 1}, "nan", "0.004, 0.010")
FIELDS = {
    "record": ("seq", "request_id", "instance", "status", "node", "event"),
    "proxied": ("request_id", "status", "server", "connected", "termination", "duration_ms", "duration_s", "node"),
    "names": ("since", "name", "addresses", "node"),
}


def read_differently(kind: str, name: str) -> list[object]:
    """Of the odd values those that aren't read as another one is; what's read alike is judged alike."""
    return list({repr(sound(Event(1.0, kind, {name: odd})).get(name)): odd for odd in ODD}.values())


EVERY_FIELD = pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, names in FIELDS.items() for name in names]
)


def assert_judged(kind: str, name: str, odd: Callable[[list[int]], Mapping[int, object]]) -> None:
    """Whatever stands in a field of some lines, by their places, a lost request is found, and no check breaks."""
    run = Rollout(2)
    run.rates = {"short": 3.0, "long": 2.0}
    run.bad_gateway("refused", 4.0, 4.02, run.old[0])
    events = run.events()
    changed = odd([place for place, event in enumerate(events) if event.kind == kind])
    odder = [
        Event(event.t, kind, {**event.data, name: changed[place]}) if place in changed else event
        for place, event in enumerate(events)
    ]
    document = judge(run.plan, odder, read_requests(run.requests()))
    assert document.outcome == "failed"
    assert not [check for check in document.checks if "itself broke" in check.sentence]


@EVERY_FIELD
def test_no_field_of_some_log_lines_breaks_the_judging(kind: str, name: str) -> None:
    assert_judged(kind, name, lambda places: dict(zip(places, ODD, strict=False)))


@EVERY_FIELD
def test_a_field_that_no_line_has_breaks_no_judging(kind: str, name: str) -> None:
    assert_judged(kind, name, dict.fromkeys)


@pytest.mark.repeats
@EVERY_FIELD
def test_no_field_of_all_log_lines_breaks_the_judging(kind: str, name: str) -> None:
    for value in read_differently(kind, name):
        assert_judged(kind, name, lambda places, value=value: dict.fromkeys(places, value))


@pytest.mark.parametrize(
    ("kind", "field", "written", "read"),
    [
        ("record", "seq", "17", 17),
        ("record", "seq", 17.0, None),
        ("record", "request_id", 17, "17"),
        ("record", "request_id", ["17"], None),
        ("proxied", "duration_s", "0.004, 0.010", 0.01),
        ("proxied", "duration_s", "-", None),
        ("proxied", "duration_ms", "nan", None),
        ("names", "addresses", "10.0.0.1", []),
    ],
)
def test_a_field_is_what_its_type_says_or_missing(kind: str, field: str, written: Any, read: Any) -> None:
    assert sound(Event(1.0, kind, {field: written})).get(field) == read


def test_a_program_s_own_word_for_its_node_is_not_swarm_s() -> None:
    assert sound(Event(1.0, "record", {"node": "worker-1"})).get("node") is None


def test_huge_sequence_numbers_cost_no_memory() -> None:
    run = Rollout(1)
    events = [
        Event(event.t, event.kind, {**event.data, "seq": int(event.t * 1e9)}) if event.kind == "record" else event
        for event in run.events()
    ]
    judge(run.plan, events, read_requests(run.requests()))
