from __future__ import annotations

from swarmtest.checks import Outcome
from tests.judge.builder import Rollout
from tests.judge.stories import killed

CHECK = "exercised_every_instance"


def test_passes_when_each_had_requests_on_both_kinds_of_connection() -> None:
    assert Rollout().verdict(CHECK).outcome is Outcome.PASSED


def test_a_front_door_that_never_sends_to_a_ready_instance_fails_it() -> None:
    rollout = Rollout()
    rollout.new[0].let_go = -100.0
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "api.1 (newtask1), new: 0 on kept connections, 0 on fresh ones" in verdict.evidence[0]
    assert "resolve" in (verdict.advice or "")


def test_an_instance_without_fresh_connections_is_not_exercised() -> None:
    rollout = Rollout()
    for one, row in zip(rollout.sent, rollout.requests(), strict=False):
        if one.on is rollout.new[0]:
            row["reused"] = True
    rollout.requests()
    for one in rollout.sent:
        if one.on is rollout.new[0]:
            one.fields["reused"] = True
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "not exercised" in verdict.evidence[0]


def test_one_that_lived_only_a_moment_may_have_had_nothing() -> None:
    rollout = Rollout()
    life = rollout.new[2]
    life.healthy = life.warm = rollout.ends - 2.0
    life.let_go = -100.0
    assert rollout.verdict(CHECK).outcome is Outcome.PASSED


def test_answers_by_an_unknown_instance_are_named() -> None:
    rollout = Rollout()
    rollout.request("foreign", 1.0, 1.1, None, instance="somebody-else", echoed=True)
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert any("somebody-else" in line for line in verdict.evidence)


def test_on_the_direct_front_door_kept_connections_may_stay_with_some_of_the_new_ones() -> None:
    rollout = Rollout(front_door="direct")
    rollout.requests()
    for one in rollout.sent:
        if one.on is rollout.new[0]:
            one.fields["reused"] = False
    assert rollout.verdict(CHECK).outcome is Outcome.PASSED
    for one in rollout.sent:
        if one.on in rollout.new:
            one.fields["reused"] = False
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert verdict.evidence[0] == "no new instance had a request on a kept connection"


def test_what_takes_a_victim_s_place_need_not_get_both_kinds_of_connection() -> None:
    run = killed()
    run.requests()
    for one in run.sent:
        if one.on is run.new[0]:
            one.fields["reused"] = False
    run.ends = 14.0
    assert run.verdict(CHECK).outcome is not Outcome.FAILED
    assert not any("no new instance" in line for line in run.verdict(CHECK).evidence)
