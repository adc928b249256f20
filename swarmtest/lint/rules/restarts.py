"""What comes back after a crash or a kill, and what stays away."""

from __future__ import annotations

from collections.abc import Iterator

from swarmtest.lint import Certainty, Finding, Place, Severity
from swarmtest.lint.rolling import instances, rolls
from swarmtest.lint.rules import Rule, Stack
from swarmtest.lint.services import LintService
from swarmtest.lint.wording import seconds


def _not_restarted(stack: Stack) -> Iterator[Finding]:
    """swarmkit ``manager/orchestrator/restart/restart.go``, ``ShouldRestart``."""
    for service in stack.services:
        if not rolls(service) or service.restart.condition != "none" or service.replicas == 0:
            continue
        serves = _serves(service)
        yield Finding(
            rule="not-restarted",
            severity=Severity.ERROR if serves else Severity.INFO,
            certainty=Certainty.CERTAIN if serves else Certainty.UNKNOWN,
            place=_place(service, "condition"),
            effect="an instance that crashes, is killed or turns unhealthy isn't replaced until somebody deploys again"
            + ("" if serves else "; that's right for something that runs once, and for nothing else"),
            fix="write condition: any" if serves else "write condition: any, if it's meant to run on",
        )


def _restarted_on_failure_only(stack: Stack) -> Iterator[Finding]:
    """A task that has ended with exit code 0 is complete, whatever made it end (``restart.go``)."""
    for service in stack.services:
        if not rolls(service) or service.restart.condition != "on-failure" or not _serves(service):
            continue
        yield Finding(
            rule="restarted-on-failure-only",
            severity=Severity.WARNING,
            certainty=Certainty.LIKELY,
            place=_place(service, "condition"),
            effect="an app that shuts down in good order exits with 0, and that's no failure: after a docker stop, a"
            " restart of its engine or a failed health check the instance stays away",
            fix="write condition: any",
        )


def _restarts_run_out(stack: Stack) -> Iterator[Finding]:
    """``restart.go``: without a window the restarts of a slot are counted for as long as its spec is in use."""
    for service in stack.services:
        restart, attempts = service.restart, service.restart.max_attempts
        counted = restart.condition != "none" and attempts is not None and attempts > 0
        if not rolls(service) or not counted or not _serves(service):
            continue
        window = restart.window_seconds
        times = "once" if attempts == 1 else f"{attempts} times"
        yield Finding(
            rule="restarts-run-out",
            severity=Severity.WARNING,
            certainty=Certainty.CERTAIN,
            place=_place(service, "max_attempts"),
            effect=f"max_attempts {attempts}: an instance is replaced {times}"
            + (f" within {seconds(window)}" if window else ", however long that takes,")
            + " and the next time its place stays empty until somebody deploys again",
            fix="leave max_attempts out" + ("" if window else ", or give it a window, such as window: 10m"),
        )


def _compose_not_restarted(stack: Stack) -> Iterator[Finding]:
    """docker/compose ``pkg/compose/create.go``: ``deploy.restart_policy``, else ``restart``, else none."""
    for service in stack.services:
        asked = service.has("deploy", "restart_policy") or service.has("profiles")
        if service.swarm or asked or not instances(service):
            continue
        value = service.value("restart")
        if value not in (None, "no", False) or not (service.ports or service.health):
            continue
        yield Finding(
            rule="compose-not-restarted",
            severity=Severity.WARNING,
            certainty=Certainty.CERTAIN,
            place=service.place("restart"),
            effect="a container that crashes stays away: Compose restarts nothing unless the file says so",
            fix="write restart: unless-stopped",
        )


def _serves(service: LintService) -> bool:
    """Whether it's surely meant to run on: somebody asks it, or there's more than one of it."""
    several = service.mode == "global" or (service.replicas or 0) > 1
    return bool(service.ports) or service.health is not None or several or service.update.given


def _place(service: LintService, key: str) -> Place:
    long = service.has("deploy", "restart_policy")
    return service.place("deploy", "restart_policy", key) if long else service.place("restart")


RULES = (
    Rule("not-restarted", "condition: none: what ends isn't replaced", _not_restarted),
    Rule(
        "restarted-on-failure-only",
        "condition: on-failure: an instance that ends with exit code 0 isn't replaced",
        _restarted_on_failure_only,
    ),
    Rule("restarts-run-out", "max_attempts: after so many restarts the place stays empty", _restarts_run_out),
    Rule("compose-not-restarted", "no restart under Compose: what crashes stays away", _compose_not_restarted),
)
