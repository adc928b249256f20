"""What has to fit to the grace: the pace of updates, and the app's own wait and limit; and the edits of the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil

from swarmtest.reports.tune import Setting
from swarmtest.stack import Service
from swarmtest.stack.block.frontdoor import FrontDoor
from swarmtest.stack.syntax.editing import Edit
from swarmtest.tune.recommend import ABORT_SECONDS, Recommended, fitting, wait_needed

GRACE = "stop_grace_period"
DELAY = "deploy.update_config.delay"
MONITOR = "deploy.update_config.monitor"

_AFTER = {
    GRACE: ("stop_signal", "healthcheck", "init", "command", "entrypoint", "image"),
    DELAY: ("parallelism", "order"),
    MONITOR: ("delay", "parallelism", "order"),
}
"""What a new key comes behind."""


def settings(service: Service, door: FrontDoor, found: Recommended) -> Iterator[Setting]:
    """All that goes with a recommended grace."""
    policy, fit = service.update, fitting(service, found.bound.longest)
    yield Setting(
        DELAY,
        f"{policy.delay_seconds:g}s",
        policy.delay_seconds >= fit.delay_seconds,
        f"{fit.delay_seconds}s",
        "an old instance is gone before the next ones go: 2 s, and the longest stop that was measured",
        fit.delay_seconds,
    )
    monitor = max(fit.monitor_seconds, ceil(policy.delay_seconds) + 1)
    yield Setting(
        MONITOR,
        f"{policy.monitor_seconds:g}s",
        policy.monitor_seconds >= monitor,
        f"{monitor}s",
        _monitor_words(service, fit.unhealthy_seconds),
        monitor,
    )
    yield _wait(door, found)
    least, most = found.limit_seconds
    yield Setting(
        "the app's own shutdown limit",
        None,
        False,
        f"above {least:g} s, up to {most:.1f} s",
        "counted from the close: longer than the longest request, and over"
        f" {ABORT_SECONDS:g} s before the grace is, so that the app ends what it must and SIGKILL ends nothing",
    )


def _monitor_words(service: Service, unhealthy_seconds: float) -> str:
    health = service.health
    if health is None:
        return "without a health check it only sees crashes; more than the delay, and than a stop takes"
    checks = f"{health.retries} × ({health.interval_seconds:g} s + {health.timeout_seconds:g} s)"
    return (
        f"a new instance that turns unhealthy has failed when it has ended: {checks} = {unhealthy_seconds:g} s, 2 s,"
        " and its own stop; and more than the delay"
    )


def _wait(door: FrontDoor, found: Recommended) -> Setting:
    needed = wait_needed(door)
    if needed is None:
        return Setting(
            "the app's own wait before it closes",
            f"{found.sum.wait:.1f} s",
            True,
            f"{found.sum.wait:.1f} s",
            "as measured; x-swarmtest front_door (detects, within) would tell whether the front door notices in time",
        )
    least = needed + ABORT_SECONDS
    measured = found.sum.wait if found.sum.wait_source.startswith("measured") else None
    return Setting(
        "the app's own wait before it closes",
        None if measured is None else f"{measured:.1f} s",
        measured is not None and measured >= needed,
        f"{least:g} s at least",
        "from the signal on, until the front door has let go and a second more; what's longer than that makes each"
        " stop longer, and the grace with it",
    )


def edits(service: Service, grace_seconds: int, wanted: Sequence[Setting]) -> list[Edit]:
    """The changes of the stack file: the grace, and of the pace of updates what doesn't fit."""
    values = {GRACE: grace_seconds} if grace_seconds != service.grace_seconds else {}
    values |= {each.key: each.seconds for each in wanted if each.seconds is not None and not each.fits}
    return [
        Edit(("services", service.name, *key.split(".")), f"{seconds}s", _AFTER[key]) for key, seconds in values.items()
    ]
