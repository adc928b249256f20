"""What's done to each instance that's told to stop while a step goes on, and its healing in time."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

from swarmtest.engine import TaskView
from swarmtest.faults import Aim
from swarmtest.plan import OnStop
from swarmtest.running import Run
from swarmtest.running.acts import Hurt, begin, carry_out, heal


@dataclass(slots=True)
class _Held:
    hurt: Hurt
    until: float


class Reactions:
    """Hurts instances at their stop signal, and heals each when its time is over.

    Arguments:
        only: the containers that it's about: those of before the step.
        clock: monotonic.
    """

    def __init__(self, work: Run, on_stop: OnStop, only: set[str], clock: Callable[[], float] = time.monotonic) -> None:
        self._work, self._on_stop, self._only, self._clock = work, on_stop, only, clock
        self._done: set[str] = set()
        self._held: list[_Held] = []

    def tick(self) -> None:
        """Looks for new stop signals and for hurts whose time is over."""
        for container in self._work.watch.signalled().keys() & self._only - self._done:
            self._done.add(container)
            if (task := self._task(container)) is not None and not self._work.watch.has_exited(container):
                self._hurt(task)
        now = self._clock()
        for held in [held for held in self._held if held.until <= now]:
            self._held.remove(held)
            heal(self._work, held.hurt)

    def close(self) -> None:
        """Heals what's still held; one that can't be healed holds up no other."""
        with ExitStack() as undo:
            while self._held:
                undo.callback(heal, self._work, self._held.pop(0).hurt)

    def _hurt(self, task: TaskView) -> None:
        done = begin(self._work, self._on_stop.fault, Aim(task.service, (task,)))
        if self._on_stop.fault.lasting:  # before it's done: an interrupt may come in between
            self._held.append(_Held(done, self._clock() + self._on_stop.seconds))
        carry_out(self._work, done, prepares=False)

    def _task(self, container: str) -> TaskView | None:
        return next((task for task in self._work.watch.tasks() if task.container == container), None)
