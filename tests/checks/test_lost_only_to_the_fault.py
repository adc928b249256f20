from __future__ import annotations

import pytest

from swarmtest.checks import Outcome
from swarmtest.losses import Charge
from tests.judge.builder import Rollout
from tests.judge.stories import (
    dies,
    drained_too_long,
    frozen,
    hurting,
    killed,
    stopped_by_hand,
    terminated_by_force,
    turns_bad_late,
    without_its_dependency,
)

CHECK = "lost_only_to_the_fault"


def stories() -> dict[str, Rollout]:
    return {
        "kill": killed(),
        "two at once": killed((0, 2)),
        "direct": killed(front_door="direct"),
        "freeze": frozen(),
        "grace of 1 s": terminated_by_force(),
        "drains too long": drained_too_long(),
        "dependency": without_its_dependency(),
    }


@pytest.mark.parametrize("name", stories())
def test_passes_when_all_that_is_lost_went_with_the_victim(name: str) -> None:
    verdict = stories()[name].verdict(CHECK)
    assert verdict.outcome is Outcome.PASSED, verdict


def test_a_kill_takes_what_ran_there_and_what_was_sent_before_the_front_door_noticed() -> None:
    verdict = killed().at(10.0, 4.0).verdict(CHECK)
    assert verdict.sentence == "All 12 requests that were lost belonged to the fault: 8 cut, 4 gateway."
    assert verdict.evidence == (
        "kill of api.1 (oldtask1): 8 cut, 4 gateway; the last one sent 0.60 s after it could be noticed",
    )


def test_what_the_front_door_sends_to_a_dead_instance_after_its_time_is_its_own_loss() -> None:
    run = killed()
    run.old[0].let_go = 6.0
    verdict = run.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "charged to front door (front door sends to an instance that it should have let go)" in verdict.evidence[0]
    assert "api.1 (oldtask1)" in verdict.evidence[0]
    assert "let the front door learn of new addresses" in (verdict.advice or "")
    assert "grace" not in (verdict.advice or "")


def test_one_that_is_frozen_longer_than_clients_wait_costs_what_was_sent_in_the_front_door_s_time() -> None:
    run = frozen(8.0)
    run.plan["traffic"]["timeout_seconds"] = 5
    assert run.verdict(CHECK).outcome is Outcome.PASSED
    assert "timed_out" in run.verdict(CHECK).sentence
    late = frozen(8.0)
    late.plan["traffic"]["timeout_seconds"] = 5
    late.old[0].let_go = 7.0
    verdict = late.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert any("front door sends to an instance that stands still" in line for line in verdict.evidence)
    assert "let the front door probe the instances itself" in (verdict.advice or "")


def test_what_is_lost_on_an_instance_that_nobody_hurt_is_the_stack_s() -> None:
    run = killed().at(10.0, 4.0)
    one = run.unanswered("other", 0.2, 0.4)
    one.on, one.steps = run.old[1], {"start": 0.21}
    verdict = run.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert verdict.sentence == "1 request of 13 lost weren't lost to the fault: 1 cut."
    assert verdict.evidence[0].startswith("1 cut on api.2 (oldtask2)")


def test_those_that_are_left_and_have_no_room_are_named_with_what_helps() -> None:
    run = killed((0, 1))
    for n in range(6):
        one = run.served(f"full-{n}", 1.0 + n / 4, 1.01 + n / 4, run.old[2], status=503, retry_after=True)
        one.steps = {"start": 1.002 + n / 4, "finish": 1.008 + n / 4}
    verdict = run.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "6 shed on api.3 (oldtask3), charged to unplaced (those that were left had no room)" in verdict.evidence[0]
    assert "run so many replicas" in (verdict.advice or "")


def test_a_cold_replacement_is_not_the_kill_s_fault() -> None:
    run = killed()
    new = run.new[0]
    for n in range(3):
        at = new.started + 0.3 + n / 4
        run.bad_gateway(f"cold-{n}", at, at + 0.01, new)
    verdict = run.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "charged to start up" in verdict.evidence[0]


def test_with_nobody_left_more_replicas_are_what_helps() -> None:
    run = killed((0,), replicas=1)
    verdict = run.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "no instance left to serve" in verdict.evidence[0]
    assert "run more replicas" in (verdict.advice or "")


