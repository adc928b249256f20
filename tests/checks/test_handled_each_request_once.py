from __future__ import annotations

from swarmtest.checks import Outcome
from tests.judge.builder import Rollout

CHECK = "handled_each_request_once"


def test_passes_when_each_id_was_started_once() -> None:
    assert Rollout().verdict(CHECK).outcome is Outcome.PASSED


def test_a_hidden_retry_fails_it_though_nothing_is_lost() -> None:
    """geventhttpclient/geventhttpclient #68: 3 hits at the server, 0 failures at the client."""
    rollout = Rollout()
    first = rollout.served("twice", 1.0, 1.2, rollout.old[0])
    again = rollout.request("shadow", 1.0, 1.2, rollout.old[1])
    again.fields, again.steps = dict(first.fields), {"start": 1.1}
    rollout.requests()
    document = rollout.document()
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "twice was started 2 times: on api.1 (oldtask1), api.2 (oldtask2)" in verdict.evidence
    assert document.losses["duplicates"] == 1


def test_without_start_records_it_is_not_proved() -> None:
    rollout = Rollout().drop(lambda e: e["kind"] == "record")
    assert rollout.verdict(CHECK).outcome is Outcome.NOT_PROVED


def test_records_that_are_not_whole_prove_nothing() -> None:
    rollout = Rollout()
    rollout.old[0].log_complete = False
    assert rollout.verdict(CHECK).outcome is Outcome.NOT_PROVED


def test_a_front_door_that_writes_such_lines_too_handles_nothing_twice() -> None:
    """A gateway with the same middleware: its start record is its own, and no second handling by the service."""
    rollout = Rollout()
    rollout.requests()
    rollout.event(-40.0, "log_stream", container="edgebox", service="edge", edge="opened")
    for seq, one in enumerate([one for one in rollout.sent if one.steps], start=1):
        fields = {"container": "edgebox", "instance": "edge-1", "seq": seq, "request_id": one.fields["id"]}
        rollout.event(one.steps["start"] - 0.001, "record", event="start", **fields)
    assert rollout.document().outcome == "passed"
