from __future__ import annotations

import pytest

from tests.lint.looking import look, told

WEB = """\
services:
  web:
    image: demo/web:2
    {more}
    deploy:
      {deploy}
"""


def web(deploy: str, more: str = "labels: {}") -> str:
    return WEB.format(deploy=deploy, more=more)


@pytest.mark.parametrize(
    ("deploy", "line"),
    [
        ("replicas: 1", 5),
        ("labels: {}", 5),
        ("update_config: {order: stop-first}", 6),
        ("{replicas: 3, update_config: {parallelism: 0}}", 5),
        ("{replicas: 2, update_config: {parallelism: 5, order: stop-first}}", 5),
        ("{mode: global, update_config: {parallelism: 0}}", 5),
    ],
)
def test_all_instances_at_once_is_an_outage(deploy: str, line: int) -> None:
    text = web(deploy) if not deploy.startswith("{") else web("x").replace("deploy:\n      x", f"deploy: {deploy}")
    assert told("stops-all-at-once", text) == [f"web error certain {line}"]


@pytest.mark.parametrize(
    "deploy",
    [
        "update_config: {order: start-first}",
        "replicas: 2",
        "replicas: 0",
        "replicas: ${N}",
        "mode: global",
        "mode: replicated-job",
        "update_config: {order: '${ORDER}'}",
        "restart_policy: {condition: none}",
    ],
)
def test_what_is_not_an_outage_or_can_not_be_known_is_silent(deploy: str) -> None:
    assert look("stops-all-at-once", web(deploy)) == []


def test_without_an_image_nothing_is_deployed_at_all() -> None:
    assert look("stops-all-at-once", web("replicas: 1").replace("image: demo/web:2", "build: .")) == []
    assert look("stops-all-at-once", web("replicas: 1").replace("demo/web:2", "${IMAGE}")) != []


def test_the_effect_has_the_numbers_and_the_fix_what_to_write() -> None:
    (one,) = look("stops-all-at-once", web("replicas: 1"))
    assert "the only instance" in one.effect
    assert "the default" in one.effect
    assert "start-first" in one.fix
    (all_,) = look("stops-all-at-once", web("replicas: 3\n      update_config: {parallelism: 0}"))
    assert "all 3 instances" in all_.effect
    assert "parallelism 0" in all_.effect
    assert "parallelism: 1" in all_.fix
    assert all_.place.key[-1] == "parallelism"


def test_the_cure_depends_on_what_else_the_service_has() -> None:
    (port,) = look("stops-all-at-once", web("replicas: 1", "ports: [{target: 80, published: 80, mode: host}]"))
    assert "two nodes" in port.fix
    (volume,) = look("stops-all-at-once", web("replicas: 1", 'volumes: ["files:/files"]'))
    assert "may share the volume files" in volume.fix


def test_a_database_and_a_worker_are_told_about_and_no_error() -> None:
    base = web("replicas: 1")
    assert told("stops-all-at-once", base.replace("demo/web:2", "postgres:16")) == ["web info likely 5"]
    worker = web("replicas: 1", "command: celery -A app worker")
    assert told("stops-all-at-once", worker) == ["web info likely 5"]
    chosen = web("update_config: {order: stop-first}").replace("demo/web:2", "postgres:16")
    assert look("stops-all-at-once", chosen) == []


def test_a_worker_that_has_a_port_is_no_worker() -> None:
    text = web("replicas: 1", 'command: ./worker\n    ports: ["80:80"]')
    assert told("stops-all-at-once", text) == ["web error certain 6"]


def test_compose_stops_before_it_starts_whatever_the_file_says() -> None:
    one = web("{replicas: 1, update_config: {order: start-first}}").replace("deploy:\n      {", "deploy: {")
    assert told("stops-all-at-once", one, "compose") == ["web error certain 2"]
    (two,) = look("stops-all-at-once", web("replicas: 2"), "compose")
    assert (two.severity, two.certainty) == ("warning", "likely")
    assert "all 2 containers" in two.effect
    assert look("stops-all-at-once", web("mode: replicated-job"), "compose") == []


@pytest.mark.parametrize("replicas", ["0", "${N}"])
def test_none_and_a_number_that_can_not_be_known_are_silent_under_compose_too(replicas: str) -> None:
    assert look("stops-all-at-once", web(f"replicas: {replicas}"), "compose") == []


def test_scale_is_composes_own_number() -> None:
    (found,) = look("stops-all-at-once", web("labels: {}", "scale: 3"), "compose")
    assert "all 3 containers" in found.effect


