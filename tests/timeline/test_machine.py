"""Whether anything was left of the machine that the traffic came from."""

from __future__ import annotations

from typing import Any

import pytest

from swarmtest.timeline.machine import full_machine
from tests.judge.builder import Rollout

BUSY = {"machine_share": 0.98, "processors": 2, "cpu_share_max": 0.4}


def test_a_machine_that_had_nothing_left_is_named_with_who_had_how_much_of_it() -> None:
    run = Rollout()
    run.traffic |= BUSY
    assert full_machine(run.judged().timeline) == (
        "the bottleneck is the client's machine: its 2 processors were 98 % busy on average;"
        " the client had 0.40 of one at most, the instances that still run 0.00"
    )


@pytest.mark.parametrize("said", [{}, BUSY | {"machine_share": 0.9}, BUSY | {"machine_share": None}])
def test_one_that_had_some_left_or_was_not_seen_is_not_named(said: dict[str, Any]) -> None:
    run = Rollout()
    run.traffic |= said
    assert full_machine(run.judged().timeline) is None


def test_it_is_noted_where_something_was_lost_and_only_there() -> None:
    run = Rollout()
    run.traffic |= BUSY
    assert not any("bottleneck" in note for note in run.document().notes)
    run.unanswered("lost", 1.0, 1.1, run.old[0])
    run.traffic |= {"late_ms_p99": 900.0}
    said = [note for note in run.document().notes if "bottleneck" in note]
    assert len(said) == 1
    assert said[0].endswith("What was lost may be for want of that")
