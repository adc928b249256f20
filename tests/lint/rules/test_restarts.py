from __future__ import annotations

import pytest

from tests.lint.looking import look, stack, told

WEB = """\
services:
  web:
    image: demo/web:1
    ports: ["80:80"]
    deploy:
      restart_policy: {%s}
"""


def test_condition_none_replaces_nothing() -> None:
    assert told("not-restarted", WEB % "condition: none") == ["web error certain 6"]


def test_without_a_sign_that_it_runs_on_it_may_be_meant_so() -> None:
    text = (WEB % "condition: none").replace('    ports: ["80:80"]\n', "")
    (found,) = look("not-restarted", text)
    assert (found.severity, found.certainty) == ("info", "unknown")
    assert "runs once" in found.effect


@pytest.mark.parametrize(
    "sign",
    ["healthcheck: {test: [CMD, /p]}\n    deploy:\n      replicas: 1\n", "deploy:\n      replicas: 2\n"],
)
def test_signs_that_it_runs_on(sign: str) -> None:
    text = (WEB % "condition: none").replace('ports: ["80:80"]\n    deploy:\n', sign)
    assert [found.split()[1] for found in told("not-restarted", text)] == ["error"]


@pytest.mark.parametrize("policy", ["condition: any", "condition: '${C}'", "delay: 1s", "condition: on-failure"])
def test_other_conditions_are_silent(policy: str) -> None:
    assert look("not-restarted", WEB % policy) == []


def test_an_orderly_end_is_no_failure() -> None:
    assert told("restarted-on-failure-only", WEB % "condition: on-failure") == ["web warning likely 6"]
    job = (WEB % "condition: on-failure").replace('    ports: ["80:80"]\n', "")
    assert look("restarted-on-failure-only", job) == []
    assert look("restarted-on-failure-only", WEB % "condition: any") == []


def test_attempts_run_out() -> None:
    (found,) = look("restarts-run-out", WEB % "max_attempts: 3")
    assert told("restarts-run-out", WEB % "max_attempts: 3") == ["web warning certain 6"]
    assert "3 times, however long that takes" in found.effect
    assert "window" in found.fix
    (within,) = look("restarts-run-out", WEB % "max_attempts: 1, window: 120s")
    assert "once within 120 s" in within.effect


@pytest.mark.parametrize("policy", ["max_attempts: 0", "max_attempts: '${A}'", "condition: none, max_attempts: 3"])
def test_no_end_of_attempts_is_silent(policy: str) -> None:
    assert look("restarts-run-out", WEB % policy) == []


def test_the_short_restart_is_taken_by_swarm_where_there_is_no_policy() -> None:
    text = 'services:\n  web:\n    image: demo/web:1\n    ports: ["80:80"]\n    restart: on-failure:3\n'
    assert told("restarts-run-out", text) == ["web warning certain 5"]
    assert told("restarted-on-failure-only", text) == ["web warning likely 5"]
    both = text + "    deploy: {restart_policy: {condition: any}}\n"
    assert look("restarts-run-out", both) == []


@pytest.mark.parametrize(
    ("restart", "condition", "attempts"),
    [("always", "any", 0), ("unless-stopped", "any", 0), ('"no"', "any", 0), ("on-failure", "on-failure", 0)],
)
def test_restart_as_the_cli_converts_it(restart: str, condition: str, attempts: int) -> None:
    (service,) = stack(f"services: {{a: {{image: a, restart: {restart}}}}}\n").services
    assert (service.restart.condition, service.restart.max_attempts) == (condition, attempts)


COMPOSE = "services:\n  web:\n    image: demo/web:1\n    ports: ['80:80']\n    %s\n"


@pytest.mark.parametrize(("more", "line"), [("labels: {}", 2), ('restart: "no"', 5)])
def test_compose_restarts_nothing_by_itself(more: str, line: int) -> None:
    assert told("compose-not-restarted", COMPOSE % more, "compose") == [f"web warning certain {line}"]
    assert look("compose-not-restarted", COMPOSE % more) == []


@pytest.mark.parametrize(
    "more", ["restart: always", "deploy: {restart_policy: {condition: any}}", "profiles: [dev]", "scale: 0"]
)
def test_what_is_restarted_or_not_always_there_is_silent(more: str) -> None:
    assert look("compose-not-restarted", COMPOSE % more, "compose") == []


def test_what_nobody_asks_may_be_a_job() -> None:
    assert look("compose-not-restarted", "services: {a: {image: a}}\n", "compose") == []