def test_a_plain_compose_file_is_told_once() -> None:
    text = 'services:\n  a: {image: a:1, ports: ["80:80"]}\n  b: {image: b:1, ports: ["81:80"]}\n  c: {image: c:1}\n'
    (found,) = look("compose-recreates", text, "compose")
    assert (found.severity, found.place.line) == ("info", 1)
    assert "a and b" in found.effect
    assert "c" not in found.effect.split(":")[1].split("can't")[0]
    assert look("stops-all-at-once", text, "compose") == []
    assert look("compose-recreates", text) == []
    assert look("compose-recreates", web("replicas: 2", 'ports: ["80:80"]'), "compose") == []


DOUBLE = "{mode}\n      update_config: {{order: {order}, parallelism: {parallelism}}}"


@pytest.mark.parametrize(
    ("mode", "parallelism", "said"),
    [("replicas: 3", 0, "3 more beside the 3"), ("replicas: 2", 5, "2 more"), ("mode: global", 0, "on each node")],
)
def test_start_first_for_all_at_once_takes_twice_the_room(mode: str, parallelism: int, said: str) -> None:
    text = web(DOUBLE.format(mode=mode, order="start-first", parallelism=parallelism))
    (found,) = look("start-first-all-at-once", text)
    assert (found.severity, found.certainty, found.place.line) == ("warning", "certain", 7)
    assert said in found.effect


@pytest.mark.parametrize(
    ("mode", "order", "parallelism"),
    [
        ("replicas: 1", "start-first", "0"),
        ("replicas: 1", "start-first", "1"),
        ("replicas: 3", "start-first", "2"),
        ("replicas: 3", "stop-first", "0"),
        ("replicas: 3", "start-first", "'${P}'"),
        ("mode: global", "start-first", "1"),
    ],
)
def test_less_than_all_is_silent(mode: str, order: str, parallelism: str) -> None:
    text = web(DOUBLE.format(mode=mode, order=order, parallelism=parallelism))
    assert look("start-first-all-at-once", text) == []


FIRST = "update_config: {order: start-first}"


def test_one_instance_is_safe_from_updates_only() -> None:
    (found,) = look("single-instance", web(FIRST))
    assert (found.severity, found.certainty) == ("info", "certain")
    assert "drained" in found.effect
    assert "replicas: 2" in found.fix
    assert look("single-instance", web(FIRST + "\n      replicas: 2")) == []
    assert look("single-instance", web("replicas: 1")) == []
    assert look("single-instance", web(FIRST + "\n      mode: global")) == []


@pytest.mark.parametrize(
    ("replicas", "parallelism", "left"), [(2, 1, "1 serves"), (4, 2, "2 serve all"), (3, 2, "1 serves")]
)
def test_half_of_the_instances_away_at_a_time(replicas: int, parallelism: int, left: str) -> None:
    text = web(f"replicas: {replicas}\n      update_config: {{parallelism: {parallelism}}}")
    (found,) = look("stop-first-halves-capacity", text)
    assert (found.severity, found.certainty) == ("info", "certain")
    assert left in found.effect
    assert found.place.key[-1] == ("order" if parallelism == 1 else "parallelism")


@pytest.mark.parametrize(
    "deploy", ["replicas: 3", "replicas: 1", "replicas: 2\n      update_config: {order: start-first}", "mode: global"]
)
def test_most_of_them_left_or_none_is_another_matter(deploy: str) -> None:
    assert look("stop-first-halves-capacity", web(deploy)) == []


def test_stop_first_that_is_written_for_one_with_a_volume_was_weighed() -> None:
    """Beside a volume the other way is two processes on it; where nothing is written, nobody may have thought of it."""
    text = web("replicas: 1\n      update_config: {order: stop-first}", 'volumes: ["files:/files"]')
    assert look("stops-all-at-once", text) == []
    assert told("stops-all-at-once", web("replicas: 1", 'volumes: ["files:/files"]'))[0].startswith("web error")
    assert told("stops-all-at-once", web("replicas: 1\n      update_config: {order: stop-first}"))[0].startswith(
        "web err"
    )


@pytest.mark.parametrize(
    "command", ["supercronic /etc/crontab", "cron -f", "crond -f -l 2", "yacron -c /etc/yacron.yaml"]
)
def test_of_a_clock_there_must_not_be_two(command: str) -> None:
    text = web("replicas: 1\n      update_config: {order: stop-first}", f"command: {command}")
    assert look("stops-all-at-once", text) == []
