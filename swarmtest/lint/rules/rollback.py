"""What happens when an update fails, and how the way back goes."""

from __future__ import annotations

from collections.abc import Iterator
from math import floor

from swarmtest.lint import Certainty, Edit, Finding, Severity
from swarmtest.lint.document import Unsure
from swarmtest.lint.rolling import instances, rolls, start_first, writes_alone
from swarmtest.lint.rules import Rule, Stack
from swarmtest.lint.services import LintService

_ACTION = ("deploy", "update_config", "failure_action")


def _rolls_back_stop_first(stack: Stack) -> Iterator[Finding]:
    """swarmkit ``api/defaults/service.go``: the way back has defaults of its own."""
    for service in stack.services:
        wanted = start_first(service) and service.update.failure_action == "rollback" and not writes_alone(service)
        if not wanted or service.rollback.order != "stop-first" or instances(service) == 0:
            continue
        key = ("deploy", "rollback_config", "order")
        said = service.has(*key)
        count = instances(service)
        gap = "nobody serves meanwhile" if count == 1 else "there's an instance fewer at each step"
        yield Finding(
            rule="rolls-back-stop-first",
            severity=Severity.WARNING,
            certainty=Certainty.CERTAIN,
            place=service.place(*key),
            effect="the way up is start-first, and the way back "
            + ("says stop-first" if said else "is stop-first, the default of rollback_config")
            + f": what was already replaced is stopped before the old version starts again, and {gap}",
            fix="write order: start-first under rollback_config",
            edit=Edit(("services", service.name, *key), "start-first"),
        )


def _pauses_on_failure(stack: Stack) -> Iterator[Finding]:
    """moby/moby #34245, #31819, #44069."""
    for service in stack.services:
        count = instances(service)
        several = service.mode == "global" or (count or 0) > 1
        if not rolls(service) or service.update.failure_action != "pause" or not several or writes_alone(service):
            continue
        default = "" if service.has(*_ACTION) else ", the default"
        stops = service.update.order == "stop-first"
        yield Finding(
            rule="pauses-on-failure",
            severity=Severity.INFO,
            certainty=Certainty.CERTAIN,
            place=service.place(*_ACTION),
            effect=f"failure_action is pause{default}: an update that fails stays half-way, with two versions side by"
            f" side{' and an instance fewer' if stops else ''}, until somebody acts; a second deploy of the same file"
            " goes on with it, and makes the bad version the one that a rollback goes to",
            fix="write failure_action: rollback, with a rollback_config; pin images by digest, and give"
            " --with-registry-auth at each deploy",
        )


def _continues_on_failure(stack: Stack) -> Iterator[Finding]:
    """swarmkit ``updater.go``: with continue nobody watches the new tasks."""
    for service in stack.services:
        if not rolls(service) or service.update.failure_action != "continue":
            continue
        yield Finding(
            rule="continues-on-failure",
            severity=Severity.WARNING,
            certainty=Certainty.CERTAIN,
            place=service.place(*_ACTION),
            effect="failure_action: continue takes no notice of new tasks that fail: a bad version takes the place of"
            " every instance, and the update's status says completed",
            fix="write failure_action: rollback",
        )


def _failure_ratio(stack: Stack) -> Iterator[Finding]:
    """swarmkit ``updater.go``: the action is taken when failures / tasks is *above* the ratio."""
    for service in stack.services:
        ratio, count = _ratio(service), instances(service)
        if ratio is None or not rolls(service) or service.update.failure_action not in ("pause", "rollback"):
            continue
        needed = None if ratio >= 1 else None if not count else floor(ratio * count + 1e-6) + 1
        if ratio < 1 and (needed is None or not count or count < 2 or needed < count):
            continue
        refused = ratio > 1
        yield Finding(
            rule="failure-ratio-too-high",
            severity=Severity.ERROR if refused else Severity.WARNING,
            certainty=Certainty.CERTAIN,
            place=service.place("deploy", "update_config", "max_failure_ratio"),
            effect=f"the engine refuses max_failure_ratio {ratio:g}: it's between 0 and 1"
            if refused
            else f"max_failure_ratio {ratio:g} is never exceeded, so {service.update.failure_action} is never done"
            if needed is None
            else f"with max_failure_ratio {ratio:g} {service.update.failure_action} is done only when {needed} of"
            f" {count} instances have failed, when no good one is left",
            fix="leave it out: the default of 0 acts at the first failure",
        )


def _ratio(service: LintService) -> float | None:
    value = service.value("deploy", "update_config", "max_failure_ratio")
    try:
        return None if value is None or isinstance(value, (bool, Unsure)) else float(str(value))
    except ValueError:
        return None


RULES = (
    Rule("rolls-back-stop-first", "start-first on the way up, stop-first on the way back", _rolls_back_stop_first),
    Rule("pauses-on-failure", "a failed update stays half-way until somebody acts", _pauses_on_failure),
    Rule("continues-on-failure", "a failed update goes on with the next instance", _continues_on_failure),
    Rule("failure-ratio-too-high", "so many may fail that the update never counts as failed", _failure_ratio),
)
