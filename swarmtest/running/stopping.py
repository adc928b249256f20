"""Stops a run that loses too much or breaks a limit: what was begun is rolled back, and it's judged as far as it got.

The runner has :func:`mind` called in each round of waiting. Once a guard has tripped, that writes it
down, rolls back an update that's under way, and raises :class:`GuardTripped`, by which steps end and their
faults are healed. The runner catches it, calls :func:`await_rolled_back`, and goes on to settle. It's no
error of the run; what it says is in the trace.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

from swarmtest.engine.client import Refused
from swarmtest.faults import Aim
from swarmtest.faults.rollback import Rollback
from swarmtest.running import Run
from swarmtest.running.acts import begin, carry_out
from swarmtest.running.guard import GuardTripped

__all__ = ["GuardTripped", "await_rolled_back", "mind"]

ROLLBACK_SECONDS = 120.0
UNDER_WAY = ("updating", "paused")
"""States of an update that has neither come to its end nor been turned back."""
TURNED = ("rollback_completed", "rollback_paused")

Wait = Callable[[Callable[[], bool], float], bool]
"""Waits under traffic for a condition or until a monotonic deadline; says whether it was the condition."""


def mind(work: Run) -> None:
    """Stops the run where a guard has tripped; does nothing before that, and nothing a second time.

    Raises:
        GuardTripped: it has; an update that was under way is on its way back.
    """
    work.limits.look()
    guard = work.limits if work.limits.text is not None else work.guard
    if guard.text is None or guard.told:
        return
    guard.told = True
    work.trace.add("guard", name=guard.name, text=guard.text)
    if work.watch.status().state in UNDER_WAY:
        with suppress(Refused):  # the act says it
            carry_out(work, begin(work, Rollback(), Aim(work.order.subject.name)), prepares=False)
    raise GuardTripped(guard.text)


def await_rolled_back(work: Run, wait: Wait) -> None:
    """Waits until the rollback that :func:`mind` ordered has come to its end, if it ordered any."""
    if work.watch.status().state not in (*UNDER_WAY, "rollback_started"):
        return
    if not wait(lambda: _is_rolled_back(work), time.monotonic() + ROLLBACK_SECONDS):
        status = work.watch.status()
        work.trace.add("note", text=f"the rollback hadn't ended after {ROLLBACK_SECONDS:g} s: {status.message}")


def _is_rolled_back(work: Run) -> bool:
    """The rollback has ended, and those that it stopped have exited."""
    tasks = [task for task in work.watch.tasks() if task.service == work.order.subject.name]
    going = [task for task in tasks if task.desired != "running" and task.state == "running"]
    gone = all(work.watch.has_exited(task.container or "") for task in going)
    return work.watch.status().state in TURNED and gone
