"""Reads a stack file into what it promises."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from swarmtest.stack import (
    DEFAULT_GRACE_SECONDS,
    DEFAULT_MONITOR_SECONDS,
    Build,
    HealthCheck,
    Service,
    Stack,
    UpdatePolicy,
)
from swarmtest.stack.composefile import ComposeFile, read_compose_file
from swarmtest.stack.ports import read_ports
from swarmtest.stack.reader import Reader


def read_stack(path: Path, environment: Mapping[str, str] | None = None) -> Stack:
    """Reads a stack file.

    Raises:
        StackError: it can't be read, or a value that swarmtest needs is one that Docker refuses.
    """
    source = read_compose_file(path, os.environ if environment is None else environment)
    services = source.tree.get("services")
    if not isinstance(services, dict) or not services:
        raise source.error("expected a mapping of services, found none; is it a stack file?", "services")
    about = source.tree.get("x-swarmtest") or {}
    if not isinstance(about, dict):
        raise source.error("expected a mapping, such as {service: api}", "x-swarmtest")
    return Stack(source, {name: _service(source, name, body) for name, body in services.items()}, about)


def put_over(stack: Stack, service: str, keys: Mapping[str, Any]) -> Stack:
    """The stack as it is once ``keys`` of a service are put over the file's own, mapping by mapping.

    Docker puts a second file over the first in the same way, as far as mappings and single values go.
    """
    if not keys:
        return stack
    body = stack.source.tree["services"][service]
    changed = _service(stack.source, service, merged(body or {}, keys))
    return replace(stack, services={**stack.services, service: changed})


def merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """One mapping over another, mapping by mapping, as Docker lays a second file over the first."""
    found = dict(under)
    for key, value in over.items():
        before = found.get(key)
        found[key] = merged(before, value) if isinstance(value, Mapping) and isinstance(before, Mapping) else value
    return found


def _service(source: ComposeFile, name: str, body: object) -> Service:
    reader = Reader(source, body, "services", name)
    deploy = reader.part("deploy")
    restart = deploy.part("restart_policy")
    health, disabled = _health(reader)
    return Service(
        name=name,
        image=reader.text("image", ""),
        replicas=deploy.whole("replicas", 1),
        mode=deploy.choice("mode", ("replicated", "global", "replicated-job", "global-job"), "replicated"),
        endpoint_mode=deploy.choice("endpoint_mode", ("vip", "dnsrr"), "vip"),
        grace_seconds=reader.seconds("stop_grace_period", DEFAULT_GRACE_SECONDS),
        stop_signal=reader.text("stop_signal", "") or None,
        health=health,
        health_disabled=disabled,
        update=_policy(deploy.part("update_config")),
        rollback=_policy(deploy.part("rollback_config")),
        restart_condition=restart.choice("condition", ("any", "on-failure", "none"), "any"),
        restart_delay_seconds=restart.seconds("delay", 5.0),
        restart_max_attempts=restart.whole("max_attempts", 0) or None,
        ports=read_ports(reader),
        networks=_names(reader.body.get("networks")),
        build=_build(reader),
    )


def _policy(reader: Reader) -> UpdatePolicy:
    monitor = reader.seconds("monitor", DEFAULT_MONITOR_SECONDS)
    return UpdatePolicy(
        order=reader.choice("order", ("start-first", "stop-first"), "stop-first"),
        parallelism=reader.whole("parallelism", 1),
        delay_seconds=reader.seconds("delay", 0.0),
        monitor_seconds=monitor if monitor > 0 else DEFAULT_MONITOR_SECONDS,
        failure_action=reader.choice("failure_action", ("pause", "continue", "rollback"), "pause"),
    )


def _health(reader: Reader) -> tuple[HealthCheck | None, bool]:
    if reader.body.get("healthcheck") is None:
        return None, False
    part = reader.part("healthcheck")
    test = part.body.get("test")
    if test is not None and not isinstance(test, (str, list)):
        raise part.error(f"expected a text or a list of words, found {test!r}", "test")
    words = ("CMD-SHELL", test) if isinstance(test, str) else tuple(str(word) for word in test or ())
    if part.body.get("disable") in (True, "true") or words[:1] == ("NONE",):
        return None, True
    if not words:
        return None, False
    return HealthCheck(
        test=words,
        interval_seconds=part.seconds("interval", 30.0),
        timeout_seconds=part.seconds("timeout", 30.0),
        retries=part.whole("retries", 3),
        start_period_seconds=part.seconds("start_period", 0.0),
    ), False


def _names(value: object) -> tuple[str, ...]:
    return tuple(str(name) for name in value) if isinstance(value, (list, dict)) else ()


def _build(reader: Reader) -> Build | None:
    value = reader.body.get("build")
    if value is None:
        return None
    part = Reader(reader.source, {"context": value} if isinstance(value, str) else value, *reader.path, "build")
    words = part.text("context", "."), part.text("dockerfile", "Dockerfile")
    if "\0" in "".join(words):
        raise reader.error("a path can't hold a NUL character", "build")
    context = (reader.source.path.parent / words[0]).resolve()
    args = part.body.get("args") or {}
    if isinstance(args, list):
        args = dict(str(item).split("=", 1) for item in args if "=" in str(item))
    if not isinstance(args, dict):
        raise part.error(f"expected a mapping or a list, found {args!r}", "args")
    return Build(
        context=context,
        dockerfile=context / words[1],
        args={str(key): str(value) for key, value in args.items() if value is not None},
    )
