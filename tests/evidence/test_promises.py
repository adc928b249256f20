from __future__ import annotations

from typing import Any

import pytest

from swarmtest.errors import RunFolderError
from swarmtest.evidence.promises import read_promises


@pytest.mark.parametrize(
    ("step", "replaces", "for_good"),
    [
        ({"phase": "baseline", "seconds": 8}, False, False),
        ({"phase": "rollout", "fault": "update", "settings": {"force": True}}, True, True),  # of before it was written
        ({"phase": "rollout", "fault": "update", "replaces": True, "prepares": True}, False, False),
        ({"phase": "out", "fault": "release", "replaces": True, "prepares": False}, True, True),
        ({"phase": "bad", "fault": "unhealthy", "replaces": True, "prepares": False}, True, False),
        ({"phase": "kill", "fault": "kill", "replaces": False, "target": {"ranks": [1]}}, False, False),
    ],
)
def test_a_step_says_whether_every_instance_goes(step: dict[str, Any], replaces: bool, for_good: bool) -> None:
    promises = read_promises({"steps": [step]})
    assert (promises.replaces, promises.replaces_for_good) == (replaces, for_good)


def test_an_old_plan_is_an_orderly_one_with_swarm_s_own_defaults() -> None:
    promises = read_promises({"stack": {"service": "api"}})
    assert not promises.destructive
    assert promises.restart_delay_seconds == 5.0
    assert promises.stack.restarts
    assert promises.stack.restarts_what_ended_well


@pytest.mark.parametrize(
    ("condition", "failed", "ended_well"),
    [(None, True, True), ("any", True, True), ("on-failure", True, False), ("none", False, False)],
)
def test_a_restart_policy_says_what_is_replaced(condition: str | None, failed: bool, ended_well: bool) -> None:
    stack = read_promises({"stack": {"restart_condition": condition}}).stack
    assert (stack.restarts, stack.restarts_what_ended_well) == (failed, ended_well)


def test_fields_of_a_later_version_are_kept_and_skipped() -> None:
    promises = read_promises({"steps": [{"phase": "x", "of_a_later_version": 1}], "later": {"a": 1}})
    assert promises.raw["later"] == {"a": 1}
    assert promises.steps[0].phase == "x"


def test_a_plan_that_no_version_wrote_is_refused() -> None:
    with pytest.raises(RunFolderError):
        read_promises({"steps": "none"})
