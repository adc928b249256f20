"""What a stack file promises: replicas, order, grace, health check, ports, of each service.

Defaults are Swarm's own, with the source of each: parallelism 1, stop-first, failure action pause,
monitor 5 s (swarmkit ``api/defaults/service.go``), grace 10 s (``stopGracePeriod`` in
``daemon/cluster/executor/container/container.go`` of moby falls back to the engine's 10 s).
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swarmtest.composefile import ComposeFile, read_compose_file
from swarmtest.durations import parse_duration
from swarmtest.errors import StackError

_WHOLE = re.compile(r"[-+]?[0-9]{1,18}")
DEFAULT_GRACE_SECONDS = 10.0
DEFAULT_MONITOR_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class UpdatePolicy:
    """``update_config`` or ``rollback_config``, with Swarm's defaults filled in."""

    order: str = "stop-first"
    parallelism: int = 1
    delay_seconds: float = 0.0
    monitor_seconds: float = DEFAULT_MONITOR_SECONDS
    failure_action: str = "pause"


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """A health check as the file states it; Docker's defaults are 30 s, 30 s, 3 and 0 s."""

    test: tuple[str, ...]
    interval_seconds: float = 30.0
    timeout_seconds: float = 30.0
    retries: int = 3
    start_period_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Port:
    """A published port; ``published`` is None where the engine chooses one."""

    target: int
    published: int | None
    mode: str = "ingress"
    protocol: str = "tcp"


@dataclass(frozen=True, slots=True)
class Build:
    """How to make a missing image; paths are absolute."""

    context: Path
    dockerfile: Path
    args: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Service:
    """One service of a stack. ``health`` is None where the file says nothing: the image may have one."""

    name: str
    image: str
    replicas: int = 1
    mode: str = "replicated"
    endpoint_mode: str = "vip"
    grace_seconds: float = DEFAULT_GRACE_SECONDS
    stop_signal: str | None = None
    health: HealthCheck | None = None
    health_disabled: bool = False
    update: UpdatePolicy = UpdatePolicy()
    rollback: UpdatePolicy = UpdatePolicy()
    restart_condition: str = "any"
    restart_delay_seconds: float = 5.0
    ports: tuple[Port, ...] = ()
    networks: tuple[str, ...] = ()
    build: Build | None = None


@dataclass(frozen=True, slots=True)
class Stack:
    """A stack file: its services, and the raw ``x-swarmtest`` block.

    Attributes:
        source: the parsed file, for errors that point at a line.
        services: by name, in the order of the file.
        about: the ``x-swarmtest`` block, empty where there's none.
    """

    source: ComposeFile
    services: Mapping[str, Service]
    about: Mapping[str, Any]

    @property
    def file(self) -> Path:
        """The file, as the person named it."""
        return self.source.path


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


class Reader:
    """Takes typed values out of a part of the file, and knows where each one is."""

    def __init__(self, source: ComposeFile, body: object, *path: str) -> None:
        self.source, self.path = source, path
        if body is None:
            body = {}
        if not isinstance(body, dict):
            raise source.error(f"expected a mapping, found {body!r}", *path)
        self.body: Mapping[str, Any] = body

    def error(self, problem: str, key: str) -> StackError:
        """An error at ``key`` of this part."""
        return self.source.error(problem, *self.path, key)

    def part(self, key: str) -> Reader:
        """The mapping under ``key``; an absent one is empty."""
        return Reader(self.source, self.body.get(key), *self.path, key)

    def text(self, key: str, default: str) -> str:
        """A scalar as text."""
        value = self.body.get(key)
        if value is None:
            return default
        if isinstance(value, (dict, list)):
            raise self.error(f"expected a text, found {value!r}", key)
        return str(value)

    def choice(self, key: str, allowed: tuple[str, ...], default: str) -> str:
        """One of ``allowed``."""
        value = self.text(key, default)
        if value not in allowed:
            raise self.error(f"expected one of {', '.join(allowed)}, found {value!r}", key)
        return value

    def whole(self, key: str, default: int, least: int = 0) -> int:
        """A whole number, also as text, since interpolation gives text."""
        value = self.body.get(key)
        if value is None:
            return default
        number = _whole(value)
        if number is None or number < least:
            raise self.error(f"expected a whole number of {least} or more, found {value!r}", key)
        return number

    def seconds(self, key: str, default: float) -> float:
        """A duration; what Docker refuses is refused."""
        value = self.body.get(key)
        if key not in self.body:
            return default
        try:
            return parse_duration(value)
        except ValueError as error:
            raise self.error(f"{error}; Docker refuses it too", key) from error


def _whole(value: object) -> int | None:
    """The whole number that a value is or spells, None where it's none that fits 64 bits."""
    if isinstance(value, (bool, float)) or not _WHOLE.fullmatch(str(value)):
        return None
    return int(str(value))


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
        ports=_ports(reader),
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


def _ports(reader: Reader) -> tuple[Port, ...]:
    found = reader.body.get("ports") or []
    if not isinstance(found, list):
        raise reader.error("expected a list of ports", "ports")
    ports: list[Port] = []
    for item in found:
        try:
            ports += [_long_port(item)] if isinstance(item, dict) else _short_ports(str(item))
        except ValueError as error:
            raise reader.error(f'expected a port such as "8080:80", found {item!r} ({error})', "ports") from error
    return tuple(ports)


def _long_port(item: Mapping[str, Any]) -> Port:
    published = item.get("published")
    mode = str(item.get("mode") or "ingress")
    if mode not in ("ingress", "host"):
        raise ValueError(f"the mode is ingress or host, not {mode!r}")
    return Port(
        target=_number(item.get("target")),
        published=_number(published) if published not in (None, 0, "0", "") else None,
        mode=mode,
        protocol=_protocol(str(item.get("protocol") or "tcp")),
    )


def _short_ports(text: str) -> list[Port]:
    """``[host:][published:]target[/protocol]``, each of the two a number or a range.

    Docker takes a range on the outside of one port, too, and publishes the port at each of them.
    """
    body, _, protocol = text.partition("/")
    *rest, targets = body.rsplit(":", 2)
    published = rest[-1] if rest else ""
    numbers = _range(targets)
    outside: list[int | None] = [*_range(published)] if published else [None] * len(numbers)
    if len(numbers) == 1:
        numbers *= len(outside)
    if len(numbers) != len(outside):
        raise ValueError("the two ranges have different lengths")
    named = _protocol(protocol or "tcp")
    return [Port(target, out, protocol=named) for target, out in zip(numbers, outside, strict=True)]


def _range(text: str) -> list[int]:
    first, _, last = text.partition("-")
    least, most = _number(first), _number(last or first)
    if least > most:
        raise ValueError(f"the range {text} ends before it begins")
    return list(range(least, most + 1))


def _number(value: object) -> int:
    number = _whole(value)
    if number is None or not 0 < number < 65536:
        raise ValueError(f"a port is a number from 1 to 65535, not {value!r}")
    return number


def _protocol(text: str) -> str:
    if text.lower() not in ("tcp", "udp", "sctp"):
        raise ValueError(f"the protocol is tcp, udp or sctp, not {text!r}")
    return text.lower()


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
