"""The rules of a client's retries as the judging side reads them: the client's own, told from its records."""

from __future__ import annotations

import itertools

import pytest

from swarmtest.evidence.request import OUTCOMES, Request
from swarmtest.losses import retries as judging
from swarmtest.losses.retries import done_twice
from swarmtest.traffic import retries as acting
from swarmtest.traffic.records import Record
from tests.judge.builder import Rollout


def test_both_sides_have_the_same_rules() -> None:
    """They never import each other, so the rules stand twice."""
    assert judging.WINDOW_SECONDS == acting.WINDOW_SECONDS
    space = itertools.product(OUTCOMES, (None, 200, 302, 404, 429, 500, 503), ("GET", "POST", "PUT"), (True, False))
    for outcome, status, method, turned_away in space:
        seen = Request(id="r", client_outcome=outcome, status=status, method=method, retry_after=turned_away)
        sent = Record(
            id="r", kind="a", method=method, path="/", planned=0.0, client_outcome=outcome, status=status,
            retry_after=turned_away,
        )  # fmt: skip
        assert judging.reason_of(seen) == acting.reason_of(sent)
        for keyed in (True, False):
            assert judging.is_safe(seen, keyed=keyed) == acting.is_safe(sent, keyed=keyed)


@pytest.mark.parametrize(
    ("first", "method", "twice"),
    [
        (("start", "intent", "commit"), "POST", True),
        (("start", "intent"), "POST", False),
        (("start",), "POST", False),
        (("start", "commit"), "GET", False),
    ],
)
def test_a_request_is_done_twice_when_two_of_its_tries_took_effect(
    first: tuple[str, ...], method: str, twice: bool
) -> None:
    made = Rollout()
    lost = made.unanswered("pay", 5.0, 5.5, made.old[0], method=method)
    lost.steps = {step: 5.01 + n / 10 for n, step in enumerate(first)}
    made.served("pay.try2", 5.6, 5.8, made.new[0], method=method, attempt=2, again="pay")
    seen = made.judged()
    assert bool(done_twice(seen.losses.telling)) is twice
    verdict = made.verdict("handled_each_request_once")
    assert (verdict.outcome.value == "failed") is twice
    if twice:
        assert verdict.evidence[0].startswith("pay took effect in 2 of its tries: on api.1")
        assert "idempotency key" in (verdict.advice or "")
