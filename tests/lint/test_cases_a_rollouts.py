"""Right answers for stacks that people have reported, each with its source."""

from __future__ import annotations

import pytest

from swarmtest.lint import Finding
from swarmtest.lint.linting import all_rules
from tests.lint.looking import look, stack, told

ROLLOUT_RULES = (
    "start-first-host-port",
    "stops-all-at-once",
    "start-first-all-at-once",
    "start-first-single-writer",
    "start-first-shared-volume",
    "no-spare-slot",
    "monitor-too-short",
    "delay-hides-failure",
)


def rollout_errors(text: str, service: str, target: str = "swarm") -> list[str]:
    """The rules above that find something at a service, whatever it is."""
    return [rule for rule in ROLLOUT_RULES if any(each.place.key[1] == service for each in look(rule, text, target))]


def everything(text: str, target: str = "swarm") -> list[Finding]:
    read = stack(text, target)
    return [each for rule in all_rules() for each in rule.find(read)]


# zane-ops/zane-ops #535, moby/moby #36934, docker/docs #5089


EDGE = """\
services:
  edge:
    image: demo/edge:2
    ports:
      - {target: 443, published: 443, mode: host}
    deploy: {mode: global, update_config: {order: start-first}}
"""


def test_a_proxy_on_a_fixed_host_port_is_never_scheduled_beside_itself() -> None:
    (found,) = look("start-first-host-port", EDGE)
    assert (found.severity, found.certainty, found.place.line) == ("error", "certain", 6)
    assert "stays pending" in found.effect
    assert "doesn't count that as a failure" in found.effect
    assert "outer load balancer" in found.fix


def test_a_random_host_port_is_ignored_by_the_scheduler() -> None:
    assert look("start-first-host-port", EDGE.replace("published: 443, ", "")) == []


def test_tcp_and_udp_of_one_number_do_not_meet() -> None:
    udp = EDGE.replace("      - {", "      - {target: 443, published: 443, mode: host, protocol: udp}\n      - {", 1)
    assert look("port-published-twice", udp) == []


# moby/moby #40797, docker/compose #8252, docker-archive/classicswarm #2979


SLOTS = """\
services:
  api:
    image: demo/api:2
    deploy:
      replicas: 2
      placement: {max_replicas_per_node: 1}
      update_config: {order: start-first, parallelism: 1}
"""


def test_a_limit_per_node_leaves_no_slot_for_one_more() -> None:
    (found,) = look("no-spare-slot", SLOTS)
    assert (found.severity, found.certainty) == ("warning", "unknown")
    assert "eligible nodes x 1 >= 2 replicas + 1 = 3" in found.effect
    assert look("no-spare-slot", SLOTS.replace("start-first", "stop-first")) == []


# Dokploy/dokploy #4550 and #4560, psviderski/uncloud #151, baserow/baserow #1618


DATABASE = """\
services:
  db:
    image: mongo:7
    volumes: ["dbdata:/data/db"]
    deploy: {replicas: 1, update_config: {order: start-first, failure_action: rollback}}
volumes: {dbdata: {}}
"""


def test_a_database_is_not_started_beside_itself() -> None:
    (found,) = look("start-first-single-writer", DATABASE)
    assert found.severity == "error"
    assert "lock" in found.effect
    assert "gap can't be avoided" in found.fix


def test_an_unknown_image_is_a_warning_only() -> None:
    text = DATABASE.replace("mongo:7", "demo/store:1")
    assert look("start-first-single-writer", text) == []
    assert told("start-first-shared-volume", text) == ["db warning unknown 5"]


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        ("/data/db", "/data/db:ro"),
        ('"dbdata:/data/db"', "{type: tmpfs, target: /data/db}"),
        ("start-first", "stop-first"),
    ],
)
def test_read_only_mounts_memory_and_stop_first_are_fine(was: str, becomes: str) -> None:
    text = DATABASE.replace(was, becomes)
    assert look("start-first-single-writer", text) == []
    assert look("start-first-shared-volume", text) == []


# Eldara-Tech/swarmcli #475, moby/moby #37972


MONITOR = """\
services:
  a:
    image: demo/web:1
    healthcheck: {test: ["CMD", "/probe"], interval: 30s, timeout: 10s, retries: 3}
    deploy: {update_config: {order: start-first, failure_action: rollback}}
  b:
    image: demo/web:1
    healthcheck: {test: ["CMD", "/probe"], interval: 10s, timeout: 2s, retries: 3, start_period: 120s}
    deploy: {update_config: {order: start-first, failure_action: rollback, monitor: 40s}}
  c:
    image: demo/web:1
    healthcheck: {test: ["CMD", "/probe"], interval: 10s, retries: 3}
    deploy: {update_config: {order: start-first, monitor: 0s}}
  d:
    image: demo/web:1
    deploy: {update_config: {order: start-first, failure_action: rollback, monitor: 60s}}
"""


