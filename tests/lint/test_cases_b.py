"""Reports of how a stack file is read, as the linter answers them; what Docker said is in each name or comment."""

from __future__ import annotations

from pathlib import Path

import pytest

from swarmtest.lint import Target
from swarmtest.lint.document import Unsure, read_document
from swarmtest.lint.linting import lint
from swarmtest.lint.reading import services_of
from swarmtest.lint.services import LintService
from tests.lint.looking import look, stack, told

LEGALITY = ("docker-refuses", "docker-refuses-version", "duplicate-key")


def service(text: str, target: str = "swarm", environment: dict[str, str] | None = None) -> LintService:
    return stack(text, target, environment=environment).services[0]


def refused(text: str, target: str = "swarm") -> list[str]:
    """Line and effect of each finding that Docker refuses the file."""
    found = [finding for rule in LEGALITY for finding in look(rule, text, target)]
    assert all(finding.effect.startswith("Docker will refuse this: ") for finding in found)
    return [f"{finding.place.line} {finding.effect.removeprefix('Docker will refuse this: ')}" for finding in found]


# B1: docker/compose #103, #3290, #3109; containers/podman-compose #736, #86; yaml/pyyaml #272
PORTS = """\
services:
  files:
    image: demo/files:1
    ports:
      - 2122:22
      - 22:22
      - 8080:80
"""


def test_b1_unquoted_ports_are_no_numbers_of_base_60() -> None:
    assert [(port.published, port.target) for port in service(PORTS).ports] == [(2122, 22), (22, 22), (8080, 80)]
    assert refused(PORTS) == []


def test_b1_those_that_other_readers_misread_are_named_as_an_info() -> None:
    assert told("unquoted-port", PORTS) == ["files info certain 5", "files info certain 6"]
    assert [each.effect.split()[-1] for each in look("unquoted-port", PORTS)] == ["127342", "1342"]
    quoted = PORTS.replace("2122:22", '"2122:22"').replace("- 22:22", "- '22:22'")
    assert look("unquoted-port", quoted) == []


# B2: pre-commit/pre-commit-hooks #1272; testcontainers/testcontainers-java #7919; netdisco/netdisco-docker #92;
# microsoft/vscode-remote-release #8734
TAGS = """\
services:
  web:
    image: demo/web:1
    build: !reset null
    ports: !override
      - "8080:80"
    deploy: !override {replicas: 2}
"""


@pytest.mark.parametrize("target", ["swarm", "compose"])
def test_b2_reset_means_absent_and_override_gives_what_is_below_it(target: str) -> None:
    web = service(TAGS, target)
    assert not web.has("build")
    assert [port.published for port in web.ports] == [8080]
    assert web.replicas == 2
    assert refused(TAGS, target) == []


def test_b2_a_stack_is_told_that_its_tags_are_not_understood() -> None:
    expected = ["web error certain 4", "web warning certain 5", "web warning certain 7"]
    assert told("tags-not-understood", TAGS) == expected
    assert look("tags-not-understood", TAGS, "compose") == []


# B5: docker/cli #1073; docker/compose #9424, #9306, #13459; moby/moby #46827; OpenCTI-Platform/docker #349
REFUSED_BY_SWARM = [
    ("name: shop\nservices: {web: {image: demo/web:1}}\n", "1 name isn't a key that's known here"),
    (
        'services: {web: {image: demo/web:1, ports: [{target: 80, published: "8080"}]}}\n',
        '1 services.web.ports.0.published must be an integer, not the string "8080"',
    ),
    (
        "services:\n  web: {image: demo/web:1, depends_on: {db: {condition: service_healthy}}}\n  db: {image: d}\n",
        "2 services.web.depends_on must be a list, not a mapping",
    ),
    (
        "services:\n  web: {extends: {service: base}}\n  base: {image: demo/web:1}\n",
        "2 services.web.extends is forbidden in a stack",
    ),
]


@pytest.mark.parametrize(("text", "said"), REFUSED_BY_SWARM)
def test_b5_compose_only_syntax_is_refused_in_a_stack_and_read_all_the_same(text: str, said: str) -> None:
    assert refused(text) == [said]
    assert refused(text, "compose") == []
    assert {each.name for each in stack(text).services} >= {"web"}


