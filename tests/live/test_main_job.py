"""The reference stacks lose nothing, and the run proves it."""

from __future__ import annotations

import pytest

from tests.live.conftest import Live, LiveRun
from tests.live.truth import assert_every_class_is_right

pytestmark = pytest.mark.live

PROOFS = ("announced", "signalled", "last_new", "last_done", "exited")


def assert_clean(run: LiveRun) -> None:
    assert run.exit_code == 0, run.explain()
    assert run.document.outcome == "passed"
    assert run.document.losses["sent"] >= 1000
    assert run.document.losses["ok"] == run.document.losses["sent"]


def test_the_reference_stack_is_rolled_without_losing_a_request(live: Live) -> None:
    run = live.once("stacks/api.yml")
    assert_clean(run)
    assert_every_class_is_right(run)


def test_each_old_instance_of_the_reference_stack_has_all_its_marks(live: Live) -> None:
    run = live.once("stacks/api.yml")
    old = [instance for instance in run.document.instances if instance.generation == "old"]
    assert len(old) == 3
    for instance in old:
        assert [mark for mark in PROOFS if instance.marks[mark] is None] == [], instance.name
        assert instance.exit_code == 0


def test_marks_of_an_orderly_stop_come_in_the_order_of_a_life(live: Live) -> None:
    for instance in live.once("stacks/api.yml").document.instances:
        if instance.generation == "old":
            marks = {name: mark.at for name, mark in instance.marks.items() if mark is not None}
            assert marks["started"] < marks["healthy"] < marks["announced"] < marks["signalled"]
            assert marks["last_new"] < marks["closed"] <= marks["exited"]
            assert marks["signalled"] - marks["announced"] == pytest.approx(2.0, abs=0.5)


def test_without_a_proxy_the_client_follows_the_tasks_and_nothing_is_lost(live: Live) -> None:
    run = live.once("stacks/api-direct.yml")
    assert_clean(run)
    assert_every_class_is_right(run)


def test_a_baseline_replaces_nobody_and_loses_nothing(live: Live) -> None:
    run = live.once("stacks/api.yml", "--scenario", "baseline", "--baseline", "3s")
    assert run.exit_code == 0, run.explain()
    assert {instance.generation for instance in run.document.instances} == {"only"}