def test_the_monitor_is_measured_by_retries_interval_and_time_out() -> None:
    a, c = look("monitor-too-short", MONITOR)
    assert (a.place.key[1], a.severity) == ("a", "warning")
    assert "120 s (90 s if its probes fail at once)" in a.effect
    assert (c.place.key[1], c.severity) == ("c", "warning")
    assert "the default of 5 s" in c.effect


def test_without_a_health_check_the_monitor_catches_crashes() -> None:
    (found,) = look("monitor-without-health", MONITOR)
    assert found.place.key[1] == "d"
    assert "ends by itself" in found.effect


# docker/compose #13149 and #5013


APP = """\
services:
  app:
    image: demo/app:2
    deploy: {replicas: 2, update_config: {order: start-first, failure_action: rollback}}
"""


def test_compose_takes_no_notice_of_the_update_config() -> None:
    (found,) = look("ignored-by-compose", APP, "compose")
    assert (found.severity, found.certainty, found.place.line) == ("warning", "certain", 4)
    assert "expect a gap for each" in found.effect
    (gap,) = look("stops-all-at-once", APP, "compose")
    assert gap.severity == "warning"


def test_for_swarm_it_is_looked_at_as_usual() -> None:
    assert look("ignored-by-compose", APP) == []
    assert look("stops-all-at-once", APP) == []
    assert "rolls-back-stop-first" in {each.rule for each in everything(APP)}


# moby/moby #29148, #40589, #34111


ALL = """\
services:
  one: {image: demo/web:2, deploy: {replicas: 1}}
  all: {image: demo/web:2, deploy: {replicas: 3, update_config: {parallelism: 0}}}
  big: {image: demo/web:2, deploy: {replicas: 2, update_config: {parallelism: 5}}}
  fine: {image: demo/web:2, deploy: {update_config: {order: start-first}}, healthcheck: {test: ["CMD", "/probe"]}}
  none: {image: demo/web:2}
  twice: {image: demo/web:2, deploy: {replicas: 3, update_config: {order: start-first, parallelism: 0}}}
"""


def test_everything_stops_at_once() -> None:
    assert told("stops-all-at-once", ALL) == [
        "one error certain 2",
        "all error certain 3",
        "big error certain 4",
        "none error certain 6",
    ]


def test_start_first_for_all_is_no_outage_but_doubles_the_room() -> None:
    assert told("start-first-all-at-once", ALL) == ["twice warning certain 7"]


def test_one_replica_that_is_started_first_with_a_health_check_is_fine() -> None:
    assert rollout_errors(ALL, "fine") == ["monitor-too-short"]


# moby/moby #37972 and #42875, moby/swarmkit #3003


def test_a_delay_that_hides_the_failure() -> None:
    text = """\
services:
  web:
    image: demo/web:2
    deploy: {replicas: 1, update_config: {delay: 30s, monitor: 5s, failure_action: rollback}}
"""
    (found,) = look("delay-hides-failure", text)
    assert found.severity == "warning"
    assert "may never be done" in found.effect
    assert "61 s after the last task is up" in found.effect
    assert "monitor above the delay" in found.fix


# moby/moby #34245, #31819, #44069


def test_a_pause_leaves_two_versions_behind() -> None:
    (found,) = look("pauses-on-failure", "services: {api: {image: demo/api:2, deploy: {replicas: 4}}}\n")
    assert "two versions side by side and an instance fewer" in found.effect
    assert "second deploy of the same file" in found.effect
    assert "--with-registry-auth at each deploy" in found.fix


# moby/moby #34139, #33220, docker/docs #9917


def test_a_drained_node_takes_no_notice_of_the_update_config() -> None:
    text = "services: {api: {image: demo/api:2, deploy: {replicas: 1, update_config: {order: start-first}}}}\n"
    (found,) = look("single-instance", text)
    assert "its node is drained" in found.effect
    assert "scale up" in found.fix


# docker/cli #2274, moby/moby #41364, #38833


def test_a_new_port_and_start_first_in_one_step() -> None:
    old = """\
services:
  web:
    image: demo/web:1
    ports: ["8001:80"]
    deploy: {replicas: 2, update_config: {order: start-first}}
"""
    new = old.replace("web:1", "web:2").replace('"8001:80"', '"8001:80", "8002:80"')
    (found,) = look("ports-changed-start-first", new, before=old)
    assert found.severity == "warning"
    assert "stop-first" in found.fix
    assert "a step of their own" in found.fix
    assert look("ports-changed-start-first", new) == []
