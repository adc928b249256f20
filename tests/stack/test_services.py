"""What a stack file promises, with Swarm's defaults, and every value that Docker would refuse."""

from __future__ import annotations

import contextlib
import textwrap
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck as Health
from hypothesis import given, settings
from hypothesis import strategies as st

from swarmtest.errors import StackError
from swarmtest.stack import HealthCheck, Port, Service, Stack, UpdatePolicy
from swarmtest.stack.block.brief import read_brief
from swarmtest.stack.services import put_over, read_stack


def stack_of(folder: Path, text: str, **environment: str) -> Stack:
    file = folder / "stack.yml"
    file.write_text(textwrap.dedent(text))
    return read_stack(file, environment)


def web(folder: Path, body: str, **environment: str) -> Service:
    text = "services:\n  web:\n    image: demo\n" + textwrap.indent(textwrap.dedent(body), "    ")
    return stack_of(folder, text, **environment).services["web"]


def refused(folder: Path, body: str) -> StackError:
    with pytest.raises(StackError) as caught:
        web(folder, body)
    return caught.value


def test_a_service_that_says_nothing_has_the_defaults_of_swarm(tmp_path: Path) -> None:
    service = web(tmp_path, "")
    assert service.update == service.rollback == UpdatePolicy("stop-first", 1, 0.0, 5.0, "pause")
    assert (service.replicas, service.mode, service.endpoint_mode) == (1, "replicated", "vip")
    assert (service.grace_seconds, service.stop_signal) == (10.0, None)
    assert (service.restart_condition, service.restart_delay_seconds) == ("any", 5.0)
    assert (service.health, service.health_disabled) == (None, False)
    assert service.build is None


def test_all_that_a_verdict_rests_on_is_read(tmp_path: Path) -> None:
    service = web(
        tmp_path,
        """\
        stop_grace_period: 1m30s
        stop_signal: SIGQUIT
        healthcheck: {test: [CMD, /probe], interval: 2s, timeout: 1s, retries: 4, start_period: 10s}
        networks: [inner]
        deploy:
          replicas: 3
          endpoint_mode: dnsrr
          update_config: {order: start-first, parallelism: 2, delay: 1s, monitor: 0s, failure_action: rollback}
          rollback_config: {order: start-first, monitor: 7s, failure_action: continue}
          restart_policy: {condition: on-failure, delay: 2s}
        """,
    )
    assert service.grace_seconds == 90
    assert service.stop_signal == "SIGQUIT"
    assert service.health == HealthCheck(("CMD", "/probe"), 2.0, 1.0, 4, 10.0)
    assert service.update == UpdatePolicy("start-first", 2, 1.0, 5.0, "rollback")
    assert service.rollback == UpdatePolicy("start-first", 1, 0.0, 7.0, "continue")
    assert (service.restart_condition, service.restart_delay_seconds) == ("on-failure", 2.0)
    assert service.networks == ("inner",)


def test_numbers_that_come_from_variables_are_numbers(tmp_path: Path) -> None:
    # moby/moby #30251: fields are text until they're replaced
    body = 'deploy: {replicas: "${N:-3}"}\nports: [{target: 80, published: "${P:-8080}"}]\n'
    assert web(tmp_path, body).replicas == 3
    assert web(tmp_path, body, N="5").replicas == 5
    assert web(tmp_path, body, P="99").ports == (Port(80, 99),)


@pytest.mark.parametrize("value", ["90", "null", '"90"', "1d", '"5 min"', "1m30", "10S", '""', "[30s]", '"${GONE}"'])
def test_a_grace_that_docker_refuses_is_an_error_with_its_line(tmp_path: Path, value: str) -> None:
    error = refused(tmp_path, f"stop_grace_period: {value}\n")
    assert (error.line, error.key) == (4, "services.web.stop_grace_period")
    assert "Docker refuses it too" in error.problem


def test_docker_refuses_nothing_in_our_own_block(tmp_path: Path) -> None:
    file = tmp_path / "stack.yml"
    file.write_text("services: {web: {image: demo, ports: ['80:80']}}\nx-swarmtest: {traffic: {timeout: 1d}}\n")
    with pytest.raises(StackError) as caught:
        read_brief(read_stack(file))
    assert caught.value.key == "x-swarmtest.traffic.timeout"
    assert "Docker" not in caught.value.problem


