"""What stands in other people's log lines never breaks the judging off, and never says more."""

from __future__ import annotations

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


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in FIELDS.items() for name in names])
def test_no_field_of_a_log_line_breaks_the_judging(kind: str, name: str) -> None:
    run = Rollout(2)
    run.rates = {"short": 3.0, "long": 2.0}
    run.bad_gateway("refused", 4.0, 4.02, run.old[0])
    events, requests = run.events(), read_requests(run.requests())
    places = [place for place, event in enumerate(events) if event.kind == kind]
    everywhere = [dict.fromkeys(places, odd) for odd in read_differently(kind, name)]
    here_and_there = dict(zip(places, ODD, strict=False))
    for changed in (*everywhere, here_and_there):
        odder = [
            Event(event.t, kind, {**event.data, name: changed[place]}) if place in changed else event
            for place, event in enumerate(events)
        ]
        document = judge(run.plan, odder, requests)
        assert document.outcome == "failed"
        assert not [check for check in document.checks if "itself broke" in check.sentence]


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
