"""Which runs a tune makes, and what they put over the service."""

from __future__ import annotations

from pathlib import Path

import pytest

from swarmtest.errors import UsageError
from swarmtest.stack.services import put_over
from swarmtest.tune.trials import edging, measuring, proving, seconds_of, signal_path, trials
from tests.tune.stand_ins import STACK, tuned


def test_tasks_are_made_with_the_grace_that_is_tried(tmp_path: Path) -> None:
    """docker/cli #2441: each run deploys its own copy, so no rollout is needed to arm it."""
    wanted = tuned(tmp_path)
    service = put_over(wanted.stack, "api", measuring(wanted).keys).services["api"]
    assert (service.grace_seconds, service.replicas) == (60.0, 8)
    assert (service.update.order, service.update.parallelism) == ("start-first", 2)
    assert (service.update.delay_seconds, service.update.monitor_seconds) == (0.0, 1.0)
    assert put_over(wanted.stack, "api", proving(wanted, 12).keys).services["api"].grace_seconds == 12.0


def test_the_first_run_has_the_replicas_of_the_file(tmp_path: Path) -> None:
    wanted = tuned(tmp_path)
    service = put_over(wanted.stack, "api", signal_path(wanted).keys).services["api"]
    assert (service.replicas, service.grace_seconds, service.update.parallelism) == (3, 30.0, 1)


@pytest.mark.parametrize(
    ("old", "new", "grace", "first"),
    [
        ("stop_grace_period: 30s", "stop_grace_period: 2s", 60, 17),
        ("stop_grace_period: 30s", "stop_grace_period: 90s", 90, 90),
        ("longest_request: 7s", "longest_request: 40s", 110, 50),
    ],
)
def test_the_generous_grace_is_long_enough_for_any_drain(
    tmp_path: Path, old: str, new: str, grace: int, first: int
) -> None:
    wanted = tuned(tmp_path, STACK.replace(old, new))
    assert (measuring(wanted).grace_seconds, signal_path(wanted).grace_seconds) == (grace, first)


@pytest.mark.parametrize(
    ("old", "new", "replicas"),
    [
        ("replicas: 3", "replicas: 12", 12),
        ("image: api:1", "image: api:1\n    ports: [{target: 80, published: 99, mode: host}]", 3),
        ("image: api:1", "image: api:1\n    ports: [{target: 80, mode: host}]", 8),
        ("replicas: 3", "mode: global", 1),
    ],
)
def test_replicas_are_raised_where_they_can_be(tmp_path: Path, old: str, new: str, replicas: int) -> None:
    wanted = tuned(tmp_path, STACK.replace(old, new))
    assert measuring(wanted).replicas == replicas
    assert ("replicas" in measuring(wanted).keys["deploy"]) == ("global" not in new)


def test_replicas_that_are_asked_for_are_had(tmp_path: Path) -> None:
    wanted = tuned(tmp_path, replicas=4, generous_seconds=45)
    assert (wanted.rollouts, measuring(wanted).replicas, measuring(wanted).grace_seconds) == (6, 4, 45)


def test_more_rollouts_than_anybody_waits_for_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"459 stops are needed .* which is 58 rollouts of 8 instances"):
        trials(tuned(tmp_path, coverage=0.99, confidence=0.99))


def test_an_edge_expects_nothing_and_the_others_are_judged_as_any_rollout(tmp_path: Path) -> None:
    wanted = tuned(tmp_path)
    assert edging(wanted, 5).scenario.kind == "destructive"
    assert "answered_every_request" not in edging(wanted, 5).scenario.checks
    assert measuring(wanted).scenario.kind == "orderly"
    assert "answered_every_request" in measuring(wanted).scenario.checks


def test_the_reference_takes_five_to_seven_minutes(tmp_path: Path) -> None:
    wanted = tuned(tmp_path)
    assert 4 * 60 < sum(seconds_of(trial, wanted) for trial in trials(wanted)) < 7 * 60
