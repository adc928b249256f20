"""Health checks beside the image, the rollout and the other services."""

from __future__ import annotations

import pytest

from tests.lint.looking import look, told

CURL, WGET = "curl -f http://127.0.0.1:80/ || exit 1", "wget -qO- http://127.0.0.1:80/ || exit 1"


def of_image(image: str, test: str) -> str:
    return f"""\
    services:
      web:
        image: {image}
        healthcheck: {{test: "{test}"}}
    """


@pytest.mark.parametrize(
    ("image", "test"),
    [
        ("demo/web:1-alpine", CURL),
        ("alpine:3.20", CURL),
        ("nginx:1.27-alpine-slim", CURL),
        ("python:3.12-slim", CURL),
        ("python:3.12-slim-bookworm", WGET),
    ],
)
def test_tools_that_the_image_may_not_have(image: str, test: str) -> None:
    silent = "nginx" in image
    assert told("health-tool-unverified", of_image(image, test)) == ([] if silent else ["web warning unknown 4"])


@pytest.mark.parametrize(
    ("image", "test"),
    [
        ("demo/web:1", CURL),
        ("nginx:1.27-alpine", CURL),
        ("curlimages/curl:8.9.0-alpine", CURL),
        ("demo/web:1-alpine", WGET),
        ("demo/web:1-alpine", "/probe"),
    ],
)
def test_tools_that_are_there_or_of_which_nothing_is_said(image: str, test: str) -> None:
    assert look("health-tool-unverified", of_image(image, test)) == []


def test_no_shell_in_an_image_of_one_program() -> None:
    assert told("health-shell-missing", of_image("gcr.io/distroless/nodejs22:latest", CURL)) == ["web error likely 4"]
    assert told("health-shell-missing", of_image("cgr.dev/chainguard/node:latest", CURL)) == ["web error likely 4"]
    assert look("health-shell-missing", of_image("gcr.io/distroless/nodejs22:debug", CURL)) == []
    assert look("health-shell-missing", of_image("demo/web:1", CURL)) == []
    own = of_image("demo/web:1-distroless", "X").replace('"X"', '["CMD", "/app", "healthcheck"]')
    assert look("health-shell-missing", own) == []


@pytest.mark.parametrize(
    ("image", "test", "found"),
    [
        ("demo/web:1-alpine", "wget -qO- http://localhost:80/", True),
        ("demo/web:1-alpine", "wget --spider -q localhost:80/h || exit 1", True),
        ("demo/web:1-alpine", "wget -O /dev/null http://127.0.0.1:80/", False),
        ("demo/web:1-alpine", "wget --header 'Host: localhost' http://127.0.0.1:80/", False),
        ("demo/web:1-alpine", "curl -f http://localhost:80/", False),
        ("demo/web:1", "wget -qO- http://localhost:80/", False),
    ],
)
def test_busybox_and_localhost(image: str, test: str, found: bool) -> None:
    expected = ["web warning likely 4"] if found else []
    assert told("health-localhost-busybox", of_image(image, test)) == expected


PORTS = """\
services:
  web:
    image: demo/web:1
    ports: ["8080:80"]
    healthcheck: {test: "curl -f http://localhost:8080/ || exit 1"}
"""


def test_the_published_port_is_not_inside() -> None:
    assert told("health-asks-published-port", PORTS) == ["web warning likely 5"]
    assert "127.0.0.1:80" in look("health-asks-published-port", PORTS)[0].fix


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        ("localhost:8080", "localhost:80"),
        ("localhost:8080", "other:8080"),
        ('"8080:80"', '"8080:8080"'),
        ('"8080:80"', '"80"'),
        ("image: demo/web:1", "image: demo/web:1\n    environment: {PORT: 8080}"),
        ("image: demo/web:1", "image: demo/web:1\n    command: serve --port 8080"),
        ("image: demo/web:1", "image: demo/web:1\n    expose: [8080]"),
    ],
)
def test_a_port_that_the_app_may_listen_on(was: str, becomes: str) -> None:
    assert look("health-asks-published-port", PORTS.replace(was, becomes)) == []


FIRST = """\
services:
  web:
    image: demo/web:1
    healthcheck: {disable: true}
    deploy: {update_config: {order: start-first}}
"""


def test_start_first_with_the_check_switched_off() -> None:
    assert told("health-disabled-start-first", FIRST) == ["web warning certain 4"]
    published = FIRST.replace("demo/web:1", "demo/web:1\n    ports: ['80:80']")
    assert told("health-disabled-start-first", published) == ["web error certain 5"]
    assert told("health-disabled-start-first", FIRST.replace("disable: true", "test: [NONE]")) == [
        "web warning certain 4"
    ]
    assert look("start-first-without-check", FIRST) == []