def test_b5_what_a_variable_gives_is_cast() -> None:
    text = """\
    services:
      web: {image: demo/web:1, ports: [{target: 80, published: "${WEB_PORT:-8080}"}]}
      api: {image: demo/api:1, depends_on: [web], container_name: x, restart: always}
    """
    assert refused(text) == []
    assert service(text).ports[0].published == 8080


def test_b5_one_refused_service_does_not_hide_the_others() -> None:
    text = """\
    services:
      bad: {image: 5, ports: [{published: "8080"}], stop_grace_period: 90}
      good: {image: demo/good:1, stop_grace_period: 0s}
    """
    assert [line.split()[1] for line in refused(text)] == [
        "services.bad.image",
        "services.bad.ports.0.published",
        "services.bad.stop_grace_period",
    ]
    assert told("grace-zero", text) == ["good error certain 3"]


# B6: community-valheim-tools/valheim-server-docker #746; compose-spec/compose-spec #496; kubernetes/kompose PR #608
@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("90s", 90.0),
        ('"1m30s"', 90.0),
        ("1.5m", 90.0),
        ("90000ms", 90.0),
        ("1h30m", 5400.0),
        ("0s", 0.0),
        ("-5s", -5.0),
    ],
)
def test_b6_durations_that_docker_takes(written: str, seconds: float) -> None:
    text = f"services: {{web: {{image: demo/web:1, stop_grace_period: {written}}}}}\n"
    assert service(text).grace_seconds == seconds
    assert refused(text) == []


@pytest.mark.parametrize("written", ["90", "null", '"90"', "1d", '"5 min"', "1m30", "10S", '""'])
@pytest.mark.parametrize(
    "path",
    [
        "stop_grace_period: {}",
        "healthcheck: {{test: a, interval: {}}}",
        "healthcheck: {{test: a, timeout: {}}}",
        "healthcheck: {{test: a, start_period: {}}}",
        "deploy: {{update_config: {{monitor: {}}}}}",
        "deploy: {{rollback_config: {{delay: {}}}}}",
        "deploy: {{restart_policy: {{window: {}}}}}",
    ],
)
def test_b6_durations_that_docker_refuses_are_refused_and_never_guessed(written: str, path: str) -> None:
    body = path.format(written)
    text = f"services: {{web: {{image: demo/web:1, {body}}}}}\n"
    (said,) = refused(text)
    key = next(part for part in reversed(body.replace("{", " ").split()) if part.endswith(":"))
    assert f".{key.rstrip(':')} must be a " in said
    assert "such as" in said or "string" in said
    web = service(text)
    assert web.grace_seconds in (10.0, None)


def test_b6_zero_and_negative_graces_are_legal_and_errors_all_the_same() -> None:
    text = "services:\n  a: {image: demo/a:1, stop_grace_period: 0s}\n  b: {image: demo/b:1, stop_grace_period: -5s}\n"
    assert told("grace-zero", text) == ["a error certain 2"]
    assert told("grace-negative", text) == ["b error certain 3"]


# B7: moby/moby #29133, #30251; docker/for-linux #114; docker/cli #2075; getsentry/self-hosted (shape)
VARIABLES = """\
x-hc: &hc {interval: "${HC_INTERVAL:-7s}", retries: "${HC_RETRIES:-4}"}
services:
  web:
    image: "${REG-demo}/web:${TAG:-1.0-rc}"
    command: sh -c 'echo $PORT; exec node s.js'
    healthcheck:
      <<: *hc
      test: curl -f http://127.0.0.1:$${PORT}/h || exit 1
    stop_grace_period: "${GRACE:-45s}"
    deploy: {replicas: "${N:-3}"}
"""


@pytest.mark.parametrize("target", ["swarm", "compose"])
def test_b7_variables_are_replaced_and_cast(target: str) -> None:
    web = service(VARIABLES, target)
    assert web.health is not None
    assert (web.health.interval_seconds, web.health.retries, web.grace_seconds, web.replicas) == (7.0, 4, 45.0, 3)
    assert web.health.test == ("CMD-SHELL", "curl -f http://127.0.0.1:${PORT}/h || exit 1")
    assert (web.image.text, web.command) == ("demo/web:1.0-rc", ("sh", "-c", "echo ; exec node s.js"))
    assert refused(VARIABLES, target) == []


