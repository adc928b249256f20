"""An update that was under way when swarmtest was killed.

Swarm goes on with it alone. In a stack that's removed it needs no healing; in one that's kept it's
rolled back, since nobody is left to judge the new version.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from swarmtest.engine import Deployment, UpdateView
from swarmtest.errors import TimedOut
from swarmtest.interrupts import deferred
from swarmtest.recovery.healing import Surgery
from swarmtest.running.acts import act as written

FORWARD = ("updating", "paused")
BACK = "rollback_started"
SPARE_SECONDS = 60.0
POLL_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Waiting:
    """Monotonic waiting, an argument so that tests don't wait."""

    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic

    def until(self, done: Callable[[], bool], seconds: float) -> bool:
        """Waits for a condition; says whether it came true in time."""
        deadline = self.clock() + seconds
        while not done():
            if self.clock() > deadline:
                return False
            self.sleep(POLL_SECONDS)
        return True


def words_on_update(service: str, status: UpdateView) -> str | None:
    """What there is to say of a service's last update where the stack goes; None where it had come to its end."""
    if status.state in FORWARD:
        return f"an update of {service} was {'under way' if status.state == 'updating' else 'paused'}: it goes too"
    return f"a rollback of {service} was under way: it goes too" if status.state == BACK else None


def roll_back(surgery: Surgery, service: str, number: Callable[[], int], waiting: Waiting) -> str | None:
    """Rolls an unfinished update back and waits for its end; says what was done, None where there was nothing to do.

    Raises:
        EngineError: refused, paused on its way back, or not back in time; the message says what to do.
    """
    deployment = surgery.deployment
    first = deployment.update_status(service).state
    if first not in (*FORWARD, BACK):
        return None
    if first != BACK:
        fields = {"id": number(), "name": "rollback", "target": service, "settings": {}, "instances": [], "before": {}}
        with deferred(), written(surgery.trace, **fields, prepares=False, lasting=False):
            deployment.rollback(service)
    seconds = 2 * deployment.pace(service).rollout_seconds + SPARE_SECONDS
    if not waiting.until(lambda: _is_back(deployment, service), seconds):
        status = deployment.update_status(service)
        raise TimedOut(
            f"the rollback of {service} is {status.state} after {seconds:.0f} s ({status.message});"
            f" look at `docker service ps --no-trunc {deployment.name}_{service}`"
        )
    if first == BACK:
        return f"waited for the rollback of {service}, which was under way"
    return f"rolled back the update of {service}, which was {'under way' if first == 'updating' else first}"


def _is_back(deployment: Deployment, service: str) -> bool:
    return deployment.update_status(service).state in ("rollback_completed", None)
