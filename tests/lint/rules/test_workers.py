"""Workers, schedulers, and the front door."""

from __future__ import annotations

import pytest

from tests.lint.looking import look, told


def worker(command: str, *lines: str) -> str:
    more = "".join(f"    {line}\n" for line in lines)
    return f"services:\n  w:\n    image: demo/w:1\n    command: {command}\n{more}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (worker("sidekiq -t 25"), "warning certain 2"),
        (worker("sidekiq --timeout=25"), "warning certain 2"),
        (worker("sidekiq"), "warning likely 2"),
        (worker("sidekiq -t 25", "stop_grace_period: 25s"), "warning certain 5"),
        (worker("sidekiq -t 25", "stop_grace_period: 28s"), "info likely 5"),
        (worker('sh -c "exec bundle exec sidekiq -t 25"'), "warning certain 2"),
        (worker("celery -A app worker"), "warning likely 2"),
        (worker("python -m celery -A app worker --time-limit 300", "stop_grace_period: 60s"), "warning certain 5"),
        (worker("rq worker default"), "warning likely 2"),
        (worker("dramatiq app --worker-shutdown-timeout 60000"), "warning certain 2"),
        (worker("php artisan queue:work --timeout=90", "stop_grace_period: 60s"), "warning certain 5"),
        (worker("rails jobs:work"), "warning likely 2"),
        (worker("good_job start", "environment: {GOOD_JOB_SHUTDOWN_TIMEOUT: '30'}"), "warning certain 2"),
        (worker("airflow celery worker"), "warning likely 2"),
    ],
)
def test_a_worker_is_cut_by_the_grace(text: str, said: str) -> None:
    assert told("worker-cut-by-grace", text) == [f"w {said}"]


@pytest.mark.parametrize(
    "text",
    [
        worker("sidekiq -t 25", "stop_grace_period: 30s"),
        worker("celery -A app worker", "stop_grace_period: 5m"),
        worker("celery -A app beat"),
        worker("celery -A app flower"),
        worker("rq info"),
        worker("airflow scheduler"),
        worker("proxy celery worker"),
        worker("sidekiq -t 25", "stop_grace_period: '${GRACE}'"),
        worker("sidekiq -t 4"),
        worker("shoryuken -t 5"),
        worker("node worker.js"),
        worker("sidekiq -t 25", "stop_grace_period: 0s"),
    ],
)
def test_a_worker_that_has_time_or_of_which_nothing_is_known(text: str) -> None:
    assert look("worker-cut-by-grace", text) == []


def test_the_fix_of_a_written_limit_is_an_edit_and_of_a_default_a_decision() -> None:
    (written,) = look("worker-cut-by-grace", worker("sidekiq -t 25"))
    (default,) = look("worker-cut-by-grace", worker("celery -A app worker"))
    assert written.edit
    assert (written.edit.key, written.edit.value) == (("services", "w", "stop_grace_period"), "30s")
    assert default.edit is None


def test_celery_told_to_drop_its_tasks() -> None:
    cold = worker("celery -A app worker", "environment: {REMAP_SIGTERM: SIGQUIT}")
    assert told("worker-cold-shutdown", cold) == ["w warning likely 5"]
    assert look("worker-cold-shutdown", cold.replace("SIGQUIT", "SIGTERM")) == []
    assert look("worker-cold-shutdown", cold.replace("celery -A app worker", "serve")) == []


FIRST = "deploy: {update_config: {order: start-first}}"


def test_a_worker_gains_nothing_by_start_first() -> None:
    assert told("worker-start-first", worker("sidekiq", FIRST)) == ["w info likely 5"]
    assert look("worker-start-first", worker("sidekiq")) == []
    assert look("worker-start-first", worker("puma", FIRST)) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (worker("celery -A app beat", "deploy: {replicas: 2}"), "error certain 5"),
        (worker("celery -A app beat", "deploy: {mode: global}"), "error certain 5"),
        (worker("celery -A app worker -B", "deploy: {replicas: 3}"), "error certain 5"),
        (worker("celery -A app beat", FIRST), "warning likely 5"),
        (worker("php artisan schedule:work", "deploy: {replicas: 2}"), "error certain 5"),
    ],
)
def test_two_schedulers_send_each_task_twice(text: str, said: str) -> None:
    assert told("scheduler-runs-twice", text) == [f"w {said}"]