def test_an_app_that_cuts_before_its_grace_is_over_is_not_excused_by_a_short_grace() -> None:
    run = terminated_by_force()
    for life in run.old:
        life.killed = None
        life.exited, life.exit_code = (life.signalled or 0) + 0.01, 0
    verdict = run.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "(drain missing)" in verdict.evidence[0]
    assert "grace does nothing" in (verdict.advice or "")


def test_a_slow_stop_within_its_grace_excuses_nothing() -> None:
    run = drained_too_long()
    run.plan["stack"]["grace_seconds"] = 30
    run.plan["deployed_with"] = {}
    for life in run.old:
        life.killed, life.exit_code = None, 0
    assert run.verdict(CHECK).outcome is Outcome.FAILED


def test_a_signal_by_hand_is_a_fault_only_where_losses_are_meant_to_be() -> None:
    for kind, outcome in (("destructive", Outcome.PASSED), ("orderly", Outcome.FAILED)):
        run = stopped_by_hand(kind, "signal")
        one = run.unanswered("cut", 0.0, 2.0)
        one.on, one.steps = run.old[0], {"start": 0.002}
        assert run.verdict(CHECK).outcome is outcome


def test_a_stop_amid_a_destructive_mix_excuses_no_drain_that_is_missing() -> None:
    run = stopped_by_hand("destructive")
    run.plan["scenario"] = "chaos"
    life = run.old[0]
    life.unready, life.closed, life.exited = None, None, 0.07
    verdict = run.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "charged to shutdown (drain missing)" in verdict.evidence[0]
    assert "grace does nothing" in (verdict.advice or "")


def test_one_that_went_on_within_its_grace_and_yet_ran_into_its_end_is_not_excused_by_the_freeze() -> None:
    for until, outcome in ((1.0, Outcome.PASSED), (-2.0, Outcome.FAILED)):  # from its end
        run = drained_too_long()
        run.plan["deployed_with"] = {}
        life = run.old[0]
        run.extra = [(life.exited + until if data.get("id") == 3 else t, kind, data) for t, kind, data in run.extra]
        one = run.unanswered("cut", life.signalled - 1.0, life.exited)
        one.on, one.steps = life, {"start": life.signalled - 0.9}
        lost = [one for one in run.judged().losses.seen if one.request.id == "cut"]
        assert (lost[0].charge is Charge.FAULT) is (outcome is Outcome.PASSED)
        assert run.verdict(CHECK).outcome is outcome


def test_what_nobody_can_place_is_not_proved_to_be_the_fault_s() -> None:
    run = killed().at(10.0, 4.0)
    run.drop(lambda event: event["kind"] == "proxied")
    verdict = run.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "4 requests reached nobody known, perhaps one that wasn't hurt" in verdict.evidence[0]
    assert "log a line of each request with the server that it dialled" in (verdict.advice or "")


@pytest.mark.parametrize(("after_exit", "outcome"), [(0.02, Outcome.PASSED), (0.4, Outcome.NOT_PROVED)])
def test_a_connection_that_a_proxy_closes_without_a_word_went_with_the_victim_if_it_ended_in_the_same_moment(
    after_exit: float, outcome: Outcome
) -> None:
    run = killed()
    (victim,) = [life for life in run.old if life.killed is not None]
    ended = (victim.exited or 0.0) + after_exit
    run.request(
        "wordless", ended - 0.1, ended, status=None, client_outcome="closed_unanswered", first_byte=None, reused=True
    )
    assert run.verdict(CHECK).outcome is outcome


def test_of_two_that_are_killed_one_after_the_other_either_may_have_taken_a_wordless_connection_along() -> None:
    run = killed()
    (first,) = [life for life in run.old if life.killed is not None]
    run.ends = 25.0
    run.plan["steps"].append({**run.plan["steps"][-1], "phase": "again"})
    second = run.old[1]
    dies(run, second, (first.exited or 0.0) + 0.5, 12)
    run.act(2, "kill", (first.exited or 0.0) + 0.5, [second])
    ended = (second.exited or 0.0) + 0.02
    run.request(
        "wordless", ended - 0.1, ended, status=None, client_outcome="closed_unanswered", first_byte=None, reused=True
    )
    lost = next(one for one in run.judged().losses.lost if one.request.id == "wordless")
    assert lost.fault is not None
    assert lost.fault.task == first.task, "it's in the first one's reach, and went with the second"
    assert "wordless" not in " ".join(run.verdict(CHECK).evidence), run.verdict(CHECK)


