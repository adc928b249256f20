"""The grace, the app's own limits, and the longest request."""

from __future__ import annotations

import pytest

from tests.lint.looking import look, told


def service(*lines: str) -> str:
    return "services:\n  web:\n    image: demo/web:1\n" + "".join(f"    {line}\n" for line in lines)


def test_stop_first_waits_a_minute_and_not_longer() -> None:
    assert told("grace-beyond-stop-first", service("stop_grace_period: 90s")) == ["web info certain 4"]
    alone = service("stop_grace_period: 90s", 'volumes: ["data:/data"]')
    assert told("grace-beyond-stop-first", alone) == ["web warning certain 4"]
    worker = service("stop_grace_period: 90s", 'volumes: ["data:/data"]', "command: celery -A a worker")
    assert told("grace-beyond-stop-first", worker) == ["web info certain 4"]
    web = service("stop_grace_period: 90s", 'volumes: ["data:/data"]', "command: gunicorn app")
    assert told("grace-beyond-stop-first", web) == ["web warning certain 4"]
    socket = service("stop_grace_period: 90s", 'volumes: ["/var/run/docker.sock:/var/run/docker.sock"]')
    assert told("grace-beyond-stop-first", socket) == ["web info certain 4"]
    assert look("grace-beyond-stop-first", service("stop_grace_period: 60s")) == []
    assert look("grace-beyond-stop-first", service("stop_grace_period: 90s"), target="compose") == []
    first = service("stop_grace_period: 90s", "deploy: {update_config: {order: start-first}}")
    assert look("grace-beyond-stop-first", first) == []


def test_the_fix_of_a_fraction_is_the_next_whole_second() -> None:
    (found,) = look("grace-fraction-cut", service("stop_grace_period: 7.9s"))
    assert found.edit
    assert (found.edit.key, found.edit.value) == (("services", "web", "stop_grace_period"), "8s")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["command: gunicorn --graceful-timeout 60 app"], "warning certain 2"),
        (
            ["command: gunicorn app", 'environment: {GUNICORN_CMD_ARGS: "--graceful-timeout=40 -w 2"}'],
            "warning certain 2",
        ),
        (["command: gunicorn app"], "info likely 2"),
        (["command: uvicorn app --timeout-graceful-shutdown 20"], "warning certain 2"),
        (["command: hypercorn app --graceful-timeout 10"], "warning certain 2"),
        (["environment: {DOTNET_SHUTDOWNTIMEOUTSECONDS: '30'}"], "warning certain 2"),
        (["environment: {SPRING_LIFECYCLE_TIMEOUT_PER_SHUTDOWN_PHASE: 30s}"], "warning certain 2"),
        (["environment: [SPRING_LIFECYCLE_TIMEOUT_PER_SHUTDOWN_PHASE=30000]"], "warning certain 2"),
        (["environment: {JAVA_TOOL_OPTIONS: -Dspring.lifecycle.timeout-per-shutdown-phase=20s}"], "warning certain 2"),
        (["environment: {SHUTDOWN_TIMEOUT: 15s}"], "warning likely 2"),
        (["environment: {GRACEFUL_SHUTDOWN_TIMEOUT_MS: '15000'}"], "warning likely 2"),
        (["environment: {SHUTDOWN_WAIT_SECONDS: 5, SHUTDOWN_LIMIT_SECONDS: 6}"], "warning likely 2"),
        (["""command: nginx -g "daemon off; worker_shutdown_timeout 30s;" """], "warning certain 2"),
    ],
)
def test_the_apps_own_limit_is_never_reached(lines: list[str], said: str) -> None:
    assert told("drain-beyond-grace", service(*lines)) == [f"web {said}"]


