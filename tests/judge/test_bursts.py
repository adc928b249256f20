"""How quick answers were in a burst: a note, by kind, beside those of before it."""

from __future__ import annotations

from typing import Any

from tests.judge.builder import Rollout


def rollout_with(*bursts: tuple[float, float], **fields: Any) -> Rollout:
    """A rollout with bursts of 4 s, each from a second on, whose requests take so long."""
    rollout = Rollout()
    for number, (at, seconds) in enumerate(bursts, start=1):
        for n in range(81):
            began = at + n * 0.05
            name = f"ab12cd.burst{number}-short-4242-{n}"
            rollout.served(name, began, began + seconds, rollout.old[2], **fields)
    return rollout


def notes_of(rollout: Rollout) -> list[str]:
    return [note for note in rollout.document().notes if "good answer" in note]


def test_the_burst_is_compared_with_what_was_before_it_by_kind() -> None:
    (note,) = notes_of(rollout_with((4.0, 0.9)))
    head, _, kinds = note.partition(": ")
    assert head == "in the 4.0 s of the burst, 99 % of good answers within"
    assert kinds == "long 4,500 ms (4,500 before), short 900 ms (100 before)"


def test_several_are_told_apart_in_the_order_in_which_they_came() -> None:
    first, second = notes_of(rollout_with((9.0, 0.9), (3.0, 0.4)))
    assert first.startswith("in the 4.0 s of burst 1")
    assert "short 400 ms" in first
    assert second.startswith("in the 4.0 s of burst 2")
    assert "short 900 ms" in second


def test_a_run_without_a_burst_says_nothing_of_one() -> None:
    assert notes_of(rollout_with()) == []
