"""Reports of people who do this job, with the right answer of each: health checks, signals, grace and workers."""

from __future__ import annotations

import pytest

from swarmtest.lint import Certainty, Finding, Severity, Target
from swarmtest.lint.document import read_document
from swarmtest.lint.linting import lint
from tests.lint.looking import FILE, look, told


def by_service(text: str, *words: str) -> dict[str, list[Finding]]:
    """Findings of rules whose names have one of these words in them, by service."""
    found: dict[str, list[Finding]] = {}
    for each in lint([FILE], Target.SWARM, {}, {FILE: text}).findings:
        if any(word in each.rule for word in words):
            found.setdefault(each.place.key[1], []).append(each)
    return found


# toptal/haste-server #401; docker/docs #14113, PR #10058; donknap/dpanel #257
OPERATORS = """\
services:
  a:
    image: demo/web:1
    healthcheck: {test: ["CMD", "curl", "-f", "http://127.0.0.1:8080/h", "||", "exit", "1"]}
  b:
    image: demo/web:1
    healthcheck: {test: ["CMD-SHELL", "curl -s http://127.0.0.1:8080/h", "|", "grep", "UP"]}
  c:
    image: demo/web:1
    healthcheck: {test: "curl -f http://127.0.0.1:8080/h || exit 1"}
"""


def test_operators_in_a_list_never_pass_and_dropped_items_always_do() -> None:
    found = by_service(OPERATORS, "health")
    (never,), (always,) = found["a"], found["b"]
    assert (never.severity, never.certainty, never.place.line) == (Severity.ERROR, Certainty.CERTAIN, 4)
    assert "never gets healthy" in never.effect
    assert "always green" not in never.effect
    assert (always.severity, always.certainty, always.place.line) == (Severity.ERROR, Certainty.CERTAIN, 7)
    assert "always green" in always.effect
    assert "never gets healthy" not in always.effect
    assert "c" not in found


# DependencyTrack/dependency-track #458; iam4x/bobarr PR #236; wallabag/docker #407; strausmann/mcp-dockhand #92
IN_THE_IMAGE = """\
services:
  a:
    image: demo/web:1-alpine
    healthcheck: {test: "curl -f http://localhost:8080/h || exit 1"}
  b:
    image: demo/web:1-alpine
    healthcheck: {test: "wget -qO- http://localhost:8080/h || exit 1"}
"""


def test_a_probe_that_needs_something_of_the_image_is_unknown_and_no_pass() -> None:
    found = by_service(IN_THE_IMAGE, "health")
    (unverified,), (localhost,) = found["a"], found["b"]
    assert (unverified.severity, unverified.certainty) == (Severity.WARNING, Certainty.UNKNOWN)
    assert "docker run --rm --entrypoint curl demo/web:1-alpine" in unverified.fix
    assert (localhost.severity, localhost.certainty) == (Severity.WARNING, Certainty.LIKELY)
    assert "127.0.0.1" in localhost.fix


# nginx/docker-nginx #377, PR #457; sclorg/nginx-container #242
NGINX = """\
services:
  edge: {image: "nginx:1.27-alpine", stop_signal: SIGTERM, stop_grace_period: 30s}
  old: {image: "demo/nginx-fork:1.18", stop_grace_period: 30s}
  good: {image: "nginx:1.27-alpine", stop_signal: SIGQUIT, stop_grace_period: 30s}
"""


def test_the_signal_at_which_nginx_cuts_and_the_fork_of_which_nobody_knows() -> None:
    found = by_service(NGINX, "signal", "grace")
    (cut,), (unknown,) = found["edge"], found["old"]
    assert (cut.severity, cut.certainty, cut.place.line) == (Severity.ERROR, Certainty.CERTAIN, 2)
    assert "a longer grace doesn't help" in cut.effect
    assert (unknown.severity, unknown.certainty) == (Severity.WARNING, Certainty.UNKNOWN)
    assert "StopSignal" in unknown.fix
    assert "good" not in found


# TryGhost/docker-library-ghost #37; krallin/tini #172, #45; govuk-pay/pay-frontend PR #923
PID_1 = """\
services:
  a: {image: demo/web:1, command: npm start}
  b: {image: demo/web:1, command: sh -c "node server.js"}
  c: {image: demo/web:1, entrypoint: ["/bin/sh", "-c"], command: ["migrate && node server.js"]}
  d: {image: demo/web:1, command: sh -c 'node server.js | tee /log'}
  e: {image: demo/web:1}
"""


