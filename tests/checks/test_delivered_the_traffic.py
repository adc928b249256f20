from __future__ import annotations

from typing import Any

import pytest

from swarmtest.checks import Outcome
from tests.judge.builder import Rollout
from tests.judge.holding import Holding

CHECK = "delivered_the_traffic"


def test_passes_when_what_was_asked_for_was_sent() -> None:
    assert Rollout().verdict(CHECK).outcome is Outcome.PASSED


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"cpu_share_max": 0.97}, "at its limit"),
        ({"late_ms_p99": 900.0}, "was late"),
        ({"sent": 12}, "the run is invalid"),
        ({"planned": 1000, "missed": 11}, "the schedule wasn't kept"),
        ({"planned": 1000, "missed": 5, "no_room": 5}, "the service is slower than they come"),
    ],
)
def test_a_client_at_its_limit_or_that_miscounts_proves_nothing(said: dict[str, Any], reason: str) -> None:
    rollout = Rollout()
    rollout.traffic |= said
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert any(reason in line for line in verdict.evidence)
    assert rollout.document().outcome == "not_proved"


def test_a_schedule_that_was_kept_but_for_a_moment_is_kept_and_what_was_not_sent_is_said() -> None:
    rollout = Rollout()
    rollout.traffic |= {"planned": 1000, "missed": 9}
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.PASSED
    assert any("9 not sent" in line for line in verdict.evidence)


BUSY = {"late_ms_p99": 900.0, "machine_share": 0.98, "processors": 2, "cpu_share_max": 0.4}


def test_a_machine_that_had_nothing_left_is_named_as_the_bottleneck() -> None:
    rollout = Rollout()
    rollout.traffic |= BUSY
    evidence = rollout.verdict(CHECK).evidence
    named = "the bottleneck is the client's machine: its 2 processors were 98 % busy on average; the client had 0.40"
    assert any(named in line for line in evidence)


@pytest.mark.parametrize("said", [{"machine_share": 0.6}, {"machine_share": None}, {"late_ms_p99": 3.0}])
def test_no_bottleneck_is_named_that_was_none(said: dict[str, Any]) -> None:
    rollout = Rollout()
    rollout.traffic |= BUSY | said
    assert not any("bottleneck" in line for line in rollout.verdict(CHECK).evidence)


@pytest.mark.parametrize("uneven", [{"arrivals": "poisson"}, {"shape": {"stages": [], "repeats": False}}, {"count": 9}])
def test_where_the_rate_alone_does_not_tell_the_client_says_how_many_were_due(uneven: dict[str, Any]) -> None:
    rollout = Rollout()
    for kind in rollout.plan["traffic"]["kinds"]:
        kind["rate"] *= 3.0
        kind.update(uneven)
    assert rollout.verdict(CHECK).outcome is Outcome.PASSED
    rollout.traffic |= {"planned": len(rollout.requests()) * 2}
    assert rollout.verdict(CHECK).outcome is Outcome.NOT_PROVED


def test_a_kind_of_an_even_rate_is_held_to_it_beside_one_of_chance() -> None:
    run = Rollout()
    short, long = run.plan["traffic"]["kinds"]
    long["arrivals"] = "poisson"
    assert run.verdict(CHECK).outcome is Outcome.PASSED
    short["rate"] *= 1.5
    verdict = run.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert any("asked for" in line for line in verdict.evidence)


