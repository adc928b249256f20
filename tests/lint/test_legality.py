"""What Docker refuses, where it's written, and what to write instead; and that nothing stops the reader."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swarmtest.errors import StackError
from swarmtest.lint import Target
from swarmtest.lint.linting import lint
from swarmtest.lint.schema import VERSIONS, errors_in
from tests.lint.looking import FILE, look, told

WEB = "services:\n  web:\n    image: demo/web:1\n"


@pytest.mark.parametrize(
    ("body", "line", "said", "fix"),
    [
        ("deploy: {replica: 2}", 4, "isn't a key that's known here", "did you mean replicas?"),
        ('deploy: {replicas: "2"}', 4, 'must be an integer, not the string "2"', "without quotes"),
        ("stop_grace_period: 90", 4, "must be a string, not the number 90", "with a unit"),
        ("deploy: {resources: {limits: {memory: 512}}}", 4, "must be a string", "with a unit, such as 512M"),
        ("stop_grace_period: 1d", 4, 'must be a duration such as "30s"', "there are no days"),
        ("deploy:\n      update_config:", 5, "must be a mapping, not null", "take the key out"),
        ("deploy: {update_config: {order: start}}", 4, "must be one of start-first, stop-first", "start-first"),
        ("mem_limit: 1g", 4, "is forbidden in a stack", "deploy.resources.limits.memory"),
        ("pull_policy: always", 4, "isn't a key that's known here", "resolves each tag"),
        ("ports:\n      - 80:80\n      - a:b", 6, "a port is a number", '"8080:80"'),
        ("volumes: ['xx:']", 4, "an empty part between colons", "name:/path"),
        ("command: sh -c 'x", 4, "a quote ' that isn't closed", "close the quote"),
        ("deploy: {resources: {limits: {memory: 5X}}}", 4, "expected a size", '"512M"'),
        ("ulimits: {nofile: 1e3}", 4, "must be a whole number", "without a point or an exponent"),
        ("hostname: a$", 4, "a dollar sign that begins no variable", "$$"),
        ('deploy: {replicas: "${N:-x}"}', 4, "becomes 'x', which isn't a whole number", "whole number"),
        ("labels: {1: x}", 4, "has the key 1, which is no text", "quotes"),
        ("hostname: 2026-11-30", 4, "is a point in time to Docker", "quotes"),
    ],
)
def test_what_is_refused_has_its_line_its_reason_and_a_way_out(body: str, line: int, said: str, fix: str) -> None:
    (found,) = look("docker-refuses", f"{WEB}    {body}\n")
    assert found.place.line == line
    assert found.effect.startswith("Docker will refuse this: services.web.")
    assert said in found.effect
    assert fix in found.fix


@pytest.mark.parametrize(
    ("key", "fix"),
    [("db", "write it below services: if it's a service, or with x-"), ("network", "did you mean networks?")],
)
def test_an_unknown_key_at_the_top_may_be_a_service_or_a_note(key: str, fix: str) -> None:
    (found,) = look("docker-refuses", f"{WEB}{key}:\n  image: demo/db:1\n")
    assert (found.place.line, found.place.key) == (4, (key,))
    assert fix in found.fix


def test_every_error_is_told_and_not_the_first_only() -> None:
    text = f"{WEB}    x: 1\n    y: 2\n    ports: 5\n    deploy: {{replicas: a, foo: 1}}\n"
    keys = [".".join(found.place.key[2:]) for found in look("docker-refuses", text)]
    assert sorted(keys) == ["deploy.foo", "deploy.replicas", "ports", "x", "y"]


def test_a_key_twice_has_both_lines() -> None:
    assert told("duplicate-key", f"{WEB}    image: demo/web:2\n") == ["web error certain 4"]
    assert "line 3" in look("duplicate-key", f"{WEB}    image: demo/web:2\n")[0].effect
    assert look("duplicate-key", f"{WEB}    <<: {{image: demo/web:2}}\n") == []


def test_files_of_different_versions_are_refused(tmp_path: Path) -> None:
    for name, version in (("a.yml", "3.7"), ("b.yml", "3.8")):
        (tmp_path / name).write_text(f'version: "{version}"\n{WEB}')
    found = lint([tmp_path / "a.yml", tmp_path / "b.yml"], Target.SWARM, {}).findings
    (mismatch,) = (each for each in found if each.rule == "docker-refuses-version")
    assert (mismatch.place.file.name, mismatch.place.line) == ("b.yml", 1)
    assert "3.8 here and 3.7 in" in mismatch.effect


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (f"{WEB}    networks: [front]\n", 4, "there's no network front"),
        (f"{WEB}    volumes: ['data:/x']\n", 4, "there's no volume data"),
        (f"{WEB}    secrets: [key]\n", 4, "there's no secret key"),
        (f"{WEB}    configs: [{{source: conf}}]\n", 4, "there's no config conf"),
        ("services:\n  web:\n    hostname: a\n", 2, "web has no image"),
        (f"{WEB}    deploy: {{mode: single}}\n", 4, "mode is single"),
        (f"{WEB}    deploy: {{update_config: {{failure_action: stop}}}}\n", 4, "failure_action is stop"),
        (f"{WEB}    deploy: {{resources: {{limits: {{cpus: 'two'}}}}}}\n", 4, "'two' is no number of processors"),
        (f"{WEB}    healthcheck: {{test: a, disable: true}}\n", 4, "can't be disabled and have a test"),
        (f"{WEB}    ports: [{{target: 80, mode: node}}]\n", 4, "the mode is node"),
        (f"{WEB}    ports: [{{published: 80}}]\n", 4, "the port of the container is missing"),
        (f"{WEB}    volumes: [{{type: bind, source: /a, target: /b, tmpfs: {{size: 5}}}}]\n", 4, "no tmpfs options"),
        (f"{WEB}    volumes: [{{type: disk, target: /b}}]\n", 4, "no mount of the type disk"),
    ],
)
def test_what_only_the_deploy_refuses_is_told_as_such(text: str, line: int, said: str) -> None:
    (found,) = look("docker-refuses-deploy", text)
    assert found.place.line == line
    assert said in found.effect
    assert look("docker-refuses", text) == []


@pytest.mark.parametrize("deploy", ["endpoint_mode: DNSRR", "rollback_config: {failure_action: rollback}"])
def test_what_the_engine_takes_is_not_refused(deploy: str) -> None:
    """Both deployed with Docker 20.10: the CLI writes the mode small, and the engine takes the action as it is."""
    assert look("docker-refuses-deploy", f"{WEB}    deploy: {{{deploy}}}\n") == []


@pytest.mark.parametrize(
    ("key", "fix"),
    [
        ("networks: [front]", "front: {}, or front: {external: true}"),
        ("volumes: ['data:/x']", "data: {}, or data: {external: true}"),
        ("secrets: [key]", "under the top-level secrets, as key: {external: true}"),
    ],
)
def test_what_a_missing_name_needs_is_shown(key: str, fix: str) -> None:
    (found,) = look("docker-refuses-deploy", f"{WEB}    {key}\n")
    assert fix in found.fix


def test_names_that_are_there_are_in_order() -> None:
    text = f"""{WEB}    networks: [front, default]
    volumes: ["data:/x", "/var/lib", "./a:/b", "${{X}}:/y"]
    secrets: [key]
    configs: ["${{Y}}"]
