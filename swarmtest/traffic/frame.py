"""What a process of Locust's is to us: the only client, the master of several, or a worker here or elsewhere."""

from __future__ import annotations

from typing import Any

import gevent  # type: ignore[import-untyped]
from locust.runners import MasterRunner, WorkerRunner

from swarmtest.traffic.child import Session
from swarmtest.traffic.distributed import AwayLink, Master, MasterLink
from swarmtest.traffic.pacing import share_of
from swarmtest.traffic.parent import Parent
from swarmtest.traffic.remote import Away
from swarmtest.traffic.settings import TrafficSettings


class Frame:
    """What this process is in Locust's frame: the only one, the master of several, or a worker.

    Made before Locust forks its workers; what a process has for itself is made when Locust has started in it.

    Arguments:
        settings: None in a worker on another machine, which is told by the master.
    """

    def __init__(self, settings: TrafficSettings | None) -> None:
        self._settings = settings
        self._parent = Parent()
        self._part: Session | Master

    def prepare(self, environment: Any, **_: Any) -> None:
        """Gets ready to send, or to command; Locust waits for this before it starts a user."""
        runner, settings = environment.runner, self._settings
        if settings is None:
            self._part = _session_away(runner)
        elif isinstance(runner, MasterRunner):
            self._part = Master(self._parent, settings)
        elif isinstance(runner, WorkerRunner):
            self._part = Session(share_of(settings, runner.worker_index, settings.parts), MasterLink(runner))
        else:
            self._part = Session(settings, self._parent)
        self._part.prepare(environment)

    def live(self) -> None:
        """A user's life."""
        self._part.live()

    def finish(self, **_: Any) -> None:
        """Ends the traffic in good order, however Locust's own end came about."""
        self._part.finish()


def _session_away(runner: Any) -> Session:
    """One on another machine than the master's: asks what to send, measures its clock, and sends on what it writes."""
    away = Away(runner)
    settings = away.settings()
    link = AwayLink(runner, away)
    link.tell("clock", **away.clock())
    gevent.spawn(away.carry_on)
    return Session(settings, link)
