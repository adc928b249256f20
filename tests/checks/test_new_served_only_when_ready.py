from __future__ import annotations

from swarmtest.checks import Outcome
from tests.judge.builder import Rollout

CHECK = "new_served_only_when_ready"


def test_passes_when_each_serves_only_after_it_is_ready() -> None:
    assert Rollout().verdict(CHECK).outcome is Outcome.PASSED


def test_errors_of_a_cold_instance_are_charged_to_its_start() -> None:
    """docker/for-linux #615, moby/moby #35881: 503 with the new instance's ID, a fault of start-up."""
    rollout = Rollout()
    life = rollout.new[0]
    life.warm = (life.healthy or 0) + 6.0
    rollout.served("cold", (life.healthy or 0) + 1.0, (life.healthy or 0) + 1.1, life, status=503)
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "1 error before it was ready" in verdict.evidence[0]
    assert "warm-up" in (verdict.advice or "")
    assert "a longer grace does nothing" in (verdict.advice or "")
    assert [event.charge for event in rollout.document().loss_events] == ["start_up"]


def test_refused_dials_to_a_new_instance_are_charged_to_its_start() -> None:
    rollout = Rollout()
    rollout.plan["stack"]["healthcheck"] = None
    life = rollout.new[0]
    life.healthy, life.warm = None, life.started + 8.0
    rollout.bad_gateway("refused", life.started + 2.0, life.started + 2.1, life)
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "give the service a healthcheck" in (verdict.advice or "")


def test_a_request_that_starts_before_warm_fails_it_even_if_it_is_answered() -> None:
    rollout = Rollout()
    life = rollout.new[0]
    rollout.served("early", (life.warm or 0) - 0.5, (life.warm or 0) - 0.3, life)
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "started up to 0.50 s before it was ready (early)" in verdict.evidence[0]


def test_an_instance_that_shows_no_readiness_proves_nothing() -> None:
    rollout = Rollout()
    rollout.plan["stack"]["healthcheck"] = None
    for life in rollout.new:
        life.healthy = life.warm = None
    assert rollout.verdict(CHECK).outcome is Outcome.NOT_PROVED


def test_without_new_instances_there_is_nothing_to_prove_it_by() -> None:
    rollout = Rollout()
    rollout.new = []
    assert rollout.verdict(CHECK).outcome is Outcome.NOT_PROVED
