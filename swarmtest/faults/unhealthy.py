"""Releases a version whose health check fails: never healthy, unhealthy soon, or unhealthy late.

The image stays; the new health check is what's bad, so it works for any stack. What Swarm does:

- *never*: the new task never gets *running*, and failing before that always counts for the update's
  ``failure_action``. With start-first no old instance is touched; with stop-first one is missing until the
  old version is back.
- *soon*: the new task passes, gets *running*, takes an old one's place, and turns unhealthy within the
  update's ``monitor``. It fails when it has ended, which is 2 s and its own shutdown later: if that's
  within the monitor too, ``failure_action`` applies, with an old instance gone already. If not, it's as *late*.
- *late*: each task fails only when the whole update is over and counts as completed. No ``failure_action``
  applies any more: Swarm kills the unhealthy tasks and makes new ones of the same bad version.

The check that turns bad is the service's own with a clock behind it, which counts from its first pass,
so that an app that's slow to start is as soon, or as late, as any. It needs a shell in the image, and a
``/dev/shm`` that can be written to; where either is missing it fails from the beginning.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from swarmtest.engine import Deployment, Pace
from swarmtest.errors import UsageError
from swarmtest.faults import Aim
from swarmtest.stack import HealthCheck

LEAST_MONITOR_SECONDS = 3.0
"""A shorter monitor may be over before a check that passed first has failed."""

LEAST_START_SECONDS = 60.0
"""The start period, in which no failure counts; it's over with the first pass, and then the first failure counts."""

NEVER = ("CMD", "/swarmtest/a-health-check-that-is-not-there")
"""The engine takes a probe that can't be started for a failed one."""

_CLOCK = "/dev/shm/swarmtest-first-pass"  # noqa: S108 - inside the container


@dataclass(frozen=True, slots=True)
class Unhealthy:
    """An update to a health check that fails.

    Attributes:
        way: ``never``, ``soon`` or ``late``.
        after_seconds: how long it passes; None is derived from the update's settings and, for ``late``, from
            how long the tasks took to start.
    """

    way: str = "never"
    after_seconds: float | None = None
    name: str = "unhealthy"
    lasting: bool = False
    ends: bool = False
    replaces: bool = True

    def settings(self) -> dict[str, Any]:
        """As the trace shows it."""
        return {"way": self.way, "after_seconds": self.after_seconds}

    def before(self, deployment: Deployment, aim: Aim) -> dict[str, Any]:
        """How long it'll pass; nothing has to be healed."""
        return {"after_seconds": self.passes_seconds(deployment.pace(aim.service))}

    def hurt(self, deployment: Deployment, aim: Aim) -> None:
        """Sends the update; what becomes of it shows in the service's update status."""
        pace = deployment.pace(aim.service)
        seconds = self.passes_seconds(pace)
        if seconds is None:
            health = HealthCheck(NEVER, 1.0, 2.0, 1, 0.0)
        else:
            starting = max(LEAST_START_SECONDS, 2 * pace.start_seconds)
            health = HealthCheck(("CMD-SHELL", passing_for(seconds, pace.health_test)), 1.0, 2.0, 1, starting)
        deployment.release(aim.service, image=None, environment={}, health=asdict(health))

    def heal(self, deployment: Deployment, aim: Aim, before: Mapping[str, Any]) -> None:
        """Nothing to undo: Swarm rolls it back, or a step of its own does."""

    def passes_seconds(self, pace: Pace) -> int | None:
        """For how many seconds the check passes; None is never.

        Raises:
            UsageError: the update's monitor is too short for *soon*.
        """
        if self.way == "never":
            return None
        if self.after_seconds is not None:
            return math.ceil(self.after_seconds)
        if self.way == "late":
            return math.ceil(pace.rollout_seconds) + 2
        if pace.monitor_seconds < LEAST_MONITOR_SECONDS:
            raise UsageError(
                f"a new version can't get healthy and fail again within a monitor of {pace.monitor_seconds:g} s;"
                f" set `update_config: {{monitor: …}}` to {LEAST_MONITOR_SECONDS:g} s or more"
            )
        return 2 if pace.monitor_seconds >= 5.0 else 1


def passing_for(seconds: int, own: Sequence[str]) -> str:
    """A shell's test that passes for so long from its first pass on, and only while ``own`` passes.

    The time is the kernel's uptime, kept in a file of the container's shared memory, which is there even
    where the root file system is read-only.

    Arguments:
        own: the service's test as the engine has it; without one the clock alone decides.
    """
    match list(own):
        case ["CMD-SHELL", text]:
            first = f"( {text}\n) || exit 1"
        case ["CMD", *words] if words:
            first = f"{shlex.join(words)} || exit 1"
        case _:
            first = ":"
    return (
        f"{first}\nread -r up rest </proc/uptime; up=${{up%.*}}\n"
        f'[ -s {_CLOCK} ] || echo "$up" >{_CLOCK}\n'
        f'read -r first <{_CLOCK}; [ "$((up - first))" -lt {seconds} ]'
    )
