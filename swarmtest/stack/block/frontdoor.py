"""What chooses the instance for a new connection, as the stack file says it or as its ports tell."""

from __future__ import annotations

import re
from dataclasses import dataclass

from swarmtest.errors import StackError
from swarmtest.stack import Service, Stack
from swarmtest.stack.reader import Reader, refuse_unknown, span

_SIGNAL = re.compile(r"SIG[A-Z]+[0-9]*")


@dataclass(frozen=True, slots=True)
class FrontDoor:
    """How traffic reaches the instances, and how soon it's said to notice that one is going.

    Attributes:
        mode: ``proxy``, ``mesh`` (routing mesh), ``host`` (a host port) or ``direct`` (each task has one).
        service: the proxy's service.
        detects: ``dns``, ``tasks``, ``probe``, ``none``; None where the file doesn't say.
        within_seconds: its detection time by its settings; None where the file doesn't say.
        keep_alive_seconds: how long it keeps a connection that has no request on it.
        idle_seconds: how long it waits for an answer, or for the next byte of one.
        reload: the signal at which its main process begins anew; None where the file doesn't say.
    """

    mode: str
    service: str | None = None
    detects: str | None = None
    within_seconds: float | None = None
    keep_alive_seconds: float | None = None
    idle_seconds: float | None = None
    reload: str | None = None


def read_front_door(stack: Stack, about: Reader, service: str) -> FrontDoor:
    """The front door of a service.

    Raises:
        StackError: the block names what the stack hasn't got.
    """
    value = about.body.get("front_door")
    if value == "direct":
        if not any(port.mode == "host" for port in stack.services[service].ports):
            raise about.error(f"direct needs a port of {service} with `mode: host`", "front_door")
        return FrontDoor("direct", detects="tasks", within_seconds=0.5)
    if value is None or isinstance(value, dict):
        part = about.part("front_door")
        refuse_unknown(part, ("service", "detects", "within", "keep_alive", "idle", "reload"))
        name = part.text("service", "") or _only_proxy(stack, service)
        if name is not None and name not in stack.services:
            raise part.error(f"no service {name!r} in the stack; it has {', '.join(stack.services)}", "service")
        detects = part.choice("detects", ("dns", "tasks", "probe", "none"), "none") if "detects" in part.body else None
        within, keep_alive, idle = (_seconds(part, key) for key in ("within", "keep_alive", "idle"))
        if name is not None and name != service:
            return FrontDoor("proxy", name, detects, within, keep_alive, idle, _reload(part))
        if "reload" in part.body:
            raise part.error("there's no proxy that could be reloaded; name its service, or leave this out", "reload")
        mesh = any(port.mode == "ingress" for port in stack.services[service].ports)
        return FrontDoor("mesh" if mesh else "host", None, detects, within, keep_alive, idle)
    raise about.error(f"expected direct, or a mapping such as {{service: edge}}, found {value!r}", "front_door")


def _only_proxy(stack: Stack, service: str) -> str | None:
    """The one other service that publishes a port, where the service under test publishes none."""
    if stack.services[service].ports:
        return None
    others = [other.name for other in stack.services.values() if other.ports and other.name != service]
    return others[0] if len(others) == 1 else None


def derived_url(stack: Stack, service: str, door: FrontDoor) -> str:
    """The address of the front door's first published port.

    Raises:
        StackError: there's none.
    """
    publisher: Service = stack.services[door.service or service]
    ports = [port for port in publisher.ports if port.published and port.protocol == "tcp"]
    if not ports:
        raise StackError(
            f"no published port to send traffic to: {_unusable(publisher, publisher.name == service)}",
            file=stack.file,
            line=stack.source.lines.get(("services", publisher.name)),
            key=f"services.{publisher.name}.ports",
        )
    return f"http://127.0.0.1:{ports[0].published}"


def _unusable(publisher: Service, under_test: bool) -> str:
    """Why none of its ports will do, and what to write."""
    url = "say `x-swarmtest: {url: http://…}` or --url"
    tcp = [port for port in publisher.ports if port.protocol == "tcp"]
    if under_test and any(port.mode == "host" for port in tcp):
        return (
            f"those of {publisher.name} have no number of their own; say `x-swarmtest: {{front_door: direct}}`"
            f" to ask each instance by its own port, or {url}"
        )
    if tcp:
        return (
            f'those of {publisher.name} have no number of their own; write `ports: ["8080:{tcp[0].target}"]`, or {url}'
        )
    return f'{publisher.name} publishes none; add `ports: ["8080:80"]`, or {url}'


def _reload(part: Reader) -> str | None:
    if "reload" not in part.body:
        return None
    signal = part.text("reload", "").upper()
    if not _SIGNAL.fullmatch(signal):
        raise part.error(f"expected a signal such as SIGUSR2 or SIGHUP, found {signal!r}", "reload")
    return signal


def _seconds(part: Reader, key: str) -> float | None:
    return span(part, key, 0.0) if key in part.body else None
