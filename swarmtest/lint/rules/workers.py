"""Services that do jobs: whether they may finish them, and what runs twice."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, inf

from swarmtest.lint import Certainty, Edit, Finding, Severity
from swarmtest.lint.programs.commands import base, flag
from swarmtest.lint.programs.drains import Drain, drains, programs
from swarmtest.lint.rolling import instances, rolls, start_first
from swarmtest.lint.rules import Rule, Stack
from swarmtest.lint.rules.grace_limits import ARMED, default
from swarmtest.lint.services import LintService
from swarmtest.lint.wording import seconds

REQUEUE_SECONDS = 5
"""What a worker needs to hand back what it couldn't finish."""


def _worker(service: LintService) -> Drain | None:
    return next((drain for drain in drains(service) if drain.kind == "worker"), None)


def _cut_by_grace(stack: Stack) -> Iterator[Finding]:
    """chatwoot/chatwoot #15886; sidekiq/sidekiq #4133, #5109."""
    for service in stack.services:
        grace, drain = service.grace_seconds, _worker(service)
        if drain is None or grace is None or grace < 1 or int(grace) >= drain.seconds + REQUEUE_SECONDS:
            continue
        if drain.seconds == inf:
            if not service.has("stop_grace_period"):
                yield _cut_when_long(service, drain, int(grace))
            continue
        own = drain.written or f"{drain.program}'s default"
        needed = f"{ceil(drain.seconds + REQUEUE_SECONDS)}s"
        close = int(grace) > drain.seconds
        yield Finding(
            "worker-cut-by-grace",
            Severity.INFO if close else Severity.WARNING,
            Certainty.CERTAIN if drain.written and not close else Certainty.LIKELY,
            service.place("stop_grace_period"),
            f"{drain.program} gives running jobs {seconds(drain.seconds)} ({own}) and then hands back what's left;"
            " SIGKILL"
            f" comes after {int(grace)} s{default(service)}"
            + (", which is hardly enough for that" if close else ": jobs in progress are cut, and not handed back"),
            f"write stop_grace_period: {needed} ({seconds(drain.seconds)} and {REQUEUE_SECONDS} s to hand back){ARMED}",
            Edit(("services", service.name, "stop_grace_period"), needed) if drain.written else None,
        )


def _cut_when_long(service: LintService, drain: Drain, grace: int) -> Finding:
    return Finding(
        "worker-cut-by-grace",
        Severity.WARNING,
        Certainty.LIKELY,
        service.place("stop_grace_period"),
        f"{drain.program} waits for running jobs for as long as they take, and SIGKILL comes after {grace} s, the"
        " default:"
        " a longer job is cut half-way",
        "write a stop_grace_period above the longest job; where jobs take hours, let them checkpoint, or hand them"
        " back to"
        " the queue",
    )


def _cold_shutdown(stack: Stack) -> Iterator[Finding]:
    """Celery's worker guide: REMAP_SIGTERM makes SIGTERM what SIGQUIT is, a cold shutdown."""
    for service in stack.services:
        drain = _worker(service) if service.environment.get("REMAP_SIGTERM") == "SIGQUIT" else None
        if drain is None or drain.program != "celery":
            continue
        yield Finding(
            "worker-cold-shutdown",
            Severity.WARNING,
            Certainty.LIKELY,
            service.place("environment", "REMAP_SIGTERM"),
            "REMAP_SIGTERM=SIGQUIT turns the warm shutdown into a cold one: running tasks are ended at once, unless"
            " worker_soft_shutdown_timeout (Celery 5.5) gives them a time",
            "take REMAP_SIGTERM out, or set worker_soft_shutdown_timeout some seconds below the grace",
        )


def _start_first(stack: Stack) -> Iterator[Finding]:
    """A worker gains nothing by start-first: what it's away for waits in its queue."""
    for service in stack.services:
        drain = _worker(service) if start_first(service) and not service.ports else None
        if drain is None:
            continue
        yield Finding(
            "worker-start-first",
            Severity.INFO,
            Certainty.LIKELY,
            service.place("deploy", "update_config", "order"),
            f"with start-first the old {drain.program} and the new one take jobs side by side until the old one has"
            " drained:"
            " two versions work on one queue, with more of them than are planned",
            "write order: stop-first for workers; their jobs wait meanwhile",
        )


def _scheduler_twice(stack: Stack) -> Iterator[Finding]:
    """Celery's guide to periodic tasks: a second scheduler sends each task twice."""
    for service in stack.services:
        name = next((found for words in programs(service) if (found := _scheduler(words))), None)
        if name is None:
            continue
        count = instances(service)
        several, overlaps = (count or 0) > 1 or service.mode == "global", start_first(service)
        if not several and not overlaps:
            continue
        many = f"{count} replicas" if count else "one on each node"
        key = ("deploy", "replicas") if several else ("deploy", "update_config", "order")
        many = f"with {count} replicas" if count else "with one on each node"
        beside = "start-first lets two run side by side: a task that's due then is sent twice"
        yield Finding(
            "scheduler-runs-twice",
            Severity.ERROR if several else Severity.WARNING,
            Certainty.CERTAIN if several else Certainty.LIKELY,
            service.place(*key),
            f"{name} sends what's due by its own clock, and "
            + (f"{many} each task is sent more than once" if several else beside),
            "write replicas: 1 and order: stop-first, in a service of its own",
        )


def _scheduler(words: tuple[str, ...]) -> str | None:
    """The scheduler that a program is, or has within it."""
    name = base(words)
    if name == "celery" and ("beat" in words or ("worker" in words and {"-B", "--beat"} & set(words))):
        locked = any("redbeat" in word.lower() for word in (flag(words, "-S", "--scheduler") or "", *words))
        return None if locked else "celery beat"
    if name == "rqscheduler":
        return "rqscheduler"
    if name in ("php", "artisan") and "schedule:work" in words:
        return "schedule:work"
    return None


def _grace_below_api(stack: Stack) -> Iterator[Finding]:
    """Jobs take longer than requests, so a worker needs no less time than what's in front of it."""
    served = [service for service in stack.services if service.ports and service.has("stop_grace_period")]
    longest = max(served, key=lambda service: service.grace_seconds or 0.0, default=None)
    if longest is None or longest.grace_seconds is None:
        return
    for service in stack.services:
        short = service.grace_seconds is not None and service.grace_seconds < longest.grace_seconds
        same = short and service.image.repository == longest.image.repository and rolls(service)
        drain = _worker(service) if same else None
        if drain is None or drain.seconds < inf:
            continue
        yield Finding(
            "worker-grace-below-api",
            Severity.INFO,
            Certainty.LIKELY,
            service.place("stop_grace_period"),
            f"{drain.program} has {seconds(service.grace_seconds or 0.0)} of grace{default(service)}, less than"
            f" {longest.name} with {seconds(longest.grace_seconds)}, and jobs usually take longer than requests",
            f"write a stop_grace_period above the longest job{ARMED}",
        )


RULES = (
    Rule("worker-cut-by-grace", "a worker's own limit is longer than the grace", _cut_by_grace),
    Rule("worker-cold-shutdown", "Celery told to drop its tasks at SIGTERM", _cold_shutdown),
    Rule("worker-start-first", "two versions of a worker on one queue", _start_first),
    Rule("scheduler-runs-twice", "two schedulers send each task twice", _scheduler_twice),
    Rule("worker-grace-below-api", "a worker has less grace than what's in front of it", _grace_below_api),
)
