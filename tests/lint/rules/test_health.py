"""Health checks that can't work, or can't fail."""

from __future__ import annotations

import pytest

from tests.lint.looking import look, told


def checked(test: str, image: str = "demo/web:1", more: str = "") -> str:
    return f"""\
    services:
      web:
        image: {image}
        healthcheck:
          test: {test}
          {more}
    """


NEVER, ALWAYS = "never gets healthy", "always green"


@pytest.mark.parametrize(
    ("test", "outcome", "said"),
    [
        ('["CMD", "curl", "-f", "http://127.0.0.1/", "||", "exit", "1"]', NEVER, "error certain"),
        ('["CMD", "pg_isready", "-U", "app", "||", "exit", "1"]', NEVER, "error certain"),
        ('["CMD", "test", "-f", "/ready", "&&", "exit", "0"]', NEVER, "error certain"),
        ('["CMD", "curl", "-f", "http://127.0.0.1/ || exit 1"]', NEVER, "error certain"),
        ('["CMD", "redis-cli", "ping", "|", "grep", "PONG"]', ALWAYS, "error certain"),
        ('["CMD", "echo", "ok", "||", "exit", "1"]', ALWAYS, "error certain"),
        ('["CMD", "/probe", "||", "exit", "1"]', NEVER, "error likely"),
        ('["CMD", "python", "/check.py", "||", "exit", "1"]', "disturb", "warning likely"),
    ],
)
def test_operators_that_no_shell_reads(test: str, outcome: str, said: str) -> None:
    (found,) = look("health-operators-as-arguments", checked(test))
    assert outcome in found.effect
    assert told("health-operators-as-arguments", checked(test)) == [f"web {said} 5"]


@pytest.mark.parametrize(
    "test",
    [
        '["CMD-SHELL", "curl -f http://127.0.0.1/ || exit 1"]',
        '["CMD", "sh", "-c", "curl -f http://127.0.0.1/ || exit 1"]',
        '["CMD", "python", "-c", "import a; a.b() or exit(1)"]',
        '["CMD", "node", "-e", "a() || process.exit(1)"]',
        '["CMD", "curl", "-f", "http://127.0.0.1/?a=1&b=2"]',
        "curl -f http://127.0.0.1/ || exit 1",
        '["NONE"]',
    ],
)
def test_operators_that_somebody_reads(test: str) -> None:
    assert look("health-operators-as-arguments", checked(test)) == []


@pytest.mark.parametrize(
    ("test", "outcome"),
    [
        ('["CMD-SHELL", "curl -s http://127.0.0.1/", "|", "grep", "UP"]', ALWAYS),
        ('["CMD-SHELL", "curl", "-f", "http://127.0.0.1/"]', NEVER),
        ('["CMD-SHELL", "redis-cli", "ping"]', ALWAYS),
        ('["CMD-SHELL", "pg_isready", "-U", "app"]', "no part of the check"),
        ('["CMD", "sh", "-c", "curl -f http://127.0.0.1/", "||", "exit", "1"]', "no part of the check"),
    ],
)
def test_items_behind_the_script_are_never_run(test: str, outcome: str) -> None:
    assert told("health-items-dropped", checked(test)) == ["web error certain 5"]
    (found,) = look("health-items-dropped", checked(test))
    assert outcome in found.effect
    assert {NEVER, ALWAYS, "no part of the check"} & {
        word for word in (NEVER, ALWAYS, "no part of the check") if word in found.effect
    } == {outcome}


@pytest.mark.parametrize(
    "test",
    [
        '["CMD-SHELL", "curl -f http://127.0.0.1/ || exit 1"]',
        '["CMD", "sh", "-c", "curl -f \\"$$1\\"", "sh", "http://127.0.0.1/"]',
        '["CMD", "curl", "-f", "http://127.0.0.1/"]',
    ],
)
def test_items_that_the_script_is_given_on_purpose(test: str) -> None:
    assert look("health-items-dropped", checked(test)) == []


def test_a_list_without_its_kind_is_never_run() -> None:
    text = checked('["curl", "-f", "http://127.0.0.1/"]')
    assert told("health-kind-missing", text) == ["web error certain 5"]
    (whole,) = look("health-kind-missing", checked('["curl -f http://127.0.0.1/"]'))
    assert whole.fix == 'write test: ["CMD-SHELL", "curl -f http://127.0.0.1/"]'
    assert look("health-kind-missing", checked('["CMD", "curl"]')) == []
    assert look("health-kind-missing", checked('["NONE"]')) == []
    assert look("health-kind-missing", checked("curl -f http://127.0.0.1/")) == []


def test_none_as_a_text_is_a_command() -> None:
    assert told("health-none-as-text", checked("NONE")) == ["web error certain 5"]
    assert look("health-none-as-text", checked('["NONE"]')) == []
    assert look("health-none-as-text", checked("NONESUCH")) == []
    assert look("health-none-as-text", checked("$KIND")) == []


def test_a_whole_command_is_no_programs_name() -> None:
    text = checked('["CMD", "curl -f http://127.0.0.1/"]')
    (found,) = look("health-program-not-found", text)
    assert told("health-program-not-found", text) == ["web error certain 5"]
    assert NEVER in found.effect
    assert found.edit
    assert found.edit.value == "CMD-SHELL"
    (several,) = look("health-program-not-found", checked('["CMD", "curl -f", "http://127.0.0.1/"]'))
    assert several.edit is None
    assert look("health-program-not-found", checked('["CMD-SHELL", "curl -f http://127.0.0.1/"]')) == []
    assert look("health-program-not-found", checked('["CMD", "curl", "-H", "A: b", "http://127.0.0.1/"]')) == []


