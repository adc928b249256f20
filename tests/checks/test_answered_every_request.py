from __future__ import annotations

from swarmtest.checks import Outcome
from tests.judge.builder import T0, Rollout

CHECK = "answered_every_request"


def test_passes_when_every_request_is_answered() -> None:
    verdict = Rollout().verdict(CHECK)
    assert verdict.outcome is Outcome.PASSED
    assert "All" in verdict.sentence


def test_one_lost_request_among_hundreds_fails_it_with_its_id() -> None:
    rollout = Rollout()
    rollout.bad_gateway("lost-1", 3.1, 3.12, rollout.old[0])
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert verdict.sentence == f"1 of {len(rollout.sent)} requests were lost: 1 gateway."
    assert any("lost-1" in line and "api.1" in line for line in verdict.evidence)


def test_a_run_without_requests_proves_nothing() -> None:
    rollout = Rollout()
    rollout.rates = {"short": 0.0, "long": 0.0}
    assert rollout.verdict(CHECK).outcome is Outcome.NOT_PROVED


def test_without_any_instance_header_it_is_not_proved_and_says_what_to_add() -> None:
    rollout = Rollout()
    for row in rollout.requests():
        row["instance"] = None
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "X-Instance-ID" in (verdict.advice or "")


def test_an_answer_of_unknown_origin_is_lost_where_others_name_their_instance() -> None:
    """locustio/locust #1472, #2236: a cache in between answers 200 while the server is off."""
    rollout = Rollout()
    rollout.request("stranger", 1.0, 1.1, None)
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "1 unexpected" in verdict.sentence


def test_an_app_that_exits_at_once_is_told_to_drain_and_not_to_wait_longer() -> None:
    """einride/cloudrunner-go PR #799: the serve call returns the moment shutdown begins."""
    rollout = Rollout()
    for life in rollout.old:
        life.unready = life.closed = None
        life.exited = life.signalled + 0.005  # type: ignore[operator]
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "cut" in verdict.sentence
    assert "drain is missing" in (verdict.advice or "")
    assert "raise" not in (verdict.advice or "")


def test_a_request_that_we_broke_off_ourselves_is_no_loss_that_was_seen() -> None:
    rollout = Rollout()
    rollout.outcome = "interrupted"
    rollout.unanswered("open", 20.0, 20.0, done=None, client_outcome="still_open")
    assert rollout.verdict(CHECK).outcome is Outcome.NOT_PROVED


def test_evidence_names_only_the_first_few_of_many() -> None:
    rollout = Rollout()
    for n in range(50):
        rollout.bad_gateway(f"lost-{n:02d}", 3.1 + n / 100, 3.2 + n / 100, rollout.old[0])
    verdict = rollout.verdict(CHECK)
    assert "50 gateway" in verdict.sentence
    assert any("and 47 more" in line for line in verdict.evidence)
    assert len(verdict.evidence) <= 12


def test_losses_with_no_lifecycle_event_nearby_are_charged_to_the_background() -> None:
    rollout = Rollout()
    rollout.bad_gateway("early", -4.0, -3.9, rollout.old[0])
    document = rollout.document()
    assert [event.charge for event in document.loss_events] == ["background"]
    assert document.loss_events[0].sent == T0 - 4.0


def test_our_own_fault_is_no_loss_of_the_stack() -> None:
    rollout = Rollout()
    rollout.unanswered("ours", 1.0, 1.1, client_outcome="local_error", error="too many open files")
    assert rollout.verdict(CHECK).outcome is Outcome.NOT_PROVED


def test_a_front_door_that_dials_for_ever_is_to_be_mended_and_not_waited_for() -> None:
    """langgenius/dify #40448: nginx resolves once, and the losses don't stop when the update ends."""
    rollout = Rollout()
    life = rollout.old[0]
    for n in range(20):
        at = (life.closed or 0) + n
        rollout.bad_gateway(f"stale-{n}", at, at + 0.1, life)
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "let the front door learn of new addresses" in (verdict.advice or "")
