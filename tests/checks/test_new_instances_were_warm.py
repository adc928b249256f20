from __future__ import annotations

from typing import Any

from swarmtest.checks import Outcome
from swarmtest.losses import missing
from tests.judge.builder import Rollout, Sent

CHECK = "new_instances_were_warm"


def by_instance(rollout: Rollout, task: str, kind: str = "short") -> list[Sent]:
    """The requests of a kind on an instance, the first ones first."""
    rollout.requests()
    its = [one for one in rollout.sent if one.on is not None and one.on.task == task and one.fields["kind"] == kind]
    return sorted(its, key=lambda one: float(one.fields["sent"]))


def slowed(rollout: Rollout, count: int, seconds: float, **fields: Any) -> Rollout:
    """The first requests on the first new instance take so much longer, and are answered well."""
    for one in by_instance(rollout, rollout.new[0].task)[:count]:
        one.fields["done"] += seconds
        one.fields["first_byte"] += seconds
        one.steps = {step: t + (seconds if step != "start" else 0.0) for step, t in one.steps.items()}
        one.fields.update({name: one.fields["sent"] + value for name, value in fields.items()})
    return rollout


def test_passes_when_first_and_later_requests_take_about_as_long() -> None:
    verdict = Rollout().verdict(CHECK)
    assert verdict.outcome is Outcome.PASSED
    assert "half of the first 10 within" in verdict.evidence[0]


def test_fails_when_half_of_the_first_ones_are_slow_though_nothing_is_lost() -> None:
    rollout = slowed(Rollout(), 8, 1.0)
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "on 1 new instance were slow" in verdict.sentence
    assert verdict.evidence[0].startswith("short on api.1 (newtask1)")
    assert "fail until the app is really warm" in (verdict.advice or "")
    assert rollout.verdict("answered_every_request").outcome is Outcome.PASSED


def test_fails_when_the_very_first_one_is_slow_beyond_anything_later() -> None:
    assert slowed(Rollout(), 1, 3.0).verdict(CHECK).outcome is Outcome.FAILED


def test_a_limit_of_the_stack_file_s_own_allows_for_it() -> None:
    rollout = slowed(Rollout(), 8, 1.0)
    rollout.plan["cold_start"] = {"times": None, "seconds": 2.0}
    assert rollout.verdict(CHECK).outcome is Outcome.PASSED


def test_a_start_that_is_slow_while_all_are_is_for_want_of_room_and_not_cold() -> None:
    rollout = slowed(Rollout(), 8, 1.0)
    first = [one.fields["sent"] for one in by_instance(rollout, rollout.new[0].task)[:10]]
    for life in (*rollout.old, *rollout.new[1:]):
        for one in by_instance(rollout, life.task):
            if min(first) <= one.fields["sent"] <= max(first):
                one.fields["done"] += 1.0
    assert rollout.verdict(CHECK).outcome is Outcome.PASSED


def test_a_connect_that_stalls_is_no_cold_start() -> None:
    """moby/moby #35082: the handler's time is as ever, the connection came a second later."""
    assert slowed(Rollout(), 8, 1.0, connected=1.0).verdict(CHECK).outcome is Outcome.PASSED


def test_is_not_proved_with_too_few_requests() -> None:
    rollout = Rollout()
    rollout.rates = {"short": 0.3, "long": 0.1}
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "can't be told apart" in verdict.evidence[0]
    assert "send more of one kind" in (verdict.advice or "")


def test_is_not_proved_without_a_new_instance() -> None:
    verdict = Rollout(update=False).verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert verdict.sentence == "No new instance was made, so none could start cold."
    assert verdict.advice is None


def test_an_update_that_made_nothing_new_before_it_was_broken_off_needs_no_more_traffic() -> None:
    rollout = Rollout(update=False)
    rollout.update, rollout.outcome = True, "interrupted"
    rollout.plan["steps"].append({"phase": "rollout", "fault": "update", "settings": {"force": True}})
    verdict = rollout.verdict(CHECK)
    assert verdict.sentence == "No new instance was made, so none could start cold."
    assert verdict.advice == missing.TO_ITS_END


def test_where_no_answer_names_its_instance_the_header_is_missing_and_no_traffic() -> None:
    """Plenty reached each of them; the client just can't tell which answer is whose."""
    rollout = without_a_header()
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "no answer names its instance" in verdict.evidence[0]
    assert "fewer than" not in verdict.evidence[0]
    assert "X-Instance-ID" in (verdict.advice or "")


def without_a_header() -> Rollout:
    """A rollout of an app that knows nothing of swarmtest: neither header nor lines."""
    rollout = Rollout()
    rollout.requests()
    for one in rollout.sent:
        one.fields.update({"instance": None, "echoed": None})
        one.steps = {}
    return rollout


def test_first_requests_of_an_instance_that_nothing_names_are_not_said_to_be_missing() -> None:
    verdict = without_a_header().verdict("new_served_only_when_ready")
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "no answer and no start line names its instance" in verdict.evidence[0]
    assert "no request was seen to reach it" not in " ".join(verdict.evidence)
    assert "X-Instance-ID" in (verdict.advice or "")