def test_tries_after_the_first_are_none_that_were_due() -> None:
    run = Rollout()
    for kind in run.plan["traffic"]["kinds"]:
        kind["arrivals"] = "poisson"
    first = len(run.requests())
    for n in range(first // 5):
        again = run.served(f"short-{n}-2", 1.0 + n / 100, 1.1 + n / 100, run.old[1])
        again.fields |= {"again": f"short-{n}", "attempt": 2}
    run.traffic |= {"planned": len(run.sent)}
    assert not [line for line in run.verdict(CHECK).evidence if "asked for" in line]


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


def with_burst(seconds: float = 4.0, *, sent_for: float | None = None, per_second: int = 28) -> Rollout:
    """A rollout with a burst of thrice the traffic from second 4 on."""
    rollout = Rollout()
    rollout.plan["steps"][-1]["burst"] = {"factor": 3.0, "seconds": seconds}
    life = rollout.old[1]
    for n in range(int((seconds if sent_for is None else sent_for) * per_second)):
        at = 4.0 + n / per_second
        rollout.served(f"ab12cd.burst1-short-4242-{n}", at, at + 0.1, life)
    return rollout


def told_by_both(rollout: Rollout, *, calibrated: bool = True, **said: Any) -> Rollout:
    """Has each of the two clients say what it sent."""
    burst = sum(1 for row in rollout.requests() if ".burst" in row["id"])
    rollout.traffic["sent"] = len(rollout.requests()) - burst
    rollout.event(-5.0, "traffic", event="calibrated", ok=calibrated, client="burst", expected={}, counted={})
    words = {"sent": burst, "cpu_share_max": 0.3, "late_ms_p99": 2.0} | said
    return rollout.event(12.0, "traffic", event="stopped", client="burst", **words)


def test_a_burst_is_added_to_what_was_asked_for_and_to_what_was_sent() -> None:
    verdict = told_by_both(with_burst()).verdict(CHECK)
    assert verdict.outcome is Outcome.PASSED
    assert "in the burst: 112 sent" in verdict.evidence
    assert any("0.30 of a processor" in line and "3 ms late" in line for line in verdict.evidence)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"calibrated": False}, "miscounted"),
        ({"sent": 100}, "the run is invalid"),
        ({"cpu_share_max": 0.95}, "at its limit"),
        ({"late_ms_p99": 400.0}, "was late"),
    ],
)
def test_each_client_is_held_to_the_same(said: dict[str, Any], reason: str) -> None:
    verdict = told_by_both(with_burst(), **said).verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert any(reason in line for line in verdict.evidence)


def test_a_burst_whose_client_never_said_what_it_sent_proves_nothing() -> None:
    rollout = told_by_both(with_burst())
    rollout.drop(lambda event: event.get("event") == "stopped" and event.get("client") == "burst")
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert any("never said" in line for line in verdict.evidence)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"sent_for": 0.0}, "0 of 1 burst were sent"),
        ({"seconds": 8.0, "sent_for": 2.0}, "a burst of 8 s was planned, and lasted"),
        ({"per_second": 3}, "asked for"),
    ],
)
def test_a_burst_that_was_not_sent_as_planned_proves_nothing(changed: dict[str, Any], reason: str) -> None:
    verdict = told_by_both(with_burst(**changed)).verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert any(reason in line for line in verdict.evidence)


def test_sessions_that_never_were_and_streams_that_the_client_broke_make_it_no_pass() -> None:
    holding = Holding()
    assert holding.verdict(CHECK).outcome is Outcome.PASSED
    holding.streams = [one for one in holding.streams if one["session"] != "feed-s31"]
    holding.change("chat-s10", 1, client_outcome="local_error")
    verdict = holding.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "feed: 5 of 6 sessions held a stream or tried to" in verdict.evidence
    assert "1 stream ended by the client's own fault: the run is invalid" in verdict.evidence


def test_uploads_that_are_recorded_as_something_else_are_held_to_no_content_and_prove_nothing() -> None:
    run = Rollout()
    run.plan["traffic"]["kinds"][0]["protocol"] = "upload"
    verdict = run.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert any("weren't recorded as upload, which they were to be" in line for line in verdict.evidence)


@pytest.mark.parametrize(("lost", "outcome"), [(0, Outcome.NOT_PROVED), (1, Outcome.PASSED)])
def test_records_that_tell_something_else_than_the_client_counted_make_the_run_invalid(
    lost: int, outcome: Outcome
) -> None:
    run = Rollout()
    run.unanswered("lost", 1.0, 1.1, run.old[0])
    sent = len(run.requests())
    run.traffic["outcomes"] = {"complete": sent - lost, "closed_unanswered": lost}
    verdict = run.verdict(CHECK)
    assert verdict.outcome is outcome
    told = [line for line in verdict.evidence if "the run is invalid" in line]
    assert len(told) == (0 if lost else 2)