@pytest.mark.parametrize(
    "lines",
    [
        ["command: gunicorn --graceful-timeout 8 app"],
        ["command: gunicorn app", "stop_grace_period: 35s"],
        ["command: gunicorn -t 120 --graceful-timeout 8 app"],
        ["command: hypercorn app"],
        ["command: uvicorn app"],
        ["environment: {SHUTDOWN_TIMEOUT: '15'}"],
        ["environment: {SHUTDOWN_TIMEOUT_SECONDS: }"],
        ["environment: {REQUEST_TIMEOUT: 60s}"],
        ["environment: {SHUTDOWN_WAIT_SECONDS: 3, SHUTDOWN_LIMIT_SECONDS: 6}"],
        ["command: gunicorn --graceful-timeout 60 app", "stop_grace_period: '${GRACE}'"],
    ],
)
def test_a_limit_that_fits_or_whose_unit_nobody_tells(lines: list[str]) -> None:
    assert look("drain-beyond-grace", service(*lines)) == []


def test_traefik_drains_for_its_entry_points_sum() -> None:
    life = "--entryPoints.web.transport.lifeCycle"
    text = f"""\
    services:
      edge:
        image: traefik:v3
        stop_grace_period: 12s
        command: ["--providers.swarm", "{life}.graceTimeOut=10s", "{life}.requestAcceptGraceTimeout=5s"]
    """
    (found,) = look("drain-beyond-grace", text)
    assert told("drain-beyond-grace", text) == ["edge warning certain 4"]
    assert "15 s" in found.effect
    assert look("drain-beyond-grace", text.replace("12s", "20s")) == []


def test_a_drain_of_an_hour_gets_a_limit_and_not_a_grace() -> None:
    (long,) = look("drain-beyond-grace", service("environment: {SHUTDOWN_LIMIT_SECONDS: 3600}"))
    (short,) = look("drain-beyond-grace", service("environment: {SHUTDOWN_LIMIT_SECONDS: 20}"))
    assert (long.edit, "stop_grace_period" in long.fix) == (None, False)
    assert short.edit
    assert (short.edit.value, "stop_grace_period: 25s" in short.fix) == ("25s", True)


UNDER_TEST = """\
x-swarmtest:
  service: api
  front_door: {service: edge, detects: dns, within: 1s}
  traffic: {kinds: {short: {path: /, ms: [20, 300]}, long: {path: /long, ms: [3000, 7000]}}}
services:
  api:
    image: demo/api:1
    stop_grace_period: 30s
    environment: {SHUTDOWN_WAIT_SECONDS: 3, SHUTDOWN_LIMIT_SECONDS: 15}
  edge: {image: demo/edge:1}
"""


@pytest.mark.parametrize(
    ("was", "becomes", "needed"),
    [
        ("30s", "8s", "11 s"),
        ("30s", "10s", "11 s"),
        ("[3000, 7000]", "[3000, 27000]", "31 s"),
        ("  service: api", "  service: api\n  longest_request: 40s", "44 s"),
        ("within: 1s", "within: 24s", "30 s"),
        ("detects: dns, within: 1s", "detects: probe, within: 24s", "32 s"),
    ],
)
def test_wait_longest_request_and_abort_have_to_fit(was: str, becomes: str, needed: str) -> None:
    found = look("grace-below-request", UNDER_TEST.replace(was, becomes))
    if needed == "30 s":
        assert found == []
        return
    (one,) = found
    assert (str(one.severity), str(one.certainty), one.place.key[1]) == ("error", "certain", "api")
    assert f"{needed} are needed" in one.effect
    assert "counts from the next replacement on" in one.fix


def test_the_sum_names_its_parts() -> None:
    short = UNDER_TEST.replace("30s", "8s")
    (by_app,) = look("grace-below-request", short)
    assert "3 s that the app waits after its signal, 7 s for the longest request, and 1 s for an abort" in by_app.effect
    (by_door,) = look("grace-below-request", short.replace("detects: dns, within: 1s", "detects: probe, within: 5s"))
    assert "5 s until the front door has noticed, 7 s for" in by_door.effect
    (neither,) = look("grace-below-request", short.replace("SHUTDOWN_WAIT_SECONDS: 3, ", "").replace("8s", "7s"))
    assert "8 s are needed: 7 s for the longest request" in neither.effect


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        ("30s", "11s"),
        ("30s", "'${GRACE}'"),
        ("  service: api", "  baseline: 5s"),
        ("x-swarmtest:", "x-other:"),
        ("30s", "0s"),
    ],
)
def test_a_grace_that_fits_or_of_which_nothing_is_planned(was: str, becomes: str) -> None:
    assert look("grace-below-request", UNDER_TEST.replace(was, becomes)) == []