networks: {{front: {{}}}}
volumes: {{data: }}
secrets: {{key: {{external: true}}}}
"""
    assert look("docker-refuses-deploy", text) == []
    assert look("docker-refuses", text) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{WEB}    networks: [front]\n", "names the network front"),
        (f"{WEB}    volumes: ['data:/x']\n", "names data"),
        (f"{WEB}    depends_on: [db]\n", "names the service db"),
        ("services:\n  web: {hostname: a}\n", "has neither an image nor a build"),
        (f"{WEB}secrets: {{key: {{}}}}\n", "has none of file, environment"),
        (f"{WEB}    healthcheck: {{test: [curl, x]}}\n", "begins with neither CMD"),
        (f"{WEB}    scale: 2\n    foo: 1\n", "isn't a key that's known here"),
    ],
)
def test_compose_refuses_in_its_own_way(text: str, said: str) -> None:
    assert [said in found.effect for found in look("docker-refuses", text, "compose")] == [True]


def test_a_file_of_variables_that_is_not_there_is_an_info(tmp_path: Path) -> None:
    (tmp_path / "stack.yml").write_text(f"{WEB}    env_file: [here.env, gone.env]\n")
    (tmp_path / "here.env").write_text("A=1\n")
    found = [each for each in lint([tmp_path / "stack.yml"], Target.SWARM, {}).findings if "env_file" in each.place.key]
    assert [(each.rule, each.severity, each.place.line) for each in found] == [("env-file-not-there", "info", 4)]
    assert "gone.env" in found[0].effect


def test_a_line_of_dotenv_that_compose_refuses_is_pointed_at(tmp_path: Path) -> None:
    (tmp_path / "stack.yml").write_text(WEB)
    (tmp_path / ".env").write_text("A=1\nwrong line\n")
    found = {each.rule: each for each in lint([tmp_path / "stack.yml"], Target.COMPOSE, {}).findings}
    assert (found["dotenv-refused"].place.file.name, found["dotenv-refused"].place.line) == (".env", 2)
    assert "dotenv-refused" not in {each.rule for each in lint([tmp_path / "stack.yml"], Target.SWARM, {}).findings}


def test_a_stack_with_dotenv_beside_it_is_told_that_it_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "stack.yml").write_text(f"{WEB}    hostname: $NAME\n")
    (tmp_path / ".env").write_text("NAME=a\n")
    found = {each.rule: each for each in lint([tmp_path / "stack.yml"], Target.SWARM, {}).findings}
    assert "docker stack deploy doesn't read .env" in found["unset-variable"].effect
    assert "lint with --env-file .env" in found["unset-variable"].effect
    assert "unset-variable" not in {each.rule for each in lint([tmp_path / "stack.yml"], Target.COMPOSE, {}).findings}


def test_each_version_has_its_schema_and_takes_a_plain_stack() -> None:
    for version in VERSIONS:
        assert errors_in({"version": version, "services": {"web": {"image": "a"}}}, version) == ()


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["$X", "${X:?m}", "5s", "80:80", "a:/b", "!reset", "<<", "3.8", "CMD"]),
)
TOP = ["services", "networks", "volumes", "secrets", "configs", "version", "name", "x-a"]
OF_SERVICES = ["image", "deploy", "ports", "environment", "healthcheck", "command", "labels", "depends_on"]
BELOW = ["replicas", "update_config", "order", "target", "published", "test", "interval", "external", "driver"]
KEYS = st.sampled_from(TOP + OF_SERVICES + BELOW)
trees: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=25,
)


@settings(deadline=None, max_examples=150)
@given(st.dictionaries(KEYS, trees, max_size=4), st.dictionaries(st.sampled_from(["web", "db"]), trees, max_size=2))
def test_whatever_a_file_holds_the_answer_is_findings_or_a_stack_error(top: Any, services: Any) -> None:
    texts = [json.dumps({**top, "services": services}), json.dumps(top)]
    paths = [FILE, Path("other.yml")]
    for target in Target:
        with contextlib.suppress(StackError):
            lint(paths, target, {}, dict(zip(paths, texts, strict=True)))


yaml_like = st.text(alphabet="ab:[]{}-,&*!#|>'\"%@`?<=~01.$\\ \n\tux", max_size=60)


@settings(deadline=None, max_examples=150)
@given(yaml_like, st.sampled_from(["", "services:\n  web:\n    ", "services: {web: {image: a, ports: ["]))
def test_any_text_is_linted_or_a_stack_error(text: str, before: str) -> None:
    for target in Target:
        with contextlib.suppress(StackError):
            lint([FILE], target, {}, {FILE: before + text})


@pytest.mark.parametrize(
    "twice",
    [
        'ports: ["80:80", "80:80"]',
        "expose: [80, 80]",
        "environment: [A=1, A=1]",
        "dns: [1.1.1.1, 1.1.1.1]",
        "tmpfs: [/a, /a]",
    ],
)
def test_what_is_there_twice_is_once_to_compose_and_refused_in_a_stack(twice: str) -> None:
    """compose-spec/compose-go ``override/uncity.go``; docker-compose 2.26.1 takes each, and the stack commands none."""
    assert look("docker-refuses", f"{WEB}    {twice}\n", "compose") == []
    (found,) = look("docker-refuses", f"{WEB}    {twice}\n")
    assert "has an item twice" in found.effect
