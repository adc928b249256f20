"""What only two versions of a stack can show: an update that changes more than it should in one step."""

from __future__ import annotations

from collections.abc import Iterator

from swarmtest.lint import Certainty, Finding, Severity
from swarmtest.lint.rolling import start_first
from swarmtest.lint.rules import Rule, Stack
from swarmtest.lint.services import LintService


def _ports_changed_start_first(stack: Stack) -> Iterator[Finding]:
    """docker/cli #2274, moby/moby #41364, #38833."""
    for before, service in _pairs(stack):
        if not start_first(service):
            continue
        old, new = _ingress(before), _ingress(service)
        if old == new or not (old and new):
            continue
        changed = ", ".join(sorted(new - old)) or ", ".join(sorted(old - new)) + " taken away"
        yield Finding(
            rule="ports-changed-start-first",
            severity=Severity.WARNING,
            certainty=Certainty.LIKELY,
            place=service.place("ports"),
            effect=f"the published ports change ({changed}) in a start-first update: old and new task have different"
            " lists side by side, and the routing mesh may lose its rules for all of them, so that connections hang or"
            " are refused while the tasks are healthy",
            fix="write order: stop-first for this one update; or change the ports in a step of their own, at a quiet"
            " hour, and look at each published port afterwards",
        )


def _mode_changed(stack: Stack) -> Iterator[Finding]:
    """swarmkit ``manager/controlapi/service.go``: service mode change is not allowed."""
    for before, service in _pairs(stack):
        if before.mode is None or service.mode is None or before.mode == service.mode:
            continue
        yield Finding(
            rule="mode-changed",
            severity=Severity.ERROR,
            certainty=Certainty.CERTAIN,
            place=service.place("deploy", "mode"),
            effect=f"the engine refuses the change of a service from {before.mode} to {service.mode}",
            fix="give the service a new name, or remove it first and bear the outage",
        )


def _pairs(stack: Stack) -> Iterator[tuple[LintService, LintService]]:
    """The services that are in both versions; none where no older one is given."""
    older = {service.name: service for service in stack.before.services} if stack.before else {}
    for service in stack.services:
        if service.swarm and service.name in older:
            yield older[service.name], service


def _ingress(service: LintService) -> frozenset[str]:
    return frozenset(
        f"{port.published or 'any'}:{port.target}/{port.protocol}" for port in service.ports if port.mode == "ingress"
    )


RULES = (
    Rule(
        "ports-changed-start-first",
        "an update that changes published ports, and is start-first",
        _ports_changed_start_first,
    ),
    Rule("mode-changed", "an update that changes the mode of a service: refused", _mode_changed),
)
