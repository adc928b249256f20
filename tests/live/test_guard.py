"""A rollout that loses too much is stopped: rolled back, and judged as far as it got."""

from __future__ import annotations

import pytest

from swarmtest.events import read_events
from tests.live.conftest import Live
from tests.live.truth import assert_every_class_is_right

pytestmark = pytest.mark.live


def test_a_rollout_that_loses_more_than_the_limit_is_rolled_back_and_judged(live: Live) -> None:
    run = live.once("stacks/broken/stop-first-one-replica.yml", "--stop-at", "5%/5s")
    events = list(read_events(run.folder.events))
    acts = [(event.get("name"), event.get("edge"), event.get("outcome")) for event in events if event.kind == "act"]
    (guard,) = [event for event in events if event.kind == "guard"]
    assert acts[-2:] == [("rollback", "began", None), ("rollback", "ended", "ok")], run.explain()
    states = [event.get("state") for event in events if event.kind == "update_status"]
    assert states[-1] == "rollback_completed", run.explain()
    assert "completed" not in states
    assert (events[-1].kind, events[-1].get("outcome")) == ("ended", "finished")
    assert any(guard.get("text") in note for note in run.document.notes), run.explain()
    assert run.exit_code == 1, run.explain()
    assert "answered_every_request" in run.failed()
    assert "replaced_every_instance" in run.not_proved()
    assert_every_class_is_right(run)