@pytest.mark.parametrize(("key", "line"), [("interval: 0.5ms", 6), ("timeout: -1s", 6), ("start_period: -3s", 6)])
def test_times_that_the_engine_refuses(key: str, line: int) -> None:
    assert told("health-values-refused", checked("[CMD, /probe]", more=key)) == [f"web error certain {line}"]


@pytest.mark.parametrize("key", ["interval: 1ms", "interval: 0s", "timeout: 5", "interval: '${I}'"])
def test_times_that_it_takes_or_docker_refuses(key: str) -> None:
    assert look("health-values-refused", checked("[CMD, /probe]", more=key)) == []


@pytest.mark.parametrize(
    "test",
    [
        "curl -f http://127.0.0.1/ || true",
        "curl -f http://127.0.0.1/ || exit 0",
        "curl -f http://127.0.0.1/; exit 0",
        "curl -f http://127.0.0.1/ ; echo ok",
        "curl -f http://127.0.0.1/ && echo up || echo down",
        "exit 0",
        "echo ok",
        '["CMD", "true"]',
        '["CMD", "/bin/echo", "ok"]',
        '["CMD", "sh", "-c", "curl -f http://127.0.0.1/ || true"]',
        "curl -s http://127.0.0.1/ | tee /tmp/health",
        "curl -f http://127.0.0.1/ &",
    ],
)
def test_checks_that_cannot_fail(test: str) -> None:
    assert told("health-always-passes", checked(test)) == ["web warning certain 5"]
    first = checked(test) + "    deploy: {update_config: {order: start-first}}\n"
    assert told("health-always-passes", first) == ["web error certain 5"]
    assert look("health-ignores-status", checked(test)) == []


@pytest.mark.parametrize(
    "test",
    [
        "curl -f http://127.0.0.1/ || exit 1",
        "curl -f http://127.0.0.1/ && echo ok",
        "curl -f http://127.0.0.1/ || exit 1; exit 0",
        "set -e; curl -f http://127.0.0.1/; echo ok",
        "curl -s http://127.0.0.1/ | grep -q UP",
        "test -f /ready && exit 0 || exit 1",
        "if curl -f http://127.0.0.1/; then exit 0; else exit 1; fi",
        "if curl -f http://127.0.0.1/; then echo up; else false; true; fi",
        "",
        '["CMD", "/probe"]',
        '["CMD-SHELL", "echo ok", "||", "exit"]',
        "set -o pipefail; curl -f http://127.0.0.1/ | tee /tmp/health",
    ],
)
def test_checks_that_can_fail_or_are_another_rules_matter(test: str) -> None:
    assert look("health-always-passes", checked(test)) == []


def test_a_check_that_cannot_pass() -> None:
    assert told("health-never-passes", checked("curl -f http://127.0.0.1/; exit 1")) == ["web error certain 5"]
    assert told("health-never-passes", checked("curl -f http://127.0.0.1/ && false")) == ["web error certain 5"]
    for fine in ("curl -f http://127.0.0.1/ || exit 1", "curl -f http://127.0.0.1/ && exit 0; exit 1"):
        assert look("health-never-passes", checked(fine)) == []


@pytest.mark.parametrize(
    "test",
    [
        "curl http://127.0.0.1/ || exit 1",
        "curl -sS http://127.0.0.1/health",
        '["CMD", "curl", "-s", "http://127.0.0.1/health"]',
        "curl --silent localhost:8080/health || exit 1",
    ],
)
def test_curl_takes_an_error_for_an_answer(test: str) -> None:
    assert told("health-ignores-status", checked(test)) == ["web warning certain 5"]


@pytest.mark.parametrize(
    "test",
    [
        "curl -f http://127.0.0.1/ || exit 1",
        "curl -fsS http://127.0.0.1/",
        "curl --fail-with-body http://127.0.0.1/",
        "curl -s http://127.0.0.1/ | grep -q UP",
        "curl -so /dev/null -w '%{http_code}' http://127.0.0.1/",
        "curl telnet://127.0.0.1:5432",
        "wget -qO- http://127.0.0.1/ || exit 1",
        "test $$(curl -s http://127.0.0.1/) = ok",
        '["CMD-SHELL", "curl -s http://127.0.0.1/", "|", "grep"]',
    ],
)
def test_what_looks_at_the_status_or_at_the_answer(test: str) -> None:
    assert look("health-ignores-status", checked(test)) == []


@pytest.mark.parametrize(
    ("test", "said"),
    [
        ("ps aux | grep nginx", "certain"),
        ("ps -ef | grep -q nginx || exit 1", "certain"),
        ("pgrep -f gunicorn || exit 1", "certain"),
        ("pgrep -f gunicorn", "likely"),
    ],
)
def test_a_search_that_finds_its_own_shell(test: str, said: str) -> None:
    assert told("health-finds-itself", checked(test)) == [f"web warning {said} 5"]


@pytest.mark.parametrize(
    "test",
    [
        "ps aux | grep '[n]ginx'",
        "ps aux | grep -v grep | grep nginx",
        "ps aux | awk '/nginx/'",
        "ps aux | tail -5",
        "ps aux | grep nginx | awk '{exit !$$2}'",
        "pgrep nginx || exit 1",
        "pgrep -f '[g]unicorn'",
        '["CMD", "pgrep", "-f", "gunicorn"]',
    ],
)
def test_a_search_that_does_not(test: str) -> None:
    assert look("health-finds-itself", checked(test)) == []


def test_under_compose_no_rollout_is_spoken_of() -> None:
    text = "services: {web: {image: demo/web:1, healthcheck: {test: exit 1}}}\n"
    (swarm,), (compose,) = look("health-never-passes", text), look("health-never-passes", text, "compose")
    assert "a rollout can't finish" in swarm.effect
    assert compose.effect.endswith("the container never gets healthy, and what depends on that isn't started")
