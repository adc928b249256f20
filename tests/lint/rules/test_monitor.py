from __future__ import annotations

import pytest

from swarmtest.lint.rules.monitor import seconds_to_unhealthy
from swarmtest.lint.services import Health
from tests.lint.looking import look, told

WEB = """\
services:
  web:
    image: demo/web:1
    healthcheck: {test: ["CMD", "/probe"], %s}
    deploy:
      update_config: {order: start-first, failure_action: rollback%s}
"""
SLOW = "interval: 30s, timeout: 10s, retries: 3"


def test_the_default_monitor_is_shorter_than_three_probes() -> None:
    text = WEB % (SLOW, "")
    (found,) = look("monitor-too-short", text)
    assert told("monitor-too-short", text) == ["web warning certain 6"]
    assert "3 x (30 s + 10 s) = 120 s" in found.effect
    assert "90 s if its probes fail at once" in found.effect
    assert "monitor: 120s" in found.fix
    assert "start_period isn't part of it" in found.fix
    assert found.edit is not None
    assert (found.edit.key[-1], found.edit.value) == ("monitor", "120s")


@pytest.mark.parametrize(("monitor", "certainty"), [("89s", "certain"), ("90s", "likely"), ("119s", "likely")])
def test_between_probes_that_fail_at_once_and_time_outs_it_is_likely(monitor: str, certainty: str) -> None:
    assert told("monitor-too-short", WEB % (SLOW, f", monitor: {monitor}")) == [f"web warning {certainty} 6"]


def test_values_that_the_image_may_have_are_likely() -> None:
    assert told("monitor-too-short", WEB % ("interval: 30s", "")) == ["web warning likely 6"]


@pytest.mark.parametrize(
    ("action", "said"), [("rollback", "the rollback isn't done"), ("pause", "the pause isn't done")]
)
def test_it_says_what_is_not_done(action: str, said: str) -> None:
    text = (WEB % (SLOW, "")).replace("failure_action: rollback", f"failure_action: {action}")
    (found,) = look("monitor-too-short", text.replace("deploy:", "deploy:\n      replicas: 2"))
    assert said in found.effect


@pytest.mark.parametrize("deploy", ["{}", "{replicas: 3, update_config: {parallelism: 0}}"])
def test_where_nothing_is_left_to_pause_only_the_status_is_wrong(deploy: str) -> None:
    """MRCIEU/genotype-phenotype-api, JazzDataSolutions/brain2gain: one replica, and no word on updates."""
    text = f"services:\n  db:\n    image: redis:7\n    healthcheck: {{test: [CMD, x], {SLOW}}}\n    deploy: {deploy}\n"
    (found,) = look("monitor-too-short", text)
    assert found.severity == "info"
    assert found.effect.endswith("the update is called completed before")


def test_a_monitor_of_zero_is_the_default() -> None:
    (found,) = look("monitor-too-short", WEB % ("interval: 10s, retries: 3", ", monitor: 0s"))
    assert "0s isn't off, it's the default of 5 s" in found.effect


@pytest.mark.parametrize(
    ("health", "update"),
    [
        ("interval: 10s, timeout: 2s, retries: 3, start_period: 120s", ", monitor: 40s"),
        (SLOW, ", monitor: 120s"),
        ("interval: 1s, timeout: 500ms, retries: 3", ""),
        (SLOW + ", disable: true", ""),
        ("interval: ${I}, retries: 3", ""),
        (SLOW, ", monitor: '${M}'"),
    ],
)
def test_a_monitor_that_is_long_enough_or_not_to_be_known_is_silent(health: str, update: str) -> None:
    text = (WEB % (health, update)).replace("${I}", "'${I}'")
    assert look("monitor-too-short", text) == []


def test_continue_and_compose_have_no_use_for_it() -> None:
    text = WEB % (SLOW, "")
    assert look("monitor-too-short", text.replace("rollback", "continue")) == []
    assert look("monitor-too-short", text, "compose") == []


def test_zero_in_a_health_check_is_dockers_default() -> None:
    assert seconds_to_unhealthy(Health(("CMD", "p"), 0.0, 0.0, 0, 0.0)) == (90.0, 180.0)
    assert seconds_to_unhealthy(Health(("CMD", "p"), None, 1.0, 3, 0.0)) is None


PLAIN = 'services:\n  web:\n    image: demo/web:1\n    ports: ["80:80"]\n%s    deploy: {%s}\n'


def test_without_a_health_check_only_a_crash_counts() -> None:
    text = PLAIN % ("", "update_config: {failure_action: rollback}")
    (found,) = look("monitor-without-health", text)
    assert told("monitor-without-health", text) == ["web info unknown 2"]
    assert "the rollback" in found.effect
    off = PLAIN % ("    healthcheck: {disable: true}\n", "update_config: {monitor: 20s}")
    assert told("monitor-without-health", off) == ["web info certain 5"]
    both = PLAIN % ("", "update_config: {failure_action: rollback, monitor: 20s}")
    assert "within 20 s" in look("monitor-without-health", both)[0].effect
    first = text.replace('    ports: ["80:80"]\n', "").replace("{failure", "{order: start-first, failure")
    assert told("monitor-without-health", first) == ["web info unknown 2"]


@pytest.mark.parametrize(
    ("more", "deploy"),
    [
        ("", "replicas: 2"),
        ("    healthcheck: {test: [CMD, /p]}\n", "update_config: {failure_action: rollback}"),
        ("", "update_config: {failure_action: continue, monitor: 9s}"),
    ],
)
def test_who_asks_for_nothing_is_not_told(more: str, deploy: str) -> None:
    assert look("monitor-without-health", PLAIN % (more, deploy)) == []


def test_what_nobody_asks_can_answer_with_no_errors() -> None:
    text = PLAIN % ("", "update_config: {failure_action: rollback}")
    assert look("monitor-without-health", text.replace('    ports: ["80:80"]\n', "")) == []


DELAY = "services: {web: {image: demo/web:2, deploy: {update_config: {%s}}}}\n"


@pytest.mark.parametrize("update", ["delay: 30s, monitor: 5s, failure_action: rollback", "delay: 5s", "delay: 10s"])
def test_a_delay_as_long_as_the_monitor_hides_failures_from_old_engines(update: str) -> None:
    (found,) = look("delay-hides-failure", DELAY % update)
    assert (found.severity, found.certainty) == ("warning", "likely")
    assert "end of 2021" in found.effect
    assert "monitor above the delay" in found.fix


def test_it_says_when_a_newer_engine_is_done() -> None:
    (found,) = look("delay-hides-failure", DELAY % "delay: 30s, monitor: 5s, failure_action: rollback")
    assert "watch for 31 s" in found.effect
    assert "61 s after the last task" in found.effect
    assert "35s" in found.fix


@pytest.mark.parametrize(
    "update",
    [
        "delay: 4s",
        "delay: 30s, monitor: 31s",
        "delay: 0s, monitor: 0s",
        "delay: 30s, failure_action: continue",
        "delay: '${D}'",
        "monitor: 5s",
    ],
)
def test_a_shorter_delay_is_silent(update: str) -> None:
    assert look("delay-hides-failure", DELAY % update) == []
