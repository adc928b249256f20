"""The numbers that are compared between runs."""

from __future__ import annotations

import pytest

from swarmtest.reports import Figures
from tests.judge.builder import Rollout


def figures_of(run: Rollout) -> Figures:
    return run.document().figures


def test_a_rollout_has_its_lowest_number_of_ready_instances_and_its_times_by_kind() -> None:
    document = Rollout().document()
    assert document.figures.lowest_ready == 3
    assert [kind.name for kind in document.figures.kinds] == ["long", "short"]
    assert sum(kind.sent for kind in document.figures.kinds) == document.losses["sent"]
    long, short = document.figures.kinds
    assert short.p50_ms == pytest.approx(100.0)
    assert long.p99_ms == pytest.approx(4500.0)


def test_a_new_instance_that_is_warm_too_late_shows_in_the_lowest_number() -> None:
    run = Rollout()
    run.new[1].warm = (run.old[1].announced or 0) + 2.0
    assert figures_of(run).lowest_ready == 2


def test_acted_seconds_are_from_t0_until_the_last_step_was_over() -> None:
    run = Rollout()
    assert figures_of(run).acted_seconds is None, "without a phase nobody knows"
    for name, began, ended in (("baseline", -8.0, -0.1), ("rollout", -0.1, 12.5), ("settle", 12.5, 13.5)):
        run.event(began, "phase", name=name, edge="began").event(ended, "phase", name=name, edge="ended")
    assert figures_of(run).acted_seconds == pytest.approx(12.5, abs=0.01)


def test_times_count_from_when_requests_were_due_with_those_from_when_they_were_sent_beside_them() -> None:
    """A request that the client could send only 2 s late has had its user wait for those 2 s, too."""
    run = Rollout()
    for one in run.requests():
        one["planned"] -= 2.0
    document = run.document()
    short = next(kind for kind in document.figures.kinds if kind.name == "short")
    assert (short.p50_ms, short.p50_sent_ms) == (pytest.approx(2100.0), pytest.approx(100.0))
    for row in document.loss_rows:
        assert row.p99_ms == pytest.approx((row.p99_sent_ms or 0.0) + 2000.0)
    assert document.figures.p99_ms == pytest.approx((document.figures.p99_sent_ms or 0.0) + 2000.0)


def test_a_request_that_was_sent_a_hair_before_its_time_is_not_made_quicker_by_that() -> None:
    run = Rollout()
    for one in run.requests():
        one["planned"] += 0.001
    short = next(kind for kind in figures_of(run).kinds if kind.name == "short")
    assert short.p50_ms == short.p50_sent_ms


def test_lost_requests_have_no_share_in_the_times() -> None:
    run = Rollout()
    before = figures_of(run).p99_ms
    run.unanswered("slow-and-lost", 1.0, 29.0, run.old[0])
    assert figures_of(run).p99_ms == before
