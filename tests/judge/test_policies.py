"""What retries and cold starts came to, as numbers in the document."""

from __future__ import annotations

import io

import pytest

from swarmtest.reports.console import render
from tests.judge.builder import Rollout


def test_retries_are_told_by_kind_and_losses_stay_counted_by_try() -> None:
    rollout = Rollout()
    kind = rollout.plan["traffic"]["kinds"][0]
    kind["retries"] = {"budget": 0.1, "attempts": 3, "on": ["closed"], "key_header": "Idempotency-Key"}
    name = kind["name"]
    rollout.unanswered("lost", 7.0, 7.1, rollout.old[0], kind=name)
    rollout.served("lost.try2", 7.3, 7.4, rollout.new[0], kind=name, attempt=2, again="lost")
    document = rollout.document()
    (told,) = document.retries
    sent = sum(row.sent for row in document.loss_rows if row.kind == name)
    assert (told.kind, told.requests, told.tries) == (name, sent - 1, sent)
    assert told.amplification == pytest.approx(sent / (sent - 1), abs=1e-4)
    assert (told.lost_first, told.saved, told.unbudgeted) == (1, 1, 0)
    assert [event.id for event in document.loss_events] == ["lost"]


def test_without_a_policy_there_is_nothing_to_tell() -> None:
    assert Rollout().document().retries == []


def test_new_instances_have_the_figures_of_their_first_requests_and_old_ones_none() -> None:
    document = Rollout().document()
    for instance in document.instances:
        assert (instance.first is not None) == (instance.generation == "new")
        if instance.first is not None:
            assert instance.first.first_ms <= instance.first.first_most_ms


def test_the_console_shows_them_where_it_tells_how_instances_started() -> None:
    out = io.StringIO()
    render(Rollout().document(), out)
    assert "first ms (usual)" in out.getvalue()