def test_b7_compose_casts_every_text_and_a_stack_only_what_a_variable_gave() -> None:
    text = 'services: {web: {image: demo/web:1, deploy: {replicas: "2"}, healthcheck: {test: a, retries: "x"}}}\n'
    assert service(text, "compose").replicas == 2
    assert refused(text, "compose") == ["1 services.web.healthcheck.retries becomes 'x', which isn't a whole number"]
    assert len(refused(text)) == 2


def test_b7_a_bare_variable_in_a_command_is_told_as_unset() -> None:
    (found,) = look("unset-variable", VARIABLES)
    assert (found.place.line, found.place.key, found.severity) == (5, ("services", "web", "command"), "warning")
    assert "PORT" in found.effect


@pytest.mark.parametrize(("target", "replicas"), [("compose", 1), ("swarm", 3)])
def test_b7_dotenv_is_read_for_compose_only(tmp_path: Path, target: str, replicas: int) -> None:
    (tmp_path / ".env").write_text("# how many\nN=1\n")
    (tmp_path / "stack.yml").write_text(VARIABLES)
    found = lint([tmp_path / "stack.yml"], Target(target), {})
    assert {finding.rule for finding in found.findings} >= {"unset-variable"}
    (web,) = services_of(read_document([tmp_path / "stack.yml"], Target(target), {}))
    assert web.replicas == replicas


def test_b7_the_environment_goes_before_dotenv(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("N=1\n")
    (tmp_path / "stack.yml").write_text(VARIABLES)
    (web,) = services_of(read_document([tmp_path / "stack.yml"], Target.COMPOSE, {"N": "5"}))
    assert web.replicas == 5


def test_b7_a_required_variable_is_reported_and_the_rest_goes_on_being_linted() -> None:
    text = """\
    services:
      web:
        image: demo/web:${TAG:?give a tag}
        stop_grace_period: 0s
    """
    (found,) = look("required-variable", text)
    assert (found.place.line, found.certainty) == (3, "unknown")
    assert "give a tag" in found.effect
    assert told("grace-zero", text) == ["web error certain 4"]


def test_b7_an_unset_variable_in_a_duration_is_an_unknown_value() -> None:
    text = 'services: {web: {image: demo/web:1, stop_grace_period: "${GRACE}", deploy: {replicas: "${N}"}}}\n'
    web = service(text)
    assert (web.grace_seconds, web.replicas) == (None, None)
    assert isinstance(web.value("stop_grace_period"), Unsure)
    assert refused(text) == []
    assert {each.effect.split()[0] for each in look("unset-variable", text)} == {"GRACE", "N"}


# B8: docker/compose #5258, #5542; docker/cli #2475, PR #3257; docker/docs #12082
ORDER = "services: {web: {image: demo/web:1, deploy: {update_config: {order: start-first}}}}\n"


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ('version: "3.3"\n', "2 services.web.deploy.update_config.order needs version 3.4, and this file says 3.3"),
        ('version: "2.4"\n', "1 version 2.4 is no version of stack files; they're 3.0 to 3.13"),
        ('version: "3"\n', None),
        ("", None),
        ('version: "3.8"\n', None),
    ],
)
def test_b8_the_version_decides_what_is_legal_in_a_stack(head: str, said: str | None) -> None:
    assert refused(head + ORDER) == ([said] if said else [])
    assert refused(head + ORDER, "compose") == []


def test_b8_a_version_without_quotes_is_a_number_and_3_10_is_3_1() -> None:
    said = refused("version: 3.10\n" + ORDER)
    assert "1 version must be a string, not the number 3.1" in said
    assert any("order needs version 3.4, and this file says 3.1 (without quotes" in line for line in said)
    assert refused("version: 3.8\nservices: {web: {image: demo/web:1}}\n") == [
        "1 version must be a string, not the number 3.8"
    ]


@pytest.mark.parametrize(
    ("version", "key", "needed"),
    [
        ("3.6", "deploy: {rollback_config: {parallelism: 1}}", "3.7"),
        ("3.6", "init: true", "3.7"),
        ("3.7", "deploy: {placement: {max_replicas_per_node: 1}}", "3.8"),
    ],
)
def test_b8_each_key_has_the_version_that_it_came_with(version: str, key: str, needed: str) -> None:
    (said,) = refused(f'version: "{version}"\nservices: {{web: {{image: demo/web:1, {key}}}}}\n')
    assert f"needs version {needed}, and this file says {version}" in said
