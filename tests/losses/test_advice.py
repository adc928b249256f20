from __future__ import annotations

from typing import Any

import pytest

from swarmtest.evidence.promises import Promises, read_promises
from swarmtest.losses.advice import advise
from swarmtest.losses.mechanisms import Mechanism


def promised(fault: str, rollback: str = "start-first", **stack: Any) -> Promises:
    """What's promised to a run of one act."""
    told = {"order": "start-first", "failure_action": "rollback", "rollback": {"order": rollback}, **stack}
    return read_promises({"stack": told, "steps": [{"phase": "it", "fault": fault, "replaces": True}]})


@pytest.mark.parametrize(
    ("promises", "words"),
    [
        (promised("update", order="stop-first"), "set update_config.order: start-first"),
        (promised("rollback", "stop-first"), "set rollback_config.order: start-first"),
        (
            promised("unhealthy", failure_action="continue"),
            "set update_config.failure_action: rollback (it's continue)",
        ),
        (promised("unhealthy", order="stop-first"), "set update_config.order: start-first"),
        (promised("unhealthy", "stop-first"), "set rollback_config.order: start-first"),
        (promised("unhealthy"), "set update_config.delay and monitor"),
    ],
)
def test_where_nobody_is_left_to_serve_the_setting_of_that_way_is_named(promises: Promises, words: str) -> None:
    assert advise(Mechanism.NO_INSTANCE, promises).startswith(words)


def test_start_first_is_no_cure_where_each_instance_wants_the_same_port_of_its_host() -> None:
    """The new task would stay pending beside the old one, for ever."""
    promises = read_promises(
        {
            "stack": {"order": "stop-first", "fixed_ports": [8080]},
            "steps": [{"phase": "rollout", "fault": "update", "replaces": True}],
        }
    )
    assert advise(Mechanism.NO_INSTANCE, promises).startswith("put a proxy before the service")


def test_a_rollback_by_order_goes_by_its_own_config_which_swarm_fills_with_stop_first() -> None:
    promises = read_promises({"stack": {"order": "start-first"}, "steps": [{"phase": "back", "fault": "rollback"}]})
    assert not promises.start_first
    assert promises.at_once == 1