@pytest.mark.parametrize(
    "text",
    [
        worker("celery -A app beat"),
        worker("celery -A app beat", "deploy: {replicas: 1}"),
        worker("celery -A app beat -S redbeat.RedBeatScheduler", "deploy: {replicas: 2}"),
        worker("celery -A app worker", "deploy: {replicas: 2}"),
        worker("celery -A app beat", "deploy: {replicas: '${N}'}"),
        worker("php artisan serve", "deploy: {replicas: 2}"),
        worker("echo schedule:work", "deploy: {replicas: 2}"),
    ],
)
def test_one_scheduler_or_one_that_locks(text: str) -> None:
    assert look("scheduler-runs-twice", text) == []


def test_a_worker_has_less_time_than_the_api_in_front_of_it() -> None:
    text = """\
    services:
      api: {image: "demo/app:1", ports: ["80:80"], stop_grace_period: 30s}
      w: {image: "demo/app:1", command: celery -A app worker, stop_grace_period: 20s}
    """
    assert told("worker-grace-below-api", text) == ["w info likely 3"]
    assert look("worker-grace-below-api", text.replace("20s", "40s")) == []
    assert look("worker-grace-below-api", text.replace('ports: ["80:80"], ', "")) == []
    by_default = text.replace("30s", "9s").replace(", stop_grace_period: 20s", ", stop_grace_period: 8s")
    assert told("worker-grace-below-api", by_default) == ["w info likely 3"]
    assert look("worker-grace-below-api", by_default.replace("], stop_grace_period: 9s", "]")) == []
    assert look("worker-grace-below-api", text.replace("celery -A app worker", "sidekiq -t 10")) == []


TRAEFIK = """\
services:
  edge:
    image: traefik:v3.1
    command: ["--providers.swarm.endpoint=unix:///var/run/docker.sock"]
  api:
    image: demo/api:1
    deploy: {labels: ["traefik.enable=true"]}
"""


def test_traefik_learns_of_a_stop_later_than_the_task() -> None:
    (found,) = look("proxy-list-late", TRAEFIK)
    assert told("proxy-list-late", TRAEFIK) == ["edge warning likely 4"]
    assert "for up to 13 s" in found.effect
    own = TRAEFIK.replace("traefik:v3.1", "traefik:v3.1\n    deploy: {labels: [traefik.enable=true]}")
    assert "tasks of api that" in look("proxy-list-late", own)[0].effect
    older = TRAEFIK.replace(
        "--providers.swarm.endpoint=unix:///var/run/docker.sock", "--providers.docker.swarmMode=true"
    )
    assert told("proxy-list-late", older) == ["edge warning likely 4"]
    written = TRAEFIK.replace('docker.sock"', 'docker.sock", "--providers.swarm.refreshSeconds=5"')
    assert "for up to 3 s" in look("proxy-list-late", written)[0].effect


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        ('docker.sock"', 'docker.sock", "--providers.swarm.refreshSeconds=1"'),
        ('docker.sock"', 'docker.sock", "--providers.swarm.refreshSeconds=${R}"'),
        ('enable=true"', 'enable=true", "traefik.swarm.lbswarm=true"'),
        ("enable=true", "enable=false"),
        ("--providers.swarm.endpoint=", "--providers.docker.endpoint="),
        ("traefik:v3.1", "demo/edge:1"),
        ("traefik.enable=true", "com.example=1"),
    ],
)
def test_traefik_that_is_in_time_or_goes_by_swarms_own_address(was: str, becomes: str) -> None:
    assert look("proxy-list-late", TRAEFIK.replace(was, becomes)) == []
