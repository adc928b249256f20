from __future__ import annotations

import pytest

from tests.lint.looking import look, told

WEB = """\
services:
  web:
    image: demo/web:2
    deploy:
      replicas: 2
      update_config:
        order: start-first
        failure_action: rollback
"""
BACK = "      rollback_config: {%s}\n"


def test_the_way_back_is_stop_first_unless_it_is_said() -> None:
    (found,) = look("rolls-back-stop-first", WEB)
    assert told("rolls-back-stop-first", WEB) == ["web warning certain 4"]
    assert "default of rollback_config" in found.effect
    assert "an instance fewer" in found.effect
    assert found.edit is not None
    assert found.edit.key == ("services", "web", "deploy", "rollback_config", "order")


def test_with_one_replica_it_is_an_outage() -> None:
    (found,) = look("rolls-back-stop-first", WEB.replace("replicas: 2", "replicas: 1"))
    assert "nobody serves" in found.effect


def test_a_rollback_config_that_says_stop_first_is_the_place() -> None:
    text = WEB + BACK % "order: stop-first"
    assert told("rolls-back-stop-first", text) == ["web warning certain 9"]
    assert told("rolls-back-stop-first", WEB + BACK % "parallelism: 1") == ["web warning certain 9"]


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        ("start-first", "stop-first"),
        ("failure_action: rollback", "failure_action: pause"),
        ("demo/web:2", "postgres:16"),
        ("replicas: 2", "replicas: 0"),
        ("replicas: 2", "mode: replicated-job"),
    ],
)
def test_other_ways_up_are_silent(was: str, becomes: str) -> None:
    assert look("rolls-back-stop-first", WEB.replace(was, becomes)) == []


def test_start_first_both_ways_is_silent() -> None:
    assert look("rolls-back-stop-first", WEB + BACK % "order: start-first") == []
    assert look("rolls-back-stop-first", WEB, "compose") == []


@pytest.mark.parametrize(("action", "line"), [("failure_action: pause", 8), ("monitor: 5s", 6)])
def test_pause_leaves_two_versions_behind(action: str, line: int) -> None:
    text = WEB.replace("failure_action: rollback", action)
    (found,) = look("pauses-on-failure", text)
    assert told("pauses-on-failure", text) == [f"web info certain {line}"]
    assert "two versions" in found.effect
    assert ("the default" in found.effect) == (line == 6)
    assert "an instance fewer" not in found.effect
    assert "--with-registry-auth" in found.fix


def test_with_stop_first_an_instance_is_missing_too() -> None:
    (found,) = look("pauses-on-failure", "services: {web: {image: demo/web:1, deploy: {mode: global}}}\n")
    assert "an instance fewer" in found.effect


@pytest.mark.parametrize(
    ("was", "becomes"), [("replicas: 2", "replicas: 1"), ("rollback", "continue"), ("demo/web:2", "mysql:8")]
)
def test_one_replica_or_another_action_is_silent(was: str, becomes: str) -> None:
    text = WEB.replace("failure_action: rollback", "failure_action: pause") if was != "rollback" else WEB
    assert look("pauses-on-failure", text.replace(was, becomes)) == []


def test_continue_takes_no_notice_of_failures() -> None:
    text = WEB.replace("failure_action: rollback", "failure_action: continue")
    assert told("continues-on-failure", text) == ["web warning certain 8"]
    assert look("continues-on-failure", WEB) == []
    assert look("continues-on-failure", text, "compose") == []


RATIO = WEB + "        max_failure_ratio: {}\n"


@pytest.mark.parametrize(
    ("ratio", "replicas", "severity", "said"),
    [
        ("1", 2, "warning", "never exceeded"),
        ("0.5", 2, "warning", "only when 2 of 2"),
        ("0.8", 4, "warning", "only when 4 of 4"),
        ("2.5", 2, "error", "refuses"),
    ],
)
def test_a_ratio_that_lets_everything_fail(ratio: str, replicas: int, severity: str, said: str) -> None:
    (found,) = look("failure-ratio-too-high", RATIO.format(ratio).replace("replicas: 2", f"replicas: {replicas}"))
    assert (found.severity, found.certainty, found.place.line) == (severity, "certain", 9)
    assert said in found.effect


@pytest.mark.parametrize(
    ("ratio", "replicas"), [("0", 2), ("0.3", 3), ("0.5", 1), ("0.3", "${N}"), ("x", 2), ("'1${R}'", 2)]
)
def test_a_ratio_that_stops_in_time_is_silent(ratio: str, replicas: object) -> None:
    text = RATIO.format(ratio).replace("replicas: 2", f"replicas: {replicas}")
    assert look("failure-ratio-too-high", text) == []


def test_a_ratio_beside_continue_has_nothing_to_do() -> None:
    text = RATIO.format("1").replace("failure_action: rollback", "failure_action: continue")
    assert look("failure-ratio-too-high", text) == []