def test_where_the_front_door_says_that_it_had_nobody_its_word_counts() -> None:
    run = killed()
    run.bad_gateway("nobody", 0.5, 0.51, None, status=503)
    assert run.verdict(CHECK).outcome is Outcome.PASSED


def test_without_a_declared_time_nothing_says_how_long_the_front_door_may_send() -> None:
    run = killed().at(10.0, 4.0)
    run.plan["front_door"]["within_seconds"] = None
    verdict = run.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert verdict.advice == "say how long the front door may take to notice: x-swarmtest front_door.within"


def test_a_run_in_which_nothing_was_hurt_proves_nothing() -> None:
    assert hurting("kill").verdict(CHECK).outcome is Outcome.NOT_PROVED
    assert Rollout().verdict(CHECK).outcome is Outcome.NOT_PROVED


def test_what_was_lost_before_anything_was_hurt_was_not_lost_to_the_fault() -> None:
    run = killed().at(10.0, 4.0)
    run.bad_gateway("early", -3.0, -2.9, run.old[1])
    verdict = run.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert verdict.sentence == "1 request of 13 lost weren't lost to the fault: 1 gateway."
    assert "charged to background" in verdict.evidence[0]
    assert "the scenario baseline" in (verdict.advice or "")


def test_what_the_client_itself_lost_is_no_finding_about_the_stack() -> None:
    run = killed()
    run.unanswered("ours", 3.0, 3.1, client_outcome="local_error", error="no file descriptor left")
    verdict = run.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "1 request lost by swarmtest's own client" in " ".join(verdict.evidence)


def test_a_version_that_turns_bad_may_leave_nobody_to_serve() -> None:
    verdict = turns_bad_late().verdict(CHECK)
    assert verdict.outcome is Outcome.PASSED, verdict
    assert any(line.startswith("nobody was left to serve") for line in verdict.evidence)


def test_a_second_kill_has_a_reach_of_its_own() -> None:
    run = killed()
    run.ends = 25.0
    run.plan["steps"].append({**run.plan["steps"][-1], "phase": "again"})
    dies(run, run.old[1], 12.0, 12)
    run.act(2, "kill", 12.0, [run.old[1]])
    verdict = run.verdict(CHECK)
    assert verdict.outcome is Outcome.PASSED
    assert [line.split(":")[0] for line in verdict.evidence] == ["kill of api.1 (oldtask1)", "kill of api.2 (oldtask2)"]


def test_what_was_lost_when_the_run_was_broken_off_is_swarmtest_s_own_doing() -> None:
    run = killed().at(10.0, 4.0)
    run.outcome = "interrupted"
    late = run.unanswered("late", run.ends, run.ends + 6.0)
    late.on, late.steps = run.old[1], {"start": run.ends + 0.01}
    verdict = run.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "1 request lost as the run was broken off" in verdict.evidence
    assert run.verdict("answered_every_request").sentence.startswith("12 of")


def test_an_instance_that_crashed_as_the_kill_came_was_not_killed() -> None:
    run = killed()
    life = run.old[0]
    life.killed, life.exited, life.exit_code = None, 0.02, 1
    verdict = run.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "(crashed)" in verdict.evidence[0]


def test_nobody_left_while_a_bad_version_comes_in_is_the_rollout_s_doing() -> None:
    run = turns_bad_late()
    run.plan["stack"]["order"] = "stop-first"
    for life in run.old:
        life.announced, life.desired, life.signalled, life.unready = 3.0, 2.9, 5.0, 5.0
        life.closed, life.exited = 7.0, 8.5
    for life in run.new:
        life.created, life.started, life.healthy, life.warm = 9.0, 9.2, 11.5, 11.0
    judged = run.judged()
    lost = [one for one in judged.losses.seen if 3.5 < one.request.began - 1_000_000.0 < 11.0]
    assert len(lost) > 50
    assert not any(one.charge is Charge.FAULT for one in lost)
    assert "no instance left to serve" in run.verdict(CHECK).evidence[0]
