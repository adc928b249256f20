"""Limits as verdicts: passed, failed with the second and the requests, not proved where too little was seen."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import pytest

from swarmtest.limits import Limit
from swarmtest.limits.grammar import parse_limit
from swarmtest.reports import CheckEntry
from tests.judge.builder import T0, Rollout


def busy() -> Rollout:
    """With enough traffic for a percentile to be told."""
    return Rollout().at(10.0, 4.0)


def entry(rollout: Rollout, text: str, **changes: Any) -> CheckEntry:
    """What comes of one limit."""
    rollout.plan["limits"] = [asdict(replace(parse_limit(text), **changes))]
    (found,) = [check for check in rollout.document().checks if check.limit is not None]
    return found


def losing(*names: str, at: float = 3.1) -> Rollout:
    rollout = busy()
    for name in names:
        rollout.bad_gateway(name, at, at + 0.02, rollout.old[0])
    return rollout


def ended(rollout: Rollout, name: str, began: float, until: float) -> Rollout:
    rollout.event(began, "phase", name=name, edge="began")
    return rollout.event(until, "phase", name=name, edge="ended")


# ---------------------------------------------------------------- answer times


def test_a_percentile_within_its_limit_passes_with_both_figures() -> None:
    found = entry(busy(), "p99 of short < 800ms")
    assert (found.name, found.outcome) == ("limit p99 of short < 800ms", "passed")
    assert found.sentence == "100 ms, of 315 answers."
    assert found.limit is not None
    assert (found.limit.measured, found.limit.uncorrected, found.limit.requests) == (100.0, 100.0, 315)


def test_times_count_from_when_a_request_was_due_and_not_from_when_it_was_sent() -> None:
    rollout = busy()
    for one in rollout.requests():
        if one["kind"] == "short":
            one["planned"] -= 0.4
    found = entry(rollout, "p99 of short < 300ms")
    assert found.outcome == "failed"
    assert found.limit is not None
    assert (found.limit.measured, found.limit.uncorrected) == (500.0, 100.0)
    assert "counted from when they were really sent: 100 ms" in found.evidence


def test_a_percentile_beyond_its_limit_fails_with_the_second_and_the_slowest() -> None:
    rollout = busy()
    for n in range(6):
        rollout.served(f"slow-{n}", 3.2, 5.2 + n / 10, rollout.old[2])
    found = entry(rollout, "p99 of short < 800ms")
    assert found.outcome == "failed"
    assert found.sentence.startswith("2,200 ms, 1,400 ms over; 6 of 321 answers")
    assert any(line.startswith("worst second: +3.00 s, 6 of ") for line in found.evidence)
    assert any(line.startswith("slowest: slow-5 (2,500 ms), slow-4 (2,400 ms)") for line in found.evidence)


def test_a_percentile_of_a_few_requests_is_not_proved_however_quick_they_are() -> None:
    rollout = busy()
    rollout.rates = {"short": 0.35, "long": 0.0}
    found = entry(rollout, "p99 of short < 800ms")
    assert found.outcome == "not_proved"
    assert "11 answers can't tell, it takes 299" in found.sentence
    assert "299 requests of short tell p99, which take 30 s at 10/s" in (found.advice or "")


def test_a_few_that_are_all_too_slow_prove_enough() -> None:
    rollout = busy()
    rollout.rates = {"short": 0.35, "long": 0.0}
    assert entry(rollout, "p99 of short < 50ms").outcome == "failed"


def test_lost_requests_have_no_answer_time() -> None:
    rollout = busy()
    for n in range(9):
        rollout.unanswered(f"gone-{n}", 3.0, 3.0 + 20, client_outcome="timed_out")
    assert entry(rollout, "max of short < 1s").outcome == "passed"


# ---------------------------------------------------------------- counts


def test_nothing_lost_passes_and_says_what_that_proves() -> None:
    found = entry(busy(), "lost = 0")
    assert (found.outcome, found.sentence) == ("passed", "0 of 441 requests.")
    assert found.evidence == ["none of so many is a share below 0.677 % at 95 %"]


def test_one_lost_request_fails_it_with_its_id_its_instance_and_its_second() -> None:
    found = entry(losing("lost-1"), "lost = 0")
    assert (found.outcome, found.sentence) == ("failed", "1 of 442 requests.")
    assert "1 gateway: 1 on api.1 (oldtask1); lost-1" in found.evidence
    assert "worst second: +3.00 s, 1 in it" in found.evidence


def test_a_count_counts_its_own_class_alone() -> None:
    assert entry(losing("a", "b"), "refused = 0").outcome == "passed"
    assert entry(losing("a", "b"), "gateway <= 2").outcome == "passed"
    assert entry(losing("a", "b"), "gateway <= 1").outcome == "failed"


def test_without_a_request_nothing_is_proved() -> None:
    rollout = busy()
    rollout.rates = {"short": 0.0, "long": 0.0}
    for text in ("lost = 0", "p99 < 1s", "success per second >= 99%", "duplicates = 0"):
        assert entry(rollout, text).outcome == "not_proved", text


def test_answers_that_nobody_proves_to_be_good_make_it_not_proved() -> None:
    rollout = busy()
    for row in rollout.requests():
        row["instance"] = None
    found = entry(rollout, "lost = 0")
    assert found.outcome == "not_proved"
    assert "441 that may be" in found.sentence
    times = entry(rollout, "p99 < 1s")
    assert (times.outcome, times.sentence) == ("not_proved", "No request is proved to be answered.")


def test_a_request_of_unknown_fate_may_have_been_cut() -> None:
    rollout = busy()
    rollout.unanswered("gone", 5.7, 5.8, client_outcome="closed_unanswered")
    for life in rollout.old:
        life.logs = life.log_complete = False
    unknown = [event for event in rollout.document().loss_events if event.loss == "unknown"]
    assert [event.id for event in unknown] == ["gone"]
    assert entry(rollout, "cut = 0").outcome == "not_proved"
    assert entry(rollout, "refused = 0").outcome == "passed"


def test_a_share_is_of_all_that_was_sent() -> None:
    assert entry(losing("a", "b", "c"), "lost <= 1%").outcome == "passed"
    assert entry(losing("a", "b", "c"), "success >= 99%").outcome == "passed"
    found = entry(losing("a", "b", "c"), "success >= 99.5%")
    assert found.outcome == "failed"
    assert found.sentence.startswith("99.32 % of 444 requests, 3 lost")


def test_a_share_of_too_few_is_not_proved() -> None:
    rollout = busy()
    rollout.rates = {"short": 0.35, "long": 0.0}
    found = entry(rollout, "lost <= 1%")
    assert found.outcome == "not_proved"
    assert "fewer than 100 can't tell" in found.sentence


def test_what_was_handled_twice_is_counted_by_the_records() -> None:
    rollout = busy()
    assert entry(rollout, "duplicates = 0").outcome == "passed"
    rollout = busy()
    rollout.served("twice", 1.0, 1.1, rollout.old[0])
    fields = {"instance": rollout.old[1].task, "request_id": "twice", "container": rollout.old[1].container}
    rollout.event(1.05, "record", event="start", seq=100_000, **fields)
    found = entry(rollout, "duplicates = 0")
    assert found.outcome == "failed"
    assert "twice: twice" in found.evidence


# ---------------------------------------------------------------- seconds


def test_a_rate_that_hides_a_bad_second_is_found_by_the_second() -> None:
    rollout = losing("a", "b", "c")
    assert entry(rollout, "success >= 99%").outcome == "passed"
    found = entry(rollout, "success per second >= 99%")
    assert found.outcome == "failed"
    assert "Broken in 1 of 36 seconds; the worst has 82.35 %, at +3.00 s" in found.sentence
    assert found.evidence == ["second from +3.00 s: 17 requests ended: 3 gateway; a, b, c"]


def test_every_second_within_the_limit_passes_with_the_lowest() -> None:
    found = entry(busy(), "success per second >= 99%")
    assert found.outcome == "passed"
    assert "The lowest of 36 seconds is 100 %" in found.sentence


def test_a_second_that_may_be_broken_is_not_proved() -> None:
    rollout = busy()
    for row in rollout.requests()[100:105]:
        row["framing"] = "close"
    found = entry(rollout, "success per second >= 99%")
    assert found.outcome == "not_proved"
    assert "may break it" in found.sentence


def test_a_number_of_answers_per_second_is_missed_in_a_second_without_any() -> None:
    rollout = ended(busy(), "settle", 20.0, 21.0)
    assert entry(rollout, "success per second >= 5").outcome == "passed"
    rollout = ended(busy(), "settle", 20.0, 21.0)
    rollout.sent = [one for one in rollout.requests() and rollout.sent if not 5 <= one.fields["done"] - T0 < 7]
    found = entry(rollout, "success per second >= 5")
    assert found.outcome == "failed"
    assert "the worst has 0, at +5.00 s" in found.sentence


# ---------------------------------------------------------------- phases


def test_a_lost_request_belongs_to_the_phase_in_which_it_was_lost() -> None:
    rollout = busy()
    rollout.bad_gateway("early", -1.0, 0.5, rollout.old[0])
    ended(rollout, "baseline", -8.0, 0.0)
    assert entry(rollout, "lost in baseline = 0").outcome == "passed"
    assert entry(rollout, "lost in rollout = 0").outcome == "failed"
    assert entry(rollout, "lost per rollout = 0").outcome == "failed"


def test_the_rollout_ends_where_the_traffic_settles() -> None:
    rollout = ended(losing("late", at=22.5), "settle", 22.0, 23.0)
    assert entry(rollout, "lost in rollout = 0").outcome == "passed"
    assert entry(rollout, "lost in settle = 0").outcome == "failed"


def test_a_phase_that_the_run_never_came_to_is_not_proved() -> None:
    found = entry(busy(), "lost in settle = 0")
    assert (found.outcome, found.sentence) == ("not_proved", "The run never came to the phase settle.")
    assert entry(Rollout(update=False), "lost in rollout = 0").outcome == "not_proved"


def test_per_rollout_each_act_begins_a_new_count() -> None:
    rollout = losing("a", "b")
    rollout.act(2, "update", 10.0)
    rollout.bad_gateway("c", 11.0, 11.1, rollout.old[2])
    assert entry(rollout, "lost in rollout <= 2").outcome == "failed"
    found = entry(rollout, "lost <= 2 per rollout")
    assert found.outcome == "passed"
    assert any(line.startswith("act 1 of 2: 2 of ") for line in found.evidence)
    assert any(line.startswith("act 2 of 2: 1 of ") for line in found.evidence)


def test_of_several_acts_the_worst_one_leads() -> None:
    rollout = losing("a")
    rollout.act(2, "update", 10.0)
    for name in ("b", "c"):
        rollout.bad_gateway(name, 11.0, 11.1, rollout.old[2])
    found = entry(rollout, "lost <= 1 per rollout")
    assert found.outcome == "failed"
    assert found.sentence.startswith("2 of ")
    assert found.limit is not None
    assert found.limit.measured == 2.0


# ---------------------------------------------------------------- runs that hurt on purpose


def killed() -> Rollout:
    rollout = Rollout(update=False)
    rollout.plan |= {"kind": "destructive", "steps": [{"phase": "kill", "fault": "kill", "target": {"ranks": [0]}}]}
    victim = rollout.old[0]
    victim.killed = victim.exited = 0.05
    victim.exit_code, victim.let_go = 137, 0.4
    rollout.act(1, "kill", 0.0, [victim])
    rollout.ends = 10.0
    return rollout


def test_what_was_lost_to_the_fault_does_not_count_in_a_destructive_run() -> None:
    rollout = killed()
    lost = rollout.document().loss_events
    assert lost
    assert {event.charge for event in lost} == {"fault"}
    found = entry(killed(), "lost = 0")
    assert found.outcome == "passed"
    assert found.sentence.endswith(f"({len(lost)} lost to what was hurt aren't counted).")
    assert entry(killed(), "success per second >= 99%").outcome == "passed"


def test_what_was_lost_to_the_fault_can_have_a_limit_of_its_own() -> None:
    count = len(killed().document().loss_events)
    assert entry(killed(), f"lost to fault <= {count}").outcome == "passed"
    assert entry(killed(), f"lost to fault <= {count - 1}").outcome == "failed"


def test_what_was_lost_beside_the_fault_counts_in_a_destructive_run() -> None:
    rollout = killed()
    rollout.bad_gateway("other", 5.0, 5.1, rollout.old[1])
    assert entry(rollout, "lost = 0").outcome == "failed"


# ---------------------------------------------------------------- as part of the document


def test_limits_weigh_as_checks_do_and_come_after_them() -> None:
    rollout = busy()
    rollout.plan["limits"] = [asdict(parse_limit("p99 < 1s")), asdict(parse_limit("lost = 0"))]
    document = rollout.document()
    assert [check.name for check in document.checks][-2:] == ["limit p99 < 1s", "limit lost = 0"]
    assert [check.outcome for check in document.checks][-2:] == ["failed", "passed"]
    assert (document.outcome, document.exit_code) == ("failed", 1)


def test_a_plan_of_before_there_were_limits_has_none() -> None:
    assert all(check.limit is None for check in busy().document().checks)


def test_a_limit_that_cannot_be_judged_is_not_proved_and_hides_nothing() -> None:
    rollout = busy()
    rollout.plan["limits"] = [asdict(Limit("odd", "odd", "<", 1.0, "ms"))]
    checks = rollout.document().checks
    assert (checks[-1].name, checks[-1].outcome) == ("limit odd", "not_proved")
    assert checks[0].outcome == "passed"


@pytest.mark.parametrize("text", ["p99 < 800ms", "lost = 0", "success per second >= 99%"])
def test_the_same_run_gives_the_same_words(text: str) -> None:
    assert entry(losing("a"), text) == entry(losing("a"), text)


def test_what_the_run_was_not_held_to_and_where_its_traffic_came_from_are_notes() -> None:
    rollout = busy()
    rollout.plan["not_asked"] = ["lost in kill = 0: isn't asked of rolling, which has no phase kill"]
    rollout.plan["traffic"]["taken"] = ["2 kinds of requests from site.har"]
    notes = rollout.document().notes
    assert "limit lost in kill = 0: isn't asked of rolling, which has no phase kill" in notes
    assert "traffic: 2 kinds of requests from site.har" in notes
