"""Docker is the judge of what's legal, and of what a file comes to; a few hundred small files, legal and refused.

Each construct is there: durations, ports, mounts, sizes, numbers, words, versions, variables, keys, merges, tags,
several files. Docker's answers are recorded, so that they hold where it isn't installed; where it is, it's asked again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from swarmtest.errors import StackError
from swarmtest.lint import Finding, Target
from swarmtest.lint.document import Document, read_document
from swarmtest.lint.linting import all_rules
from swarmtest.lint.reading import services_of
from swarmtest.lint.rules import Stack
from swarmtest.lint.services import LintService
from swarmtest.stack.syntax.durations import parse_duration
from tests.lint.judging import Case, asked, recorded, why_not

CASES = recorded()
LEGALITY = ("docker-refuses", "docker-refuses-version", "duplicate-key", "required-variable")

OTHER_VALUES = {
    "lport {published: 80}": "a port without a target is one for docker/cli, and none for the engine",
    "lport {target: 80, published: 99999}": "docker/cli hands it on, and the engine refuses it",
    "env {A: 2001-01-01}": "Docker writes a point in time in another way; to us it's the text that a person wrote",
    "lport {target: 80, mode: foo}": "said by docker-refuses-deploy",
    "lport {target: 80, protocol: foo}": "said by docker-refuses-deploy",
    "lport {target: 0}": "said by docker-refuses-deploy",
    "test []": "an empty test is one of its own to the engine: the image's",
    "ienv ${X:-\nb}": "YAML's writer and reader disagree about a line break at the beginning",
}
NEWER_COMPOSE = {
    "key container_name: x": "the schema of 2025 wants two characters at least",
    "key models: [a]": "the schema of 2025 knows it",
    "lvol {type: foo, target: /x}": "the schema of 2025 names the types",
    "mem 5iB": "go-units of 2024 is stricter",
    "mem .5g": "go-units of 2024 takes it",
    "mem 5.m": "go-units of 2024 takes it",
    'port "::1:80:80"': "an address of IPv6 without brackets; Swarm takes it",
    "key extends: {service: a}": "what's extended may be in another file",
    "include": "what's included isn't read",
    "key volumes_from: [a]": "names of services in volumes_from aren't looked up",
    "key links: [a]": "nor those in links",
    "key devices: [{source: a}]": "nor is the form of a device",
    "key label_file: x": "a file that may be there later",
    "top secrets: {s: {driver: x, file: y}}": "Swarm refuses it; one rule for both",
    "top secrets: {s: {driver: x}}": "a driver may have content of its own",
}


def looked_at(case: Case, target: Target) -> tuple[Stack | None, list[Finding]]:
    """The stack and what's found to be refused; no stack where the file can't be read at all."""
    paths = [Path(f"/none/{number}.yml") for number in range(len(case.files))]
    try:
        document = read_document(paths, target, case.environment, dict(zip(paths, case.files, strict=True)))
    except StackError:
        return None, []
    stack = Stack(document, tuple(services_of(document)))
    rules = [rule for rule in all_rules() if rule.name in LEGALITY]
    return stack, [finding for rule in rules for finding in rule.find(stack)]


def depends_on_a_variable(document: Document) -> bool:
    return any(note.kind in ("unset", "required-lost") for layer in document.layers for note in layer.notes)


def disagreement(case: Case, target: Target, legal: bool) -> str | None:
    stack, found = looked_at(case, target)
    ours = stack is not None and not found
    if ours == legal or (stack is not None and not legal and depends_on_a_variable(stack.document)):
        return None
    return f"{case.name}: Docker {'takes' if legal else 'refuses'} it; ours: {[each.effect for each in found]}"


def test_what_docker_stack_refuses_is_refused_and_nothing_else_is() -> None:
    assert len(CASES) > 500
    assert [found for case in CASES if (found := disagreement(case, Target.SWARM, case.legal))] == []


def test_what_compose_refuses_is_refused_and_nothing_else_is() -> None:
    cases = [case for case in CASES if case.name not in NEWER_COMPOSE]
    assert [found for case in cases if (found := disagreement(case, Target.COMPOSE, case.compose))] == []


def test_each_exception_is_still_one() -> None:
    by_name = {case.name: case for case in CASES}
    for name in NEWER_COMPOSE:
        assert disagreement(by_name[name], Target.COMPOSE, by_name[name].compose), name
    for name in OTHER_VALUES:
        assert list(other_values(by_name[name])), name


def test_a_legal_stack_comes_to_what_docker_makes_of_it() -> None:
    cases = [case for case in CASES if case.legal and case.name not in OTHER_VALUES]
    assert len(cases) > 200
    assert [found for case in cases for found in other_values(case)] == []


def other_values(case: Case) -> Iterator[str]:
    stack, _found = looked_at(case, Target.SWARM)
    assert stack is not None
    if depends_on_a_variable(stack.document):
        return
    said = yaml.safe_load(case.said)["services"]
    if said.keys() != {service.name for service in stack.services}:
        yield f"{case.name}: the services are {list(said)}"
        return
    for service in stack.services:
        theirs, ours = docker_values(said[service.name] or {}), our_values(service)
        yield from (
            f"{case.name}: {key} is {theirs[key]!r} to Docker, {ours[key]!r} to us"
            for key in theirs
            if theirs[key] != ours[key]
        )


def docker_values(body: Mapping[str, Any]) -> dict[str, Any]:
    """What ``docker stack config`` writes, with the defaults that it leaves out."""
    deploy = body.get("deploy") or {}
    ports = [
        (port.get("target", 0), port.get("published"), port.get("mode", "ingress"), port.get("protocol", "tcp"))
        for port in body.get("ports") or ()
    ]
    mounts = [
        (
            mount["type"],
            mount.get("source", "") if mount["type"] == "volume" else "",  # Docker makes paths absolute
            mount["target"],
            mount.get("read_only", False),
        )
        for mount in body.get("volumes") or ()
    ]
    health = body.get("healthcheck") or {}
    disabled = health.get("disable", False) or health.get("test") == ["NONE"]
    return {
        "image": body.get("image", ""),
        "grace": seconds(body, "stop_grace_period", "10s"),
        "signal": body.get("stop_signal"),
        "init": body.get("init", False),
        "command": tuple(body.get("command") or ()),
        "entrypoint": tuple(body.get("entrypoint") or ()),
        "environment": body.get("environment") or {},
        "ports": sorted(ports, key=repr),
        "mounts": sorted(mounts),
        "replicas": deploy.get("replicas", 1),
        "update": policy(deploy.get("update_config") or {}),
        "rollback": policy(deploy.get("rollback_config") or {}),
        "disabled": disabled,
        "health": None if disabled or not health else check(health),
    }


def seconds(body: Mapping[str, Any], key: str, default: str) -> float:
    return parse_duration(body.get(key, default))


def policy(body: Mapping[str, Any]) -> tuple[Any, ...]:
    monitor = seconds(body, "monitor", "5s")
    return body.get("order", "stop-first"), body.get("parallelism", 1), seconds(body, "delay", "0s"), monitor


def check(body: Mapping[str, Any]) -> tuple[Any, ...]:
    times = seconds(body, "interval", "30s"), seconds(body, "timeout", "30s"), seconds(body, "start_period", "0s")
    return tuple(body.get("test") or ()), body.get("retries", 3), *times


def our_values(service: LintService) -> dict[str, Any]:
    health = service.health
    return {
        "image": service.image.text,
        "grace": service.grace_seconds,
        "signal": service.stop_signal,
        "init": service.init,
        "command": service.command or (),
        "entrypoint": service.entrypoint or (),
        "environment": dict(service.environment),
        "ports": sorted(((each.target, each.published, each.mode, each.protocol) for each in service.ports), key=repr),
        "mounts": sorted(
            (each.kind, each.source if each.kind == "volume" else "", each.target, each.read_only)
            for each in service.mounts
        ),
        "replicas": service.replicas,
        "update": (
            service.update.order,
            service.update.parallelism,
            service.update.delay_seconds,
            service.update.monitor_seconds,
        ),
        "rollback": (
            service.rollback.order,
            service.rollback.parallelism,
            service.rollback.delay_seconds,
            service.rollback.monitor_seconds,
        ),
        "disabled": service.health_disabled,
        "health": health
        and (
            health.test,
            health.retries,
            health.interval_seconds,
            health.timeout_seconds,
            health.start_period_seconds,
        ),
    }


@pytest.mark.skipif(why_not() is not None, reason=why_not() or "")
def test_docker_says_today_what_is_recorded_of_every_eighth_case() -> None:
    # of all of them in tests/live
    assert changed(CASES[::8]) == []


def changed(cases: list[Case]) -> list[str]:
    """The cases of which the Docker CLI on PATH says something else than is recorded."""
    both = list(zip(cases, asked(cases), strict=True))
    return [
        case.name
        for case, now in both
        if case.legal != now.legal or (case.legal and services(case.said) != services(now.said))
    ]


def services(said: str) -> Any:
    """Newer CLIs may write a newer default version, and ports of one number in another order."""
    found = yaml.safe_load(said)["services"]
    for body in found.values():
        (body or {}).get("ports", []).sort(key=repr)
    return found


def test_every_file_of_this_project_reads_as_docker_reads_it() -> None:
    reason = why_not()
    if reason:
        pytest.skip(reason)
    root = Path(__file__).resolve().parents[2]
    files = [*(root / "stacks").rglob("*.yml"), *(root / "tests" / "lint" / "good").glob("*.yml")]
    texts = [path.read_text() for path in files if "Target: compose" not in path.read_text()]
    cases = asked([Case(str(text[:40]), (text,), {}, True, "", True) for text in texts])
    assert [found for case in cases if (found := disagreement(case, Target.SWARM, case.legal))] == []
    assert [found for case in cases if case.legal for found in other_values(case)] == []
