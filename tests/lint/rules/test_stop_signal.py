"""Whether the stop signal means to the program what it's meant to."""

from __future__ import annotations

import pytest

from tests.lint.looking import look, told


def stopped(image: str, signal: str = "", more: str = "") -> str:
    return f"""\
    services:
      web:
        image: "{image}"
        {f"stop_signal: {signal}" if signal else ""}
        {more}
    """


@pytest.mark.parametrize("signal", ["SIGFOO", "TERMINATE", "SIG15", '"²"', '"0"', '"99"', "RTMIN+99"])
def test_signals_that_the_engine_does_not_know(signal: str) -> None:
    assert told("stop-signal-unknown", stopped("demo/web:1", signal)) == ["web error certain 4"]


@pytest.mark.parametrize("signal", ["SIGTERM", "term", "QUIT", '"15"', "SIGRTMIN+3", "RTMAX-2", "RTMIN", ""])
def test_signals_that_it_knows(signal: str) -> None:
    assert look("stop-signal-unknown", stopped("demo/web:1", signal)) == []


@pytest.mark.parametrize("signal", ["SIGKILL", "kill", '"9"', "SIGSTOP"])
def test_signals_that_nobody_can_act_on(signal: str) -> None:
    assert told("stop-signal-kills", stopped("demo/web:1", signal)) == ["web error certain 4"]
    assert look("stop-signal-kills", stopped("demo/web:1", "SIGQUIT")) == []


def test_one_of_them_kills_and_the_other_freezes() -> None:
    assert "ends it in that instant" in look("stop-signal-kills", stopped("demo/web:1", "SIGKILL"))[0].effect
    assert "freezes it" in look("stop-signal-kills", stopped("demo/web:1", "SIGSTOP"))[0].effect


@pytest.mark.parametrize(
    ("image", "signal"),
    [
        ("nginx:1.27", "SIGTERM"),
        ("library/nginx", "INT"),
        ("docker.io/library/nginx:1.27", "SIGTERM"),
        ("nginxinc/nginx-unprivileged:1.27", '"15"'),
        ("openresty/openresty:1.25", "SIGTERM"),
        ("httpd:2.4", "SIGTERM"),
        ("php:8.3-apache", "SIGTERM"),
        ("wordpress:6", "SIGTERM"),
        ("php:8.3-fpm-alpine", "SIGTERM"),
        ("wordpress:6-fpm", "SIGINT"),
        ("haproxy:3.0", "SIGTERM"),
    ],
)
def test_the_signal_at_which_a_known_image_cuts(image: str, signal: str) -> None:
    (found,) = look("stop-signal-cuts", stopped(image, signal))
    assert told("stop-signal-cuts", stopped(image, signal)) == ["web error certain 4"]
    assert found.edit
    assert found.edit.value in ("SIGQUIT", "SIGWINCH", "SIGUSR1")


@pytest.mark.parametrize(
    ("image", "signal"),
    [
        ("nginx:1.27", "SIGQUIT"),
        ("nginx:1.27", ""),
        ("httpd:2.4", "SIGWINCH"),
        ("haproxy:3.0", "USR1"),
        ("php:8.3-cli", "SIGTERM"),
        ("demo/web:1", "SIGTERM"),
        ("demo/openresty:1", "SIGTERM"),
        ("demo/nginx-unprivileged:1", "SIGTERM"),
        ("caddy:2", "SIGTERM"),
        ("${IMAGE}", "SIGTERM"),
    ],
)
def test_the_signal_at_which_it_drains_or_of_which_nothing_is_known(image: str, signal: str) -> None:
    assert look("stop-signal-cuts", stopped(image, signal)) == []


def test_postgres_waits_for_its_clients_at_term_and_is_left_to_recovery_at_quit() -> None:
    assert told("stop-signal-cuts", stopped("postgres:16", "SIGTERM")) == ["web warning likely 4"]
    assert told("stop-signal-cuts", stopped("postgis/postgis:16-3.4", "SIGQUIT")) == ["web error certain 4"]
    assert look("stop-signal-cuts", stopped("postgres:16", "SIGINT")) == []
    assert look("stop-signal-cuts", stopped("postgres:16")) == []


@pytest.mark.parametrize(
    "command",
    ["unicorn -c u.rb", "bundle exec unicorn", "huey_consumer.py app.huey", "rake resque:work", "uwsgi --http :80"],
)
def test_programs_that_are_cut_by_the_default(command: str) -> None:
    assert told("stop-signal-cuts", stopped("demo/web:1", more=f"command: {command}")) == ["web warning likely 2"]


@pytest.mark.parametrize(
    ("command", "more"),
    [
        ("unicorn -c u.rb", "stop_signal: SIGQUIT"),
        ("huey_consumer.py app.huey", "stop_signal: SIGINT"),
        ("rake resque:work", 'environment: {TERM_CHILD: "1"}'),
        ("uwsgi --http :80 --die-on-term", ""),
        ("uwsgi --ini /app/uwsgi.ini", ""),
        ("gunicorn app", ""),
        ("celery -A app worker", ""),
        ("nginx -g 'daemon off;'", ""),
    ],
)
def test_programs_that_are_told_rightly_or_by_their_image(command: str, more: str) -> None:
    text = f"services:\n  web:\n    image: demo/web:1\n    command: {command}\n    {more}\n"
    assert look("stop-signal-cuts", text) == []


def test_celery_may_have_softened_its_cold_shutdown() -> None:
    text = stopped("demo/web:1", "SIGQUIT", "command: celery -A app worker")
    assert told("stop-signal-cuts", text) == ["web warning likely 4"]


@pytest.mark.parametrize("image", ["demo/nginx-fork:1.18", "bitnami/nginx:1.25", "nginx:1.18-alpine", "nginx:1.19.4"])
def test_an_nginx_of_which_nobody_knows(image: str) -> None:
    assert told("stop-signal-unverified", stopped(image)) == ["web warning unknown 3"]
    assert look("stop-signal-unverified", stopped(image, "SIGQUIT")) == []


@pytest.mark.parametrize(
    "image", ["nginx:1.27", "nginx:1.19", "nginx", "nginx:alpine", "nginx/nginx-prometheus-exporter:1", "demo/web:1"]
)
def test_an_nginx_that_is_known_and_what_is_none(image: str) -> None:
    assert look("stop-signal-unverified", stopped(image)) == []


def test_signals_that_programs_never_notice() -> None:
    assert told("stop-signal-ignored", stopped("demo/web:1", "SIGWINCH")) == ["web warning likely 4"]
    assert told("stop-signal-ignored", stopped("demo/web:1", "SIGCHLD")) == ["web warning likely 4"]
    for image, signal in (("httpd:2.4", "SIGWINCH"), ("demo/apache:1", "SIGWINCH"), ("demo/web:1", "SIGHUP")):
        assert look("stop-signal-ignored", stopped(image, signal)) == []
