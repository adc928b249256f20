"""What DuckDB counts of the answers is what one counts by looking at each of them."""

from __future__ import annotations

from collections import Counter
from math import floor

import pytest

from swarmtest.judge.limits.selection import select
from swarmtest.limits.arithmetic import rank
from swarmtest.limits.grammar import parse_limit
from swarmtest.losses import Accounted, Loss
from tests.judge.builder import T0, Rollout

LIMITS = ("p99 < 4500ms", "p90 of short <= 100ms", "p50 in rollout < 99ms", "max of long < 1s")


def milliseconds(one: Accounted) -> float:
    assert one.request.planned is not None
    return (one.request.ended - one.request.planned) * 1000


@pytest.mark.parametrize("text", LIMITS)
def test_counts_and_times_are_those_of_the_answers_themselves(text: str) -> None:
    limit, judged = parse_limit(text), Rollout().judged()
    (selected,) = select(limit, judged)
    some = [one for one in judged.losses.accounted if one.loss is Loss.OK and limit.kind in (None, one.request.kind)]
    some = [one for one in some if (one.request.planned or 0) in selected.window]
    times = sorted(map(milliseconds, some))
    above = [one for one in some if not limit.holds(milliseconds(one))]
    answers = selected.answers
    assert answers.count() == len(some)
    found = answers.times(limit)
    assert found is not None
    assert (found.count, found.above) == (len(some), len(above))
    assert found.corrected == pytest.approx(times[rank(len(times), limit.share or 0) - 1])
    assert answers.by_second() == Counter(floor(one.request.ended) for one in some)
    if above:
        slow = Counter(floor(one.request.planned or 0) for one in above)
        second, count, of = answers.worst_second(limit)
        assert (slow[second], count) == (max(slow.values()), max(slow.values()))
        assert of == sum(floor(one.request.planned or 0) == second for one in some)
        assert {name for name, _ in answers.slowest(limit, 10_000)} == {one.request.id for one in above}


def test_a_request_is_due_when_it_was_planned_and_the_slowest_are_named_first() -> None:
    rollout = Rollout()
    rollout.served("slow", 3.0, 5.0, rollout.old[2])
    rollout.served("slower", 3.0, 5.5, rollout.old[2], planned=T0 + 2.0)
    (selected,) = select(parse_limit("p99 of short < 1s"), rollout.judged())
    found = selected.answers.slowest(parse_limit("p99 of short < 1s"), 3)
    assert [(name, round(ms)) for name, ms in found] == [("slower", 3500), ("slow", 2000)]