def test_health_checks_in_each_way_of_writing(tmp_path: Path) -> None:
    health = web(tmp_path, "healthcheck: {test: curl -f http://127.0.0.1/ || exit 1}").health
    assert health is not None
    assert health.test == ("CMD-SHELL", "curl -f http://127.0.0.1/ || exit 1")
    for body in ("disable: true", "disable: 'true'", "test: [NONE]"):
        service = web(tmp_path, f"healthcheck: {{{body}}}")
        assert (service.health, service.health_disabled) == (None, True)
    assert web(tmp_path, "healthcheck: {interval: 2s}").health is None


@pytest.mark.parametrize(
    ("written", "ports"),
    [
        ("8080:80", [Port(80, 8080)]),
        ("2122:22", [Port(22, 2122)]),
        ("80", [Port(80, None)]),
        ('"80"', [Port(80, None)]),
        ("53:53/udp", [Port(53, 53, protocol="udp")]),
        ("53:53/UDP", [Port(53, 53, protocol="udp")]),
        ('"127.0.0.1:8080:80"', [Port(80, 8080)]),
        ('"127.0.0.1::80"', [Port(80, None)]),
        ('"[::1]:8080:80"', [Port(80, 8080)]),
        ("8000-8001:90-91", [Port(90, 8000), Port(91, 8001)]),
        ("8000-8002:80", [Port(80, 8000), Port(80, 8001), Port(80, 8002)]),
        ("90-91", [Port(90, None), Port(91, None)]),
        ("{target: 80, mode: host}", [Port(80, None, "host")]),
        ("{target: 80, published: 8080, mode: host}", [Port(80, 8080, "host")]),
        ("{target: 80, published: '8080', protocol: udp}", [Port(80, 8080, protocol="udp")]),
    ],
)
def test_ports_in_each_way_of_writing(tmp_path: Path, written: str, ports: list[Port]) -> None:
    # docker/compose #3290, containers/podman-compose #736
    assert list(web(tmp_path, f"ports: [{written}]").ports) == ports


@pytest.mark.parametrize(
    "written",
    [
        "http",
        "8080:http",
        "70000:80",
        "1-99999999999",
        "5-3:80",
        "80-82:90-91",
        "8_0:80",
        "[80]",
        "80/icmp",
        "{}",
        "{published: 80}",
        "{target: x}",
        "{target: 80, mode: ingres}",
        "{target: 80.5}",
        "null",
        "true",
    ],
)
def test_what_is_no_port_is_refused_with_its_line(tmp_path: Path, written: str) -> None:
    error = refused(tmp_path, f"ports:\n- {written}\n")
    assert (error.line, error.key) == (4, "services.web.ports")
    assert '"8080:80"' in error.problem


@pytest.mark.parametrize(
    ("body", "key"),
    [
        ("deploy: {replicas: -1}", "deploy.replicas"),
        ("deploy: {replicas: 1.5}", "deploy.replicas"),
        ("deploy: {replicas: many}", "deploy.replicas"),
        ("deploy: {replicas: [1]}", "deploy.replicas"),
        ("deploy: {replicas: true}", "deploy.replicas"),
        ("deploy: {replicas: 99999999999999999999}", "deploy.replicas"),
        ("deploy: 3", "deploy"),
        ("deploy: {mode: globl}", "deploy.mode"),
        ("deploy: {endpoint_mode: dns}", "deploy.endpoint_mode"),
        ("deploy: {update_config: {order: start_first}}", "deploy.update_config.order"),
        ("deploy: {update_config: {failure_action: rollbak}}", "deploy.update_config.failure_action"),
        ("deploy: {update_config: {monitor: 5}}", "deploy.update_config.monitor"),
        ("deploy: {rollback_config: {parallelism: x}}", "deploy.rollback_config.parallelism"),
        ("deploy: {restart_policy: {condition: always}}", "deploy.restart_policy.condition"),
        ("healthcheck: 5", "healthcheck"),
        ("healthcheck: {test: 5}", "healthcheck.test"),
        ("healthcheck: {test: {a: b}}", "healthcheck.test"),
        ("healthcheck: {test: x, retries: -1}", "healthcheck.retries"),
        ("stop_signal: [TERM]", "stop_signal"),
        ("ports: 80", "ports"),
        ("build: 5", "build"),
        ("build: {args: text}", "build.args"),
        ('build: {context: "a\\0b"}', "build"),
    ],
)
def test_each_wrong_value_is_named_by_its_key(tmp_path: Path, body: str, key: str) -> None:
    error = refused(tmp_path, body)
    assert error.key == f"services.web.{key}"
    assert error.line == 4


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("{}", "services"),
        ("version: '3.8'", "services"),
        ("services:", "services"),
        ("services: {}", "services"),
        ("services: [web]", "services"),
        ("services: {web: 5}", "services.web"),
        ("services: {web: [image]}", "services.web"),
        ("{services: {web: {}}, x-swarmtest: api}", "x-swarmtest"),
    ],
)
def test_a_file_without_proper_services_is_refused(tmp_path: Path, text: str, key: str) -> None:
    with pytest.raises(StackError) as caught:
        stack_of(tmp_path, text)
    assert caught.value.key == key


