from __future__ import annotations

from typing import Any

import pytest

from swarmtest.checks import Outcome
from tests.judge.builder import Rollout

CHECK = "delivered_the_traffic"


def test_passes_when_what_was_asked_for_was_sent() -> None:
    assert Rollout().verdict(CHECK).outcome is Outcome.PASSED


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"cpu_share_max": 0.97}, "at its limit"),
        ({"late_ms_p99": 900.0}, "was late"),
        ({"sent": 12}, "the run is invalid"),
    ],
)
def test_a_client_at_its_limit_or_that_miscounts_proves_nothing(said: dict[str, Any], reason: str) -> None:
    rollout = Rollout()
    rollout.traffic |= said
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert any(reason in line for line in verdict.evidence)
    assert rollout.document().outcome == "not_proved"


@pytest.mark.parametrize("calibrated", [False, None])
def test_without_a_good_calibration_nothing_is_proved(calibrated: bool | None) -> None:
    rollout = Rollout()
    rollout.calibrated = calibrated
    assert rollout.verdict(CHECK).outcome is Outcome.NOT_PROVED


def test_too_little_traffic_proves_nothing() -> None:
    rollout = Rollout()
    for kind in rollout.plan["traffic"]["kinds"]:
        kind["rate"] *= 1.2
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert any("asked for" in line for line in verdict.evidence)


def test_one_kind_of_connection_alone_proves_nothing() -> None:
    """gatling/gatling #4466, traefik/traefik #718: kept connections hide the new instances."""
    rollout = Rollout()
    for row in rollout.requests():
        row["reused"] = True
    assert rollout.verdict(CHECK).outcome is Outcome.NOT_PROVED


def test_a_fault_of_the_client_itself_makes_the_run_invalid() -> None:
    rollout = Rollout()
    rollout.unanswered("ours", 1.0, 1.1, client_outcome="local_error", error="too many open files")
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert any("client's own fault" in line for line in verdict.evidence)


def test_traffic_that_ends_before_the_last_old_instance_does_proves_nothing() -> None:
    rollout = Rollout()
    rollout.old[2].exited = rollout.ends + 3.0
    assert rollout.verdict(CHECK).outcome is Outcome.NOT_PROVED


def test_an_id_that_the_client_used_twice_makes_the_run_invalid() -> None:
    rollout = Rollout()
    for _ in range(2):
        rollout.request("same", 1.0, 1.1, rollout.old[0])
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert any("more than once by the client" in line for line in verdict.evidence)


def test_a_client_that_was_killed_and_left_requests_without_a_record_makes_the_run_invalid() -> None:
    rollout = Rollout()
    rollout.drop(lambda event: event.get("event") == "stopped")
    sent = len(rollout.requests())
    rollout.event(10.0, "traffic", event="tick", sent=sent + 12, open=9)
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert any("12 requests" in line and "have no record" in line for line in verdict.evidence)
    assert verdict.advice is not None
