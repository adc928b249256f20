"""Grace periods that don't mean what they say."""

from __future__ import annotations

from collections.abc import Iterator

from swarmtest.lint import Certainty, Edit, Finding, Severity
from swarmtest.lint.programs.drains import drains
from swarmtest.lint.programs.writers import own_data, shared_volumes
from swarmtest.lint.rolling import rolls, start_first, takes_from_a_queue
from swarmtest.lint.rules import Rule, Stack
from swarmtest.lint.services import LintService
from swarmtest.lint.wording import seconds

_KEY = "stop_grace_period"
_OLD_TASK_SECONDS = 60.0
_LONG_SECONDS = 3600.0


def _written(stack: Stack) -> Iterator[tuple[LintService, float]]:
    """Each service with a grace of its own, in seconds."""
    for service in stack.services:
        if service.has(_KEY) and service.grace_seconds is not None:
            yield service, service.grace_seconds


def _zero(stack: Stack) -> Iterator[Finding]:
    """moby ``daemon/cluster/executor/container/adapter.go``: whole seconds are handed on, so 500ms is none."""
    for service, grace in _written(stack):
        if int(grace) != 0:
            continue
        cut = "" if grace == 0 else ": the engine cuts fractions of a second off, so it acts as 0 s"
        yield Finding(
            "grace-zero",
            Severity.ERROR,
            Certainty.CERTAIN,
            service.place(_KEY),
            f"{_KEY} is {service.value(_KEY)}{cut}: SIGKILL follows the stop signal at once, and whatever is running"
            " is cut",
            "write more than the longest request or job takes, or leave it out for 10s; it counts from the next"
            " replacement on",
        )


def _negative(stack: Stack) -> Iterator[Finding]:
    """moby ``daemon/stop.go``: a negative time waits for ever."""
    for service, grace in _written(stack):
        if int(grace) >= 0:
            continue
        yield Finding(
            "grace-negative",
            Severity.ERROR,
            Certainty.CERTAIN,
            service.place(_KEY),
            f"{_KEY} is {service.value(_KEY)}: Docker takes it, and waits for ever; a task that doesn't end by itself"
            " is never"
            " killed, and its update never ends",
            "write a time above zero; it counts from the next replacement on",
        )


def _fraction_cut(stack: Stack) -> Iterator[Finding]:
    """moby ``daemon/cluster/executor/container/adapter.go``, shutdown: ``int(spec.StopGracePeriod.Seconds)``."""
    for service, grace in _written(stack):
        if grace == int(grace) or int(grace) <= 0:
            continue
        yield Finding(
            "grace-fraction-cut",
            Severity.WARNING,
            Certainty.CERTAIN,
            service.place(_KEY),
            f"{_KEY} is {service.value(_KEY)}, and acts as {int(grace)} s: the engine cuts fractions of a second off",
            f"write {int(grace) + 1}s",
            Edit(("services", service.name, _KEY), f"{int(grace) + 1}s"),
        )


def _of_hours(stack: Stack) -> Iterator[Finding]:
    """activepieces/activepieces #14487; celery/celery #3653, #8417: no grace is long enough for a job of hours."""
    for service, grace in _written(stack):
        if grace < _LONG_SECONDS:
            continue
        yield Finding(
            "grace-of-hours",
            Severity.WARNING,
            Certainty.CERTAIN,
            service.place(_KEY),
            f"{_KEY} is {seconds(grace)}: each update may wait that long for each task, a node can't be drained"
            " before, and"
            " what's lost with a node is lost all the same",
            "let the job stop taking work at the signal, and checkpoint or hand its job back to the queue; then"
            " minutes do",
        )


def _beyond_stop_first(stack: Stack) -> Iterator[Finding]:
    """moby/swarmkit #3274: stop-first waits at most 60 s for the old task (``defaultOldTaskTimeout``)."""
    for service, grace in _written(stack):
        if grace <= _OLD_TASK_SECONDS or start_first(service) or not rolls(service) or grace >= _LONG_SECONDS:
            continue
        alone = any(own_data(service)) or any(shared_volumes(service))
        at_queue = takes_from_a_queue(service) or any(drain.kind == "worker" for drain in drains(service))
        yield Finding(
            "grace-beyond-stop-first",
            Severity.WARNING if alone and not at_queue else Severity.INFO,
            Certainty.CERTAIN,
            service.place(_KEY),
            f"stop-first waits at most 60 s for the old task, whatever the grace of {seconds(grace)}: if it takes"
            " longer, the"
            " new one starts beside it",
            "take care that two may run side by side for that time, or stop it within 60 s",
        )


RULES = (
    Rule("grace-zero", "a grace of no whole second: SIGKILL at once", _zero),
    Rule("grace-negative", "a negative grace waits for ever", _negative),
    Rule("grace-fraction-cut", "fractions of a second are cut off", _fraction_cut),
    Rule("grace-of-hours", "a grace of an hour or more", _of_hours),
    Rule("grace-beyond-stop-first", "stop-first waits 60 s, not longer", _beyond_stop_first),
)
