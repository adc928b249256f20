"""More of the same traffic for some seconds, from the moment of least capacity on.

That's the moment in which the first of the old instances goes, as Swarm sees it: with stop-first fewer
than all replicas are there from then on, with start-first it's as low as it gets. The burst is sent by
a child of its own, which has started and calibrated before the step does anything.

A step with a burst does, in this order::

    burster = undo.enter_context(Burster(work, step.burst, old))   # old: the containers of before the step
    until(work, traffic, burster.ready, time.monotonic() + READY_SECONDS)
    undo.enter_context(work.ticking(burster.tick))
    …                                                              # hurt, and wait until it's steady and burster.over

Leaving the block ends a burst that's still going and waits for its last answer, or, where an error other
than the guard's leaves it, kills the child.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from types import TracebackType
from typing import Self

import msgspec

from swarmtest.errors import TrafficError
from swarmtest.plan import Burst
from swarmtest.running import Run
from swarmtest.running.clients import await_answers, start_client
from swarmtest.running.guard import GuardTripped
from swarmtest.traffic.settings import TrafficSettings

CLIENT = "burst"
READY_SECONDS = 60.0


class Burster:
    """One burst of one step.

    Arguments:
        old: the containers of before the step; none for a step that hurts nobody, whose burst begins at once.
        clock: monotonic.
    """

    def __init__(
        self, work: Run, burst: Burst, old: Iterable[str | None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._work, self._burst, self._old, self._clock = work, burst, frozenset(old), clock
        self._undo = ExitStack()
        self._until: float | None = None
        self._stopped = False
        work.bursts += 1
        number = work.bursts
        client = CLIENT if number == 1 else f"{CLIENT} {number}"
        self._traffic = start_client(work, self._undo, client, lambda settings: _more(settings, burst, number))

    def ready(self) -> bool:
        """Whether the child has proved that it can count.

        Raises:
            TrafficError: it can't, or it's gone.
        """
        if self._traffic.last("calibrated") is None and self._traffic.exit_code is None:
            return False
        self._traffic.wait_until_calibrated(1.0)
        return True

    @property
    def over(self) -> bool:
        """Whether all of it was sent; its last answers may still be on their way."""
        return self._stopped

    def tick(self) -> None:
        """Begins the burst at its moment, and ends it after its time.

        Raises:
            TrafficError: the child died.
        """
        if self._traffic.exit_code is not None and not self._stopped:
            raise TrafficError(f"the burst's child ended in mid-burst; see {self._traffic.log_file}")
        if self._until is None:
            if not self._old or self._someone_goes():
                self._traffic.go()
                self._until = self._clock() + self._burst.seconds
        elif not self._stopped and self._clock() >= self._until:
            self._stop()

    def _someone_goes(self) -> bool:
        up = {task.container for task in self._work.watch.tasks() if task.up}
        return not self._old <= up

    def _stop(self) -> None:
        self._stopped = True
        self._traffic.stop()

    def close(self) -> None:
        """Ends the burst, and returns when its last answer has come; says where it never began."""
        if self._until is None:
            self._work.trace.add("note", text="the burst wasn't sent: no instance of before the step went")
        if not self._stopped:
            self._stop()
        await_answers(self._work, self._traffic)
        self._undo.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        with self._undo:
            if error is None or isinstance(error, GuardTripped):
                self.close()


def _more(settings: TrafficSettings, burst: Burst, number: int) -> TrafficSettings:
    """What the burst's child is told: the same requests, so much faster, under IDs that say that they're the burst's.

    Where a rate changes, the burst is measured by the highest, since it begins at a moment of its own. Workers on
    other machines have a master already: a burst comes from this one.
    Streams are held by the steady traffic alone: a session that comes for some seconds only shows nothing of a drain.
    """
    kinds = [
        msgspec.structs.replace(kind, rate=kind.rate * (burst.factor - 1.0), count=None, stages=[], repeats=False)
        for kind in settings.kinds
        if not kind.is_stream
    ]
    return msgspec.structs.replace(
        settings, workers=0, run=f"{settings.run}.{CLIENT}{number}", seed=settings.seed + number, kinds=kinds
    )
