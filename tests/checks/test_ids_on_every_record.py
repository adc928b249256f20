from __future__ import annotations

from swarmtest.checks import Outcome
from tests.judge.builder import Rollout

CHECK = "ids_on_every_record"


def test_passes_when_every_answer_and_record_bears_both() -> None:
    assert Rollout().verdict(CHECK).outcome is Outcome.PASSED


def test_an_answer_without_instance_fails_it_where_others_have_one() -> None:
    rollout = Rollout()
    rollout.request("nameless", 1.0, 1.1, None)
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "nameless" in verdict.evidence[0]


def test_an_app_that_never_echoes_proves_nothing_and_is_told_to() -> None:
    rollout = Rollout()
    for row in rollout.requests():
        row["echoed"] = None
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "echo" in (verdict.advice or "")


def test_an_app_without_log_lines_proves_nothing_and_is_told_the_line_to_add() -> None:
    rollout = Rollout().drop(lambda e: e["kind"] == "record")
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "line start" in (verdict.advice or "")


def test_a_start_record_without_request_id_fails_it() -> None:
    rollout = Rollout()
    life = rollout.new[0]
    rollout.event(24.0, "record", event="start", request_id=None, seq=9999, container=life.container, instance="x")
    assert rollout.verdict(CHECK).outcome is Outcome.FAILED


def test_a_lost_line_is_seen_by_its_sequence_number() -> None:
    rollout = Rollout()
    box = rollout.old[0].container
    rollout.drop(lambda e: e["kind"] == "record" and e["container"] == box and e["seq"] == 17)
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is not Outcome.PASSED
    assert any("sequence numbers" in line for line in verdict.evidence)
