from __future__ import annotations

import pytest

from swarmtest.checks import Outcome
from tests.judge.builder import Rollout
from tests.judge.stories import killed, scaled_in, stopped_by_hand

CHECK = "front_door_let_go_in_time"


def test_passes_when_the_last_new_request_comes_soon_after_the_announcement() -> None:
    verdict = Rollout().verdict(CHECK)
    assert verdict.outcome is Outcome.PASSED
    assert "limit 1 s" in verdict.evidence[0]


def test_a_front_door_that_sends_on_fails_it_with_its_delay() -> None:
    """traefik/traefik #7886, #11252: a list of tasks that's read every 15 s."""
    rollout = Rollout()
    life = rollout.old[0]
    rollout.served("late", (life.announced or 0) + 1.8, (life.announced or 0) + 1.9, life)
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "+1.80 s ± 0.05 s" in verdict.evidence[0]


def test_requests_dialled_in_vain_count_as_sent() -> None:
    rollout = Rollout()
    rollout.bad_gateway(
        "in-vain", (rollout.old[0].exited or 0) + 1.0, (rollout.old[0].exited or 0) + 1.1, rollout.old[0]
    )
    assert rollout.verdict(CHECK).outcome is Outcome.FAILED


def test_a_delay_within_the_error_bar_of_the_limit_proves_nothing() -> None:
    rollout = Rollout()
    life = rollout.old[0]
    rollout.served("late", (life.announced or 0) + 0.98, (life.announced or 0) + 1.1, life)
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "within the error bar" in verdict.evidence[0]


def test_without_a_declared_time_the_limit_is_swarms_own_pause() -> None:
    rollout = Rollout()
    rollout.plan["front_door"]["within_seconds"] = None
    life = rollout.old[0]
    rollout.served("late", (life.announced or 0) + 1.8, (life.announced or 0) + 1.9, life)
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.PASSED
    assert "Swarm's own pause" in verdict.sentence


def test_an_announcement_that_nobody_saw_proves_nothing() -> None:
    rollout = Rollout()
    rollout.watches_names = False
    rollout.drop(lambda e: e["kind"] == "task" and e.get("desired") == "shutdown")
    assert rollout.verdict(CHECK).outcome is Outcome.NOT_PROVED


def test_lost_requests_that_reached_nobody_known_keep_it_from_being_proved() -> None:
    rollout = Rollout()
    life = rollout.old[0]
    rollout.unanswered("hidden", (life.announced or 0) + 2.5, (life.announced or 0) + 3.0)
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert any("hidden" in line for line in verdict.evidence)


def test_on_the_direct_front_door_kept_connections_are_the_servers_to_end() -> None:
    rollout = Rollout(front_door="direct")
    life = rollout.old[0]
    rollout.served("kept", (life.announced or 0) + 3.0, (life.announced or 0) + 3.2, life, reused=True)
    assert rollout.verdict(CHECK).outcome is Outcome.PASSED


def test_traffic_that_ended_too_soon_shows_nothing() -> None:
    rollout = Rollout()
    rollout.plan["front_door"]["within_seconds"] = 20.0
    assert rollout.verdict(CHECK).outcome is Outcome.NOT_PROVED


def test_a_kill_leaves_nothing_to_be_noticed_in_time() -> None:
    assert killed().verdict(CHECK).outcome is Outcome.NOT_PROVED


@pytest.mark.parametrize(("let_go", "outcome"), [(0.9, Outcome.PASSED), (3.0, Outcome.FAILED)])
def test_a_stop_by_hand_is_announced_by_the_app_alone(let_go: float, outcome: Outcome) -> None:
    run = stopped_by_hand()
    run.old[0].let_go = let_go
    verdict = run.verdict(CHECK)
    assert verdict.outcome is outcome
    assert "from its first sign of going" in verdict.evidence[0]


def test_only_those_that_were_scaled_away_are_looked_at() -> None:
    verdict = scaled_in().verdict(CHECK)
    assert verdict.outcome is Outcome.PASSED
    assert verdict.sentence == "The front door let go of 1 old instance within 1 s."
