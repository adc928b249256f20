"""What health checks do to a rollout, and what they do when something else fails."""

from __future__ import annotations

import re
from collections.abc import Iterator

from swarmtest.lint import Certainty, Finding, Severity
from swarmtest.lint.programs.commands import base, flag
from swarmtest.lint.programs.official import official
from swarmtest.lint.programs.probes import Probe, probes, urls
from swarmtest.lint.rolling import instances, rolls, runs_once, start_first, takes_from_a_queue
from swarmtest.lint.rules import Rule, Stack
from swarmtest.lint.wording import seconds

_READINESS = re.compile(
    r"(?<!/-)/(?:readyz?|readiness|health[/_-]ready|deep|dependenc(?:y|ies))(?:[/?]|\Z)|/actuator/health\Z"
)


def _disabled_start_first(stack: Stack) -> Iterator[Finding]:
    """docker/for-linux #615; moby/moby #25464, #35881, #32079."""
    for service in stack.services:
        if not start_first(service) or not service.health_disabled or takes_from_a_queue(service):
            continue
        yield Finding(
            "health-disabled-start-first",
            Severity.ERROR if service.ports else Severity.WARNING,
            Certainty.CERTAIN,
            service.place("healthcheck"),
            "the health check is switched off, the image's own too: start-first takes the old task away as soon as"
            " the new"
            " process exists, and until it listens requests to it are refused",
            "write a health check that succeeds once the app serves; a longer stop_grace_period does nothing for it",
        )


def _without_check(stack: Stack) -> Iterator[Finding]:
    """moby/moby #25464, #35881: without a health check a task counts as running when its process exists."""
    for service in stack.services:
        silent = service.health or service.health_disabled or takes_from_a_queue(service) or runs_once(service)
        if not start_first(service) or silent:
            continue
        known = official(service.image) and not service.has("build")
        yield Finding(
            "start-first-without-check",
            Severity.WARNING,
            Certainty.LIKELY if known else Certainty.UNKNOWN,
            service.place("deploy", "update_config", "order"),
            "the file has no health check"
            + (
                ", and Docker's own images have none;"
                if known
                else f"; unless the image {service.image.text or 'that is built'} has one,"
            )
            + " start-first takes the old task away as soon as the new process exists, and until it listens requests"
            " to it"
            " are refused",
            "write a health check that succeeds once the app serves"
            + ("" if known else ", or see that the image has one: docker inspect -f '{{.Config.Healthcheck}}' IMAGE"),
        )


def _timeout_beyond_interval(stack: Stack) -> Iterator[Finding]:
    """moby ``daemon/health.go``: the next probe comes an interval after the end of the last one."""
    for service in stack.services:
        health = service.health
        if health is None or None in (health.interval_seconds, health.timeout_seconds, health.retries):
            continue
        interval, timeout = health.interval_seconds or 30.0, health.timeout_seconds or 30.0
        retries = health.retries or 3
        if timeout <= 2 * interval or interval < 0:
            continue
        default = "" if service.has("healthcheck", "timeout") else ", the default"
        yield Finding(
            "health-timeout-beyond-interval",
            Severity.INFO,
            Certainty.CERTAIN,
            service.place("healthcheck", "timeout"),
            f"a probe may take {seconds(timeout)}{default}, and the next one comes {seconds(interval)} after its end:"
            " an"
            f" app that hangs counts as unhealthy after {seconds(retries * (interval + timeout))}, not after"
            f" {seconds(retries * interval)}",
            f"write a timeout of at most {seconds(interval)}",
        )


def _kills_at_once(stack: Stack) -> Iterator[Finding]:
    """swarmkit's agent stops a task whose container turned unhealthy."""
    for service in stack.services:
        if service.health is None or service.health.retries != 1 or not service.swarm:
            continue
        timeout = service.health.timeout_seconds or 30.0
        yield Finding(
            "health-kills-at-once",
            Severity.WARNING,
            Certainty.CERTAIN,
            service.place("healthcheck", "retries"),
            f"retries: 1 means that a single probe that fails, or takes longer than {seconds(timeout)}, ends the"
            " task: Swarm"
            " stops what's unhealthy, and makes another",
            "write retries: 3, and a shorter interval if it has to be noticed soon",
        )


def _first_probe_late(stack: Stack) -> Iterator[Finding]:
    """moby ``daemon/health.go``: the first probe comes after one interval (docker/for-linux #615)."""
    for service in stack.services:
        health = service.health
        if health is None or not start_first(service) or not health.interval_seconds or health.start_period_seconds:
            continue
        count = instances(service)
        if health.interval_seconds < 30 or not count:
            continue
        yield Finding(
            "health-first-probe-late",
            Severity.INFO,
            Certainty.CERTAIN,
            service.place("healthcheck", "interval"),
            f"the first probe comes {seconds(health.interval_seconds)} after the start, so each new task waits that"
            " long"
            f" however quick it is: {seconds(count * health.interval_seconds)} for {count} one after the other",
            "write a shorter interval; with a start_period engines from 25.0 on ask each 5 s until it has passed",
        )


def _asks_dependency(stack: Stack) -> Iterator[Finding]:
    """SkygearIO/skygear-server #279; moby/moby #26664."""
    names = {service.name for service in stack.services}
    for service, probe in probes(stack):
        if not rolls(service):
            continue
        others = sorted(host for host in _hosts(probe) if host in names and host != service.name)
        path = next((url.path for words in probe.calls for url in urls(words) if _READINESS.search(url.path)), None)
        if not others and path is None:
            continue
        count = instances(service)
        all_of_them = f"all {count} tasks" if count and count > 1 else "its tasks"
        what = (
            f"the check asks {others[0]}"
            if others
            else f"{path} usually asks what the app depends on, such as its database"
        )
        yield Finding(
            "health-asks-dependency",
            Severity.WARNING,
            Certainty.CERTAIN if others else Certainty.LIKELY,
            service.place("healthcheck", "test"),
            f"{what}: when that's away for some seconds, Swarm takes {all_of_them} for unhealthy and stops them"
            " together",
            "let the check fail until warm-up is done, and say from then on only that the process lives; readiness"
            " with its"
            " dependencies is for the front door",
        )


def _hosts(probe: Probe) -> Iterator[str]:
    """The hosts that a check asks, as far as its words tell."""
    for words in probe.calls:
        for url in urls(words):
            yield url.host.removeprefix("tasks.")
        name = base(words)
        if name in ("pg_isready", "redis-cli", "mysqladmin", "mariadb-admin", "mysql", "psql"):
            yield flag(words, "-h", "--host") or ""
        elif name in ("nc", "ncat", "telnet", "ping"):
            yield next((word for word in words[1:] if not word.startswith("-")), "")


RULES = (
    Rule("health-disabled-start-first", "start-first with the health check switched off", _disabled_start_first),
    Rule("start-first-without-check", "start-first, and no health check in the file", _without_check),
    Rule("health-timeout-beyond-interval", "a hanging app is noticed later than it looks", _timeout_beyond_interval),
    Rule("health-kills-at-once", "one failed probe ends a task", _kills_at_once),
    Rule("health-first-probe-late", "each new task waits a whole interval for its first probe", _first_probe_late),
    Rule("health-asks-dependency", "a blip of a shared dependency stops all tasks together", _asks_dependency),
)