def test_a_build_is_read_with_paths_from_the_file_and_arguments_in_both_forms(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    build = web(tmp_path / "sub", "build: {context: .., dockerfile: D, args: {A: 1, B: null}}").build
    assert build is not None
    assert (build.context, build.dockerfile, build.args) == (tmp_path, tmp_path / "D", {"A": "1"})
    listed = web(tmp_path, "build: {args: [A=1=2, B]}").build
    assert listed is not None
    assert listed.args == {"A": "1=2"}
    short = web(tmp_path, "build: here").build
    assert short is not None
    assert short.dockerfile == tmp_path / "here" / "Dockerfile"


any_value = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=6,
)
SERVICE_KEYS = [
    "image",
    "ports",
    "build",
    "args",
    "context",
    "healthcheck",
    "test",
    "interval",
    "retries",
    "stop_grace_period",
    "stop_signal",
    "networks",
    "deploy",
    "replicas",
    "mode",
    "endpoint_mode",
    "update_config",
    "rollback_config",
    "order",
    "parallelism",
    "monitor",
    "restart_policy",
    "target",
    "published",
]
ABOUT_KEYS = [
    "service",
    "url",
    "front_door",
    "detects",
    "within",
    "instance_header",
    "traffic",
    "kinds",
    "rate",
    "ms",
    "path",
    "method",
    "headers",
    "timeout",
    "fresh_share",
    "baseline",
    "longest_request",
    "body_bytes",
    "expect_bytes",
    "ready_within",
]


def _bodies(keys: list[str]) -> st.SearchStrategy[object]:
    return st.recursive(
        st.one_of(any_value, st.sampled_from(["8080:80", "5s", "direct", "web", "/", "start-first", "40/s", "host"])),
        lambda inner: st.dictionaries(st.sampled_from(keys), inner, max_size=5),
        max_leaves=12,
    )


@settings(suppress_health_check=[Health.too_slow], deadline=None)
@given(
    st.one_of(_bodies(SERVICE_KEYS), st.dictionaries(st.sampled_from(SERVICE_KEYS), _bodies(SERVICE_KEYS))),
    st.one_of(_bodies(ABOUT_KEYS), st.dictionaries(st.sampled_from(ABOUT_KEYS), _bodies(ABOUT_KEYS))),
)
def test_any_values_make_a_stack_and_a_brief_or_a_stack_error(
    tmp_path_factory: pytest.TempPathFactory, service: object, about: object
) -> None:
    file = tmp_path_factory.getbasetemp() / "any.yml"
    file.write_text(yaml.safe_dump({"services": {"web": service}, "x-swarmtest": about}, allow_unicode=True))
    with contextlib.suppress(StackError):
        brief = read_brief(read_stack(file, {}))
        assert brief.service == "web"
        assert all(0 < kind.rate < float("inf") for kind in brief.kinds)


def test_keys_put_over_a_service_change_it_and_nothing_else(tmp_path: Path) -> None:
    text = """
        services:
          web:
            image: demo
            stop_grace_period: 20s
            deploy: {replicas: 3, update_config: {order: stop-first, parallelism: 2}}
          edge: {image: proxy}
        """
    stack = stack_of(tmp_path, text)
    over = put_over(stack, "web", {"stop_grace_period": "1s", "deploy": {"update_config": {"order": "start-first"}}})
    assert over.services["web"].grace_seconds == 1.0
    assert over.services["web"].update == UpdatePolicy("start-first", 2, 0.0, 5.0, "pause")
    assert over.services["web"].replicas == 3
    assert over.services["edge"] == stack.services["edge"]
    assert stack.services["web"].grace_seconds == 20.0, "the stack itself stays as it was"
    assert put_over(stack, "web", {}) is stack


def test_keys_put_over_a_service_that_says_nothing_are_all_it_says(tmp_path: Path) -> None:
    stack = stack_of(tmp_path, "services: {web: }\n")
    assert put_over(stack, "web", {"deploy": {"replicas": 4}}).services["web"].replicas == 4
