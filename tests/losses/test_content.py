"""Uploads and downloads by their content: each combination of what client, answer and instance say."""

from __future__ import annotations

from typing import Any

import pytest

from swarmtest.checks import Outcome
from swarmtest.evidence.request import Request
from swarmtest.losses import Charge, Known, Loss, classify
from swarmtest.losses.content import ONLY_CLAIMED, held_to_content, how_far
from swarmtest.losses.mechanisms import Mechanism, mechanism_of
from swarmtest.timeline import Step, Trail
from tests.judge.builder import Rollout

SUM, OTHER = "ab" * 32, "cd" * 32
ANSWERED = {"client_outcome": "complete", "status": 200, "framing": "length", "instance": "a1", "echoed": True}


def upload(**fields: Any) -> Request:
    sent = {"protocol": "upload", "body_bytes": 1000, "bytes_sent": 1100, "sha256": SUM}
    return Request(id="r", **{**ANSWERED, **sent, **fields})


def trail(**commit: Any) -> Trail:
    found = Trail(start=[Step("box", 1.0, 0.0, 1)])
    if commit:
        found.commit.append(Step("box", 2.0, 0.0, 2, **commit))
    return found


def judged(request: Request, lines: Trail | None = None, *, logs: bool = False, unheard: str | None = None) -> Any:
    known = Known(request, lines, unheard=unheard)
    return held_to_content(known, classify(known), logs_stored=logs)


WHOLE = trail(stored=1000, sha256=SUM)


@pytest.mark.parametrize(
    ("matched", "lines", "logs", "loss", "unproved"),
    [
        (True, WHOLE, True, Loss.OK, False),
        (None, WHOLE, True, Loss.OK, False),
        (True, trail(), False, Loss.OK, False),
        (True, None, False, Loss.OK, False),
        (True, trail(stored=1000), True, Loss.OK, False),
        (None, trail(stored=1000), True, Loss.UNKNOWN, True),
        (None, trail(), False, Loss.UNKNOWN, True),
        (True, None, True, Loss.UNKNOWN, True),
        (False, WHOLE, True, Loss.SILENT_LOSS, False),
        (False, None, False, Loss.SILENT_LOSS, False),
        (True, trail(stored=999, sha256=SUM), True, Loss.SILENT_LOSS, False),
        (True, trail(stored=1000, sha256=OTHER), True, Loss.SILENT_LOSS, False),
        (True, trail(), True, Loss.SILENT_LOSS, False),
        (None, trail(), True, Loss.SILENT_LOSS, False),
    ],
)
def test_a_success_counts_only_with_its_content(
    matched: bool | None, lines: Trail | None, logs: bool, loss: Loss, unproved: bool
) -> None:
    found = judged(upload(matched=matched), lines, logs=logs)
    assert (found.loss, found.unproved) == (loss, unproved)


def test_a_record_that_may_have_been_lost_proves_no_loss() -> None:
    found = judged(upload(matched=True), trail(), logs=True, unheard="its log has a gap")
    assert (found.loss, found.unproved) == (Loss.UNKNOWN, True)
    assert "its log has a gap" in found.why


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"stored": 400}, "200 for 1,000 bytes, of which it says that it stored 400"),
        ({"stored": 1000}, "another checksum than what was sent"),
        ({"stored": None}, "another checksum than what was sent"),
    ],
)
def test_a_contradiction_says_what_it_is(fields: dict[str, Any], why: str) -> None:
    assert why in judged(upload(matched=False, **fields)).why


@pytest.mark.parametrize(
    ("matched", "loss", "unproved"),
    [(True, Loss.OK, False), (False, Loss.SILENT_LOSS, False), (None, Loss.UNKNOWN, True)],
)
def test_a_download_is_held_to_its_checksum(matched: bool | None, loss: Loss, unproved: bool) -> None:
    found = judged(Request(id="r", protocol="download", matched=matched, **ANSWERED))
    assert (found.loss, found.unproved) == (loss, unproved)


def test_a_download_that_is_truncated_is_cut_by_its_record_though_the_status_is_200() -> None:
    """locustio/locust #2236: a status of 200 and half a body."""
    cut = Request(id="r", protocol="download", client_outcome="closed_in_body", status=200, framing="length")
    assert judged(cut, trail()).loss is Loss.CUT


@pytest.mark.parametrize(
    ("fields", "lines", "far"),
    [
        ({"acknowledged": 600}, None, "700 sent of 1,000 bytes and the head, 600 acknowledged, nothing tells how much"),
        ({}, Trail(stored=[Step("box", 2.0, 0.0, 2, stored=500)]), "500 stored"),
        ({}, trail(stored=1000, sha256=SUM), "1,000 stored"),
    ],
)
def test_an_upload_that_is_cut_says_how_far_it_came(fields: dict[str, Any], lines: Trail | None, far: str) -> None:
    request = upload(client_outcome="closed_unanswered", status=None, **{"bytes_sent": 700, **fields})
    assert far in how_far(request, lines)
    assert far in judged(request, lines).why


@pytest.mark.parametrize("protocol", ["upload", "download"])
def test_a_success_that_names_no_instance_is_of_unknown_origin_whatever_its_content(protocol: str) -> None:
    """locustio/locust #240: a cache in between answers 200 while the service is off."""
    assert judged(upload(protocol=protocol, instance=None, matched=True)).loss is Loss.UNEXPECTED


def test_what_is_no_large_body_is_left_as_it_is() -> None:
    known = Known(Request(id="r", **ANSWERED))
    found = classify(known)
    assert held_to_content(known, found, logs_stored=True) is found


def rollout_with_an_upload(*steps: str) -> Rollout:
    """One upload that the first old instance answers before it's even announced, beside one that's stored."""
    rollout = Rollout()
    fields = {"protocol": "upload", "body_bytes": 1000, "bytes_sent": 1100, "sha256": SUM, "matched": True}
    good = rollout.served("stored", -3.0, -2.0, rollout.old[1], **fields)
    good.words["commit"] = {"stored": 1000, "sha256": SUM}
    late = rollout.served("promised", 1.5, 2.5, rollout.old[0], **fields)
    late.steps = {step: at for step, at in late.steps.items() if step in steps}
    late.words["commit"] = {"stored": 1000, "sha256": SUM}
    return rollout


def test_an_upload_that_was_answered_and_never_stored_is_charged_to_the_shutdown() -> None:
    rollout = rollout_with_an_upload("start", "finish")
    seen = rollout.judged()
    (lost,) = seen.losses.lost
    assert (lost.loss, lost.why, lost.charge) == (Loss.SILENT_LOSS, ONLY_CLAIMED, Charge.SHUTDOWN)
    assert mechanism_of(lost, seen.timeline, seen.witness, seen.promises) is Mechanism.STORED_LATE
    verdict = rollout.verdict("answered_every_request")
    assert verdict.outcome is Outcome.FAILED
    assert "1 silent_loss" in verdict.sentence
    assert "only when it's stored for good" in (verdict.advice or "")


def test_one_whose_instance_recorded_it_is_no_loss() -> None:
    rollout = rollout_with_an_upload("start", "commit", "finish")
    assert rollout.verdict("answered_every_request").outcome is Outcome.PASSED


def test_one_that_says_itself_that_it_stored_less_has_another_mechanism() -> None:
    rollout = rollout_with_an_upload("start", "commit", "finish")
    rollout.sent[-1].fields.update(matched=False, stored=400)
    seen = rollout.judged()
    (lost,) = seen.losses.lost
    assert mechanism_of(lost, seen.timeline, seen.witness, seen.promises) is Mechanism.CONTENT_CHANGED
