"""What gets lost where several files are laid over each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from swarmtest.lint import Certainty, Finding, Severity, Target
from swarmtest.lint.document import Unsure
from swarmtest.lint.rules import Rule, Stack
from swarmtest.lint.services import LintService
from swarmtest.stack import Port
from swarmtest.stack.ports import ports_of


def _port_lost(stack: Stack) -> Iterator[Finding]:
    """docker/cli ``cli/compose/loader/merge.go``, ``toServicePortConfigsMap``: the key is the number outside alone."""
    if stack.document.target is not Target.SWARM or len(stack.document.layers) == 1:
        return
    for service in stack.services:
        kept = {port.published: port for port in service.ports}
        lost = [port for port in _written(stack, service) if _is_lost(port, kept.get(port.published))]
        if lost:
            gone, stays = lost[0], kept[lost[0].published]
            yield Finding(
                rule="port-lost-in-merging",
                severity=Severity.ERROR,
                certainty=Certainty.CERTAIN,
                place=service.place("ports"),
                effect=f"{service.name} is in several files, and of those Docker tells the ports apart by their number"
                f" outside alone: {_named(stays)} stays, and {_named(gone)} isn't published",
                fix=f"have {service.name} in one of the files only",
            )


def _written(stack: Stack, service: LintService) -> list[Port]:
    """The ports of all files that have the service; none where it's in one of them only."""
    bodies: list[Any] = []
    for layer in stack.document.layers:
        services = layer.tree.get("services")
        body = services.get(service.name) if isinstance(services, dict) else None
        bodies += [body] if isinstance(body, dict) else []
    if len(bodies) == 1:
        return []
    found: list[Port] = []
    for body in bodies:
        items = body.get("ports")
        for item in items if isinstance(items, list) else ():
            if any(isinstance(value, Unsure) for value in (item.values() if isinstance(item, dict) else [item])):
                continue
            try:
                found += ports_of(item)
            except ValueError:
                continue
    return found


def _is_lost(port: Port, kept: Port | None) -> bool:
    """Whether another took its place that isn't meant to: of another protocol, or of no number outside at all."""
    if kept is None or port == kept:
        return False
    return port.protocol != kept.protocol or (port.published is None and port.target != kept.target)


def _named(port: Port) -> str:
    number = port.published or f"a port of the engine's choice for {port.target}"
    return f"{number}/{port.protocol}"


RULES = (Rule("port-lost-in-merging", "two ports with one number outside, and a second file", _port_lost),)