def test_whether_the_signal_reaches_the_app_is_certain_likely_or_unknown() -> None:
    found = by_service(PID_1, "signal-stops", "main-process")
    told_of = {name: (each.severity.value, each.certainty.value) for name, (each,) in found.items()}
    assert told_of == {
        "a": ("warning", "likely"),
        "b": ("warning", "likely"),
        "c": ("error", "certain"),
        "d": ("error", "certain"),
        "e": ("info", "unknown"),
    }
    assert "npm" in found["a"][0].effect
    assert "stop test" in found["a"][0].fix
    assert "stop test" in found["b"][0].fix
    assert "exec node server.js" in found["c"][0].fix
    assert all(name in found[name][0].place.key for name in found)


# community-valheim-tools/valheim-server-docker #746; compose-spec/compose-spec #496
@pytest.mark.parametrize(
    ("value", "rule", "severity"),
    [
        ("0s", "grace-zero", "error"),
        ("500ms", "grace-zero", "error"),
        ("-5s", "grace-negative", "error"),
        ("-0.5s", "grace-zero", "error"),
        ("7.9s", "grace-fraction-cut", "warning"),
    ],
)
def test_a_grace_that_docker_takes_and_nobody_means(value: str, rule: str, severity: str) -> None:
    text = f"services:\n  a:\n    image: demo/web:1\n    stop_grace_period: {value}\n"
    assert [(each.rule, str(each.severity), each.place.line) for each in by_service(text, "grace")["a"]] == [
        (rule, severity, 4)
    ]


@pytest.mark.parametrize("value", ["90s", '"1m30s"', "1.5m", "90000ms", "90", '"90"', "1d", '""', "${GRACE}"])
def test_a_whole_grace_and_one_that_docker_refuses_are_no_matter_of_these_rules(value: str) -> None:
    text = f"services:\n  a:\n    image: demo/web:1\n    stop_grace_period: {value}\n"
    assert by_service(text, "grace-zero", "grace-negative", "grace-fraction") == {}


# Unitech/pm2 #2502: what ends the drain inside the container isn't mended by the grace
def test_of_a_signal_that_isnt_handled_a_longer_grace_is_never_the_fix() -> None:
    for found in by_service(PID_1, "signal-stops").values():
        assert all("stop_grace_period" not in each.fix for each in found)


# docker/cli #2441
def test_a_new_grace_counts_from_the_next_replacement_on_and_the_fix_says_so() -> None:
    (found,) = look("worker-cut-by-grace", "services: {w: {image: demo/w:1, command: sidekiq -t 25}}")
    assert "counts from the next replacement on" in found.fix


# Kludex/uvicorn users nithiink/yapcode PR #25, pointer-a/dsh-server-login #4
def test_open_streams_hold_a_server_without_a_limit_and_a_longer_grace_is_not_the_fix() -> None:
    text = """\
    x-swarmtest: {service: api, traffic: {kinds: {feed: {protocol: sse, path: /events}}}}
    services:
      api:
        image: demo/api:1
        command: [uvicorn, "app:app"]
        stop_grace_period: 15s
    """
    (found,) = look("drain-never-ends", text)
    assert (found.severity, found.certainty, found.place.line) == (Severity.WARNING, Certainty.LIKELY, 5)
    assert "feed" in found.effect
    assert "a longer grace doesn't help" in found.fix
    assert found.edit is None
    limited = text.replace('"app:app"', '"app:app", --timeout-graceful-shutdown, "10"')
    assert look("drain-never-ends", limited) == []


# docker/for-linux #615; moby/moby #25464, #35881, #32079
def test_start_first_without_a_check_is_about_the_start_and_not_about_the_grace() -> None:
    text = """\
    services:
      api:
        image: demo/api:1
        deploy: {update_config: {order: start-first}}
    """
    (found,) = look("start-first-without-check", text)
    assert (found.severity, found.certainty) == (Severity.WARNING, Certainty.UNKNOWN)
    assert "grace" not in found.fix
    known = text.replace("demo/api:1", "caddy:2")
    assert told("start-first-without-check", known) == ["api warning likely 4"]
    checked = text.replace("image: demo/api:1", "image: demo/api:1\n        healthcheck: {test: [CMD, /probe]}")
    assert look("start-first-without-check", checked) == []


# SkygearIO/skygear-server #279; moby/moby #26664
DEPENDENCY = """\
services:
  api:
    image: demo/api:1
    healthcheck: {test: "pg_isready -h db || exit 1", interval: 2s, retries: 2}
    deploy: {replicas: 3}
  db: {image: "postgres:16"}
"""


