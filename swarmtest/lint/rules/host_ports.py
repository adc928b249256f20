"""Ports that are taken on the node itself."""

from __future__ import annotations

from collections.abc import Iterator

from swarmtest.lint import Certainty, Finding, Severity
from swarmtest.lint.rules import Rule, Stack


def _start_first_host_port(stack: Stack) -> Iterator[Finding]:
    """zane-ops/zane-ops #535, moby/moby #36934: never scheduled, and not counted as a failure."""
    for service in stack.services:
        fixed = [port for port in service.ports if port.mode == "host" and port.published is not None]
        if not service.swarm or service.update.order != "start-first" or not fixed:
            continue
        named = ", ".join(f"{port.published}/{port.protocol}" for port in fixed)
        yield Finding(
            rule="start-first-host-port",
            severity=Severity.ERROR,
            certainty=Certainty.CERTAIN,
            place=service.place("deploy", "update_config", "order"),
            effect=f"the new task needs {named} on its node while the old one holds it; where no node is free of it,"
            " the task stays pending, which Swarm doesn't count as a failure: no pause, no rollback, the update never ends",
            fix="order: stop-first, with the node taken out of the outer load balancer before; or publish by ingress",
        )


RULES = (
    Rule(
        "start-first-host-port",
        "start-first beside a fixed port in host mode: the new task can't be scheduled",
        _start_first_host_port,
    ),
)