@pytest.mark.parametrize("was", ["start-first", "disable: true", "image: demo/web:1"])
def test_a_check_switched_off_that_nobody_waits_for(was: str) -> None:
    instead = {
        "start-first": "stop-first",
        "disable: true": "test: [CMD, /probe]",
        "image: demo/web:1": "command: celery",
    }
    assert look("health-disabled-start-first", FIRST.replace(was, instead[was])) == []
    assert look("health-disabled-start-first", FIRST, target="compose") == []


TIMES = """\
services:
  web:
    image: demo/web:1
    healthcheck: {test: [CMD, /probe], interval: 5s, timeout: 20s, retries: 3}
    deploy: {replicas: 2, update_config: {order: start-first}}
"""


def test_a_hanging_app_is_noticed_later_than_it_looks() -> None:
    (found,) = look("health-timeout-beyond-interval", TIMES)
    assert told("health-timeout-beyond-interval", TIMES) == ["web info certain 4"]
    assert "after 75 s, not after 15 s" in found.effect
    for timeout in ("5s", "3s", "10s", "'${T}'"):
        assert look("health-timeout-beyond-interval", TIMES.replace("20s", timeout)) == []


def test_one_failed_probe_ends_a_task_in_a_swarm() -> None:
    once = TIMES.replace("retries: 3", "retries: 1")
    assert told("health-kills-at-once", once) == ["web warning certain 4"]
    assert look("health-kills-at-once", TIMES) == []
    assert look("health-kills-at-once", once, target="compose") == []
    assert look("health-kills-at-once", TIMES.replace("retries: 3", "retries: 0")) == []


def test_each_new_task_waits_for_its_first_probe() -> None:
    late = TIMES.replace("interval: 5s", "interval: 30s")
    (found,) = look("health-first-probe-late", late)
    assert "60 s for 2" in found.effect
    assert told("health-first-probe-late", late) == ["web info certain 4"]
    assert look("health-first-probe-late", TIMES) == []
    assert look("health-first-probe-late", late.replace("start-first", "stop-first")) == []
    assert look("health-first-probe-late", late.replace("retries: 3", "start_period: 10s")) == []


DEPENDS = """\
services:
  web:
    image: demo/web:1
    healthcheck: {test: "TEST"}
  db: {image: "postgres:16", healthcheck: {test: "pg_isready -h db"}}
"""


@pytest.mark.parametrize(
    ("test", "said"),
    [
        ("curl -f http://db:5432/", "certain"),
        ("curl -f http://tasks.db/", "certain"),
        ("nc -z db 5432", "certain"),
        ("redis-cli -h db ping", "certain"),
        ("curl -f http://127.0.0.1:8080/readyz", "likely"),
        ("curl -f http://127.0.0.1:8080/health/ready?x=1", "likely"),
        ("wget -qO- http://127.0.0.1:8080/actuator/health", "likely"),
    ],
)
def test_a_check_that_asks_what_all_share(test: str, said: str) -> None:
    assert told("health-asks-dependency", DEPENDS.replace("TEST", test)) == [f"web warning {said} 4"]


@pytest.mark.parametrize(
    "test",
    [
        "curl -f http://web:8080/",
        "curl -f http://127.0.0.1:8080/healthz",
        "curl -f http://127.0.0.1:8080/already",
        "wget -qO- http://127.0.0.1:8080/actuator/health/liveness",
        "wget -qO- http://127.0.0.1:9090/-/ready",
        "curl -f http://127.0.0.1:9090/ready-made",
        "curl -f -H 'Host: db' http://127.0.0.1:8080/",
    ],
)
def test_a_check_that_asks_its_own_process(test: str) -> None:
    assert look("health-asks-dependency", DEPENDS.replace("TEST", test)) == []


@pytest.mark.parametrize(
    ("image", "certainty", "said"),
    [
        ("node:22", "likely", "Docker's own images have none; start-first"),
        ("library/tomcat:11", "likely", "Docker's own images have none; start-first"),
        ("shop-reverse:latest", "unknown", "unless the image shop-reverse:latest has one, start-first"),
        ("demo/node:22", "unknown", "unless the image demo/node:22 has one, start-first"),
    ],
)
def test_a_name_without_an_owner_is_not_yet_one_of_dockers_own_images(image: str, certainty: str, said: str) -> None:
    """AhmedKarray005/secure-microservices-swarm: images built on the node have no owner's name."""
    service = f"image: {image}\n    ports: ['80:80']\n    deploy: {{update_config: {{order: start-first}}}}\n"
    text = f"services:\n  web:\n    {service}"
    (found,) = look("start-first-without-check", text)
    assert found.certainty == certainty
    assert said in found.effect
