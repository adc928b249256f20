"""How long Swarm looks at a new task before it calls the update good."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from swarmtest.lint import Certainty, Edit, Finding, Severity
from swarmtest.lint.rolling import at_once, instances, rolls, start_first
from swarmtest.lint.rules import Rule, Stack
from swarmtest.lint.services import Health, LintService
from swarmtest.lint.wording import seconds

_MONITOR = ("deploy", "update_config", "monitor")
_INHERITED = ("interval", "timeout", "retries")


def seconds_to_unhealthy(health: Health) -> tuple[float, float] | None:
    """How long a task that was healthy can be bad until it counts as unhealthy: probes fail at once, or time out.

    Retries x (interval + time-out). The start period isn't in it: it ends at the first good probe, monitoring begins
    there, and what fails before that is a failure whenever it comes (swarmkit ``updater.go``).
    """
    interval, timeout, retries = health.interval_seconds, health.timeout_seconds, health.retries
    if interval is None or timeout is None or retries is None:
        return None
    interval, timeout, retries = interval or 30.0, timeout or 30.0, retries or 3  # zero is the default
    return retries * interval, retries * (interval + timeout)


def _monitor_too_short(stack: Stack) -> Iterator[Finding]:
    """Eldara-Tech/swarmcli #475, moby/moby #37972."""
    for service in stack.services:
        monitor = service.update.monitor_seconds
        need = seconds_to_unhealthy(service.health) if service.health else None
        if not _watched(service) or monitor is None or monitor < 0 or need is None or monitor >= need[1]:
            continue
        health = service.health
        assert health is not None
        instant, slow = need
        sure = monitor < instant and all(service.has("healthcheck", key) for key in _INHERITED)
        yield Finding(
            rule="monitor-too-short",
            severity=Severity.INFO if _nothing_to_pause(service) else Severity.WARNING,
            certainty=Certainty.CERTAIN if sure else Certainty.LIKELY,
            place=service.place(*_MONITOR),
            effect=f"{_said(service, monitor)}, and a task that turns bad counts as unhealthy after {health.retries} x"
            f" ({seconds(health.interval_seconds or 30)} + {seconds(health.timeout_seconds or 30)}) = {seconds(slow)}"
            f" ({seconds(instant)} if its probes fail at once): the update is called completed before"
            + ("" if _nothing_to_pause(service) else f", and {_action(service)} isn't done"),
            fix=f"write monitor: {ceil(slow)}s, plus what a shutdown takes (start_period isn't part of it); or probe"
            " faster",
            edit=Edit(("services", service.name, *_MONITOR), f"{ceil(slow)}s"),
        )


def _monitor_without_health(stack: Stack) -> Iterator[Finding]:
    for service in stack.services:
        asked = service.update.failure_action == "rollback" or service.has(*_MONITOR)
        served = bool(service.ports) or start_first(service)
        if not _watched(service) or service.health is not None or not (asked and served):
            continue
        off = service.health_disabled
        yield Finding(
            rule="monitor-without-health",
            severity=Severity.INFO,
            certainty=Certainty.CERTAIN if off else Certainty.UNKNOWN,
            place=service.place("healthcheck"),
            effect=("the health check is off" if off else "the file has no health check, and unless the image has one")
            + f", {_action(service)} comes only if a new task ends by itself within"
            f" {seconds(service.update.monitor_seconds or 5)}: a version that runs and answers nothing but errors is a"
            " good one to Swarm",
            fix="write a healthcheck that fails when the app can't serve",
        )


def _delay_hides_failure(stack: Stack) -> Iterator[Finding]:
    """moby/moby #37972; moby/swarmkit #3003 takes the longer of the two, in the 20.10 line by moby/moby #42875."""
    for service in stack.services:
        delay, monitor = service.update.delay_seconds, service.update.monitor_seconds
        if not _watched(service) or not delay or monitor is None or not 0 < monitor <= delay:
            continue
        yield Finding(
            rule="delay-hides-failure",
            severity=Severity.WARNING,
            certainty=Certainty.LIKELY,
            place=service.place("deploy", "update_config", "delay"),
            effect=f"a delay of {seconds(delay)} isn't below the monitor of {seconds(monitor)}: engines from before the"
            f" end of 2021 miss a task that fails meanwhile, and {_action(service)} may never be done; later ones"
            f" watch for {seconds(delay + 1)}, and call the update done some {seconds(2 * delay + 1)} after the last"
            " task is up",
            fix=f"write a monitor above the delay, such as {ceil(delay) + 5}s, or a shorter delay",
        )


def _watched(service: LintService) -> bool:
    return rolls(service) and service.update.failure_action in ("pause", "rollback") and service.replicas != 0


def _nothing_to_pause(service: LintService) -> bool:
    """Whether all are replaced in one go, and nobody thought of a window: only the status is wrong then."""
    count = instances(service)
    alone = count is not None and at_once(service, service.update) == count
    return alone and service.update.failure_action == "pause" and not service.has(*_MONITOR)


def _said(service: LintService, monitor: float) -> str:
    if not service.has(*_MONITOR):
        return f"Swarm looks at a new task for {seconds(monitor)}, the default of monitor"
    if service.value(*_MONITOR) in ("0", "0s", "0ms", "0m", "0h"):
        return f"a monitor of {service.value(*_MONITOR)} isn't off, it's the default of {seconds(monitor)}"
    return f"Swarm looks at a new task for {seconds(monitor)}"


def _action(service: LintService) -> str:
    return "the rollback" if service.update.failure_action == "rollback" else "the pause"


RULES = (
    Rule("monitor-too-short", "the update is called completed before a bad task can be unhealthy", _monitor_too_short),
    Rule("monitor-without-health", "without a health check only a crash counts as a failure", _monitor_without_health),
    Rule(
        "delay-hides-failure",
        "a delay that's as long as the monitor: older engines miss failures",
        _delay_hides_failure,
    ),
)