def test_a_probe_that_asks_a_shared_dependency_stops_all_tasks_together() -> None:
    (found,) = look("health-asks-dependency", DEPENDENCY)
    assert (found.severity, found.certainty, found.place.line) == (Severity.WARNING, Certainty.CERTAIN, 4)
    assert "all 3 tasks" in found.effect
    assert "together" in found.effect
    assert look("health-asks-dependency", DEPENDENCY.replace("-h db", "-h 127.0.0.1")) == []
    assert look("health-asks-dependency", DEPENDENCY, target="compose") == []


# langgenius/dify #40448; GluuFederation/gluu-docker #29; PicPeak/picpeak PR #90; OpenNeuroOrg/openneuro PR #925
RESOLVES = """\
services:
  edge: {image: "nginx:1.27", environment: {UPSTREAM: "http://api:8000"}}
  api: {image: demo/api:1}
"""


def test_nginx_before_a_service_address_is_no_finding_and_before_tasks_it_is() -> None:
    assert look("proxy-resolves-once", RESOLVES) == []
    by_tasks = RESOLVES.replace("//api:", "//tasks.api:")
    assert told("proxy-resolves-once", by_tasks) == ["edge warning likely 2"]
    dnsrr = RESOLVES.replace("image: demo/api:1", "image: demo/api:1, deploy: {endpoint_mode: dnsrr}")
    assert told("proxy-resolves-once", dnsrr) == ["edge warning unknown 2"]
    assert look("proxy-resolves-once", dnsrr.replace("nginx:1.27", "haproxy:3.0")) == []
    assert look("proxy-resolves-once", by_tasks.replace("tasks.api", "tasks.api2")) == []
    assert told("proxy-resolves-once", RESOLVES, "compose") == ["edge warning unknown 2"]
    assert look("proxy-resolves-once", RESOLVES.replace("//api:", "//elsewhere:"), "compose") == []


# chatwoot/chatwoot #15886; sidekiq/sidekiq #4133, #5109
def test_a_worker_that_drains_longer_than_the_default_grace() -> None:
    text = "services:\n  worker: {image: demo/worker:1, command: bundle exec sidekiq -t 25}\n"
    (found,) = look("worker-cut-by-grace", text)
    assert (found.severity, found.certainty, found.place.line) == (Severity.WARNING, Certainty.CERTAIN, 2)
    assert "25 s" in found.effect
    assert "10 s, the default" in found.effect
    assert "stop_grace_period: 30s" in found.fix
    assert look("worker-cut-by-grace", text.replace("1, command", "1, stop_grace_period: 35s, command")) == []


# openwisp/docker-openwisp #694
@pytest.mark.parametrize("init", ["true", "false"])
def test_workers_beside_a_tail_are_cut_whatever_the_grace(init: str) -> None:
    text = f"""\
    services:
      w:
        image: demo/worker:1
        init: {init}
        command: sh -c "worker --detach; tail -f /log"
    """
    (found,) = look("work-detached-from-main", text)
    assert (found.severity, found.certainty, found.place.line) == (Severity.ERROR, Certainty.CERTAIN, 5)
    assert "a longer grace doesn't change that" in found.effect
    assert ("within the second" in found.effect) is (init == "true")


# bayesimpact/bayes-platform PR #794; activepieces/activepieces #14487; celery/celery #3653, #8417
def test_for_jobs_of_hours_no_grace_of_hours_is_asked_for() -> None:
    text = "services:\n  w:\n    image: demo/w:1\n    command: celery -A app worker\n    stop_grace_period: 3h\n"
    (found,) = look("grace-of-hours", text)
    assert (found.severity, found.place.line) == (Severity.WARNING, 5)
    assert "checkpoint" in found.fix
    assert "back to the queue" in found.fix
    assert look("grace-of-hours", text.replace("3h", "20m")) == []


# moby/moby #29133; docker/cli #2075
def test_an_exec_behind_an_echo_and_unset_variables_are_no_finding() -> None:
    text = """\
    services:
      web:
        image: "${REG-demo}/web:${TAG:-1.0-rc}"
        command: sh -c 'echo $PORT; exec node s.js'
        healthcheck: {test: "curl -f http://127.0.0.1:$${PORT}/h || exit 1", interval: "${HC:-7s}", timeout: 5s}
        stop_grace_period: "${GRACE:-45s}"
    """
    assert by_service("".join(line[4:] for line in text.splitlines(keepends=True)), "signal", "health", "grace") == {}


def test_a_document_is_read_as_these_tests_take_it() -> None:
    assert read_document([FILE], Target.SWARM, {}, {FILE: PID_1}).place("services", "c").line == 4