ALONE = """\
x-swarmtest:
  front_door: direct
  traffic: {path: /, ms: 4000}
services:
  api: {image: demo/api:1, stop_grace_period: 2s, ports: [{target: 80, mode: host}]}
  queue: {image: demo/queue:1}
"""


@pytest.mark.parametrize(
    ("was", "becomes", "found"),
    [
        ("", "", 1),
        ("path: /, ms: 4000", "kinds: {one: {path: /, ms: 4000}}", 1),
        ("ms: 4000", "ms: [10, 4000]", 1),
        ("ms: 4000", "ms: yes", 0),
        ("demo/queue:1", "demo/queue:1, ports: ['81:81']", 0),
        ("front_door: direct", "front_door: {service: api}", 0),
        ("x-swarmtest:\n  front_door: direct\n  traffic", "x-other", 0),
    ],
)
def test_without_a_name_it_is_the_one_service_with_a_port_as_in_a_run(was: str, becomes: str, found: int) -> None:
    assert told("grace-below-request", ALONE.replace(was, becomes)) == ["api error certain 5"] * found


def test_a_probe_of_the_engine_is_not_added_to_what_is_needed() -> None:
    """The announcement comes before the signal; interval x retries counts only where the front door goes by health."""
    checked = UNDER_TEST.replace("30s", "11s").replace(
        "demo/api:1", "demo/api:1\n    healthcheck: {test: [CMD, /probe], interval: 30s, retries: 5}"
    )
    assert look("grace-below-request", checked) == []


def test_the_apps_limit_is_shorter_than_the_longest_request() -> None:
    short = UNDER_TEST.replace("LIMIT_SECONDS: 15", "LIMIT_SECONDS: 5")
    assert told("drain-below-request", short) == ["api error likely 9"]
    written = UNDER_TEST.replace("demo/api:1", "demo/api:1\n    command: gunicorn --graceful-timeout 5 app")
    assert told("drain-below-request", written) == ["api error certain 8"]
    by_default = UNDER_TEST.replace("demo/api:1", "demo/api:1\n    command: pm2-runtime app.js")
    assert told("drain-below-request", by_default) == ["api warning likely 8"]
    assert look("drain-below-request", UNDER_TEST) == []


def test_the_app_stops_accepting_before_the_front_door_has_noticed() -> None:
    late = UNDER_TEST.replace("detects: dns, within: 1s", "detects: probe, within: 6s")
    (found,) = look("wait-below-detection", late)
    assert told("wait-below-detection", late) == ["api error likely 9"]
    assert "6 s until the front door has noticed" in found.effect
    announced = UNDER_TEST.replace("within: 1s", "within: 5s")
    assert look("wait-below-detection", announced) == []
    assert told("wait-below-detection", UNDER_TEST.replace("within: 1s", "within: 6s")) == ["api error likely 9"]
    assert look("wait-below-detection", late.replace("SHUTDOWN_WAIT_SECONDS: 3, ", "")) == []


def test_a_server_without_a_limit_is_only_mentioned_where_nothing_holds_it() -> None:
    assert told("drain-never-ends", service("command: uvicorn app")) == ["web info likely 4"]
    by_variable = service("command: uvicorn app", "environment: {UVICORN_TIMEOUT_GRACEFUL_SHUTDOWN: '5'}")
    assert look("drain-never-ends", by_variable) == []
    assert look("drain-never-ends", service("command: gunicorn app")) == []
