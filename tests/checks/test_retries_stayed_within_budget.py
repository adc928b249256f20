from __future__ import annotations

from typing import Any

from swarmtest.checks import Outcome
from tests.judge.builder import Rollout

CHECK = "retries_stayed_within_budget"


def rollout(**policy: Any) -> Rollout:
    """A rollout under traffic of which one kind tries again."""
    made = Rollout()
    for kind in made.plan["traffic"]["kinds"]:
        if kind["name"] == "short":
            kind["retries"] = {
                "budget": 0.1,
                "attempts": 3,
                "on": ["closed"],
                "key_header": "Idempotency-Key",
                **policy,
            }
    return made


def lost(made: Rollout, name: str, at: float) -> None:
    made.unanswered(name, at, at + 0.1, made.old[0])


def again(made: Rollout, first: str, at: float, attempt: int = 2) -> None:
    made.served(f"{first}.try{attempt}", at, at + 0.1, made.new[0], attempt=attempt, again=first)


def test_passes_when_what_was_lost_was_sent_again_within_the_budget() -> None:
    made = rollout()
    for n in range(3):
        lost(made, f"lost{n}", 7.0 + n / 100)
        again(made, f"lost{n}", 7.3 + n / 100)
    verdict = made.verdict(CHECK)
    assert verdict.outcome is Outcome.PASSED
    assert "3 retries for" in verdict.sentence
    assert "3 first tries were lost, of which 3 were answered on a later one" in verdict.evidence[0]


def test_a_first_loss_stays_lost_whatever_comes_of_its_retry() -> None:
    made = rollout()
    lost(made, "lost", 7.0)
    again(made, "lost", 7.3)
    document = made.document()
    assert sum(event.id == "lost" for event in document.loss_events) == 1
    assert document.outcome == "failed"
    assert any(note.startswith("retries of short: ") for note in document.notes)


def test_fails_when_ten_seconds_had_more_than_the_budget() -> None:
    made = rollout(budget=0.01)
    for n in range(9):
        lost(made, f"lost{n}", 7.0 + n / 100)
        again(made, f"lost{n}", 7.3 + n / 100)
    verdict = made.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "9 retries for" in verdict.evidence[0]
    assert "the budget is 1 %" in verdict.evidence[0]


def test_fails_when_something_was_sent_again_that_had_been_answered() -> None:
    made = rollout()
    made.served("good", 7.0, 7.1, made.new[0])
    again(made, "good", 7.3)
    verdict = made.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "1 try of what had been answered" in verdict.evidence[0]
    assert "good.try2" in verdict.evidence[0]


def test_fails_when_the_first_try_is_not_on_record() -> None:
    made = rollout()
    again(made, "never-seen", 7.3)
    assert made.verdict(CHECK).outcome is Outcome.FAILED


def test_what_was_not_sent_again_for_want_of_budget_is_said() -> None:
    made = rollout()
    for n in range(4):
        lost(made, f"lost{n}", 7.0 + n / 100)
    again(made, "lost0", 7.3)
    verdict = made.verdict(CHECK)
    assert verdict.outcome is Outcome.PASSED
    assert "3 weren't sent again for want of budget" in verdict.evidence[0]


def test_is_not_proved_when_nothing_had_to_be_sent_again() -> None:
    verdict = rollout().verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "lose something" in (verdict.advice or "")


def test_is_not_proved_where_no_kind_tries_again() -> None:
    verdict = Rollout().verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "x-swarmtest traffic: retries" in (verdict.advice or "")
