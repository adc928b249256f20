"""Several processes as one client: Locust's master hands commands down, its workers send and report.

The master sends no request. It stands between the parent, who knows of one child only, and the workers: each
command goes to all of them, and what they say is added up before it's passed on. Each worker is a whole client:
it calibrates, has its share of every kind, and its own file of records.
"""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Iterator
from typing import Any

import gevent  # type: ignore[import-untyped]
from gevent.queue import Queue  # type: ignore[import-untyped]

from swarmtest.traffic.flag import Flag
from swarmtest.traffic.merging import together
from swarmtest.traffic.parent import Parent
from swarmtest.traffic.remote import Away, Home
from swarmtest.traffic.settings import TrafficSettings

log = logging.getLogger("swarmtest.traffic")

COMMAND, WORD = "swarmtest command", "swarmtest word"
CALIBRATION_FAILED = 3
LOST_SECONDS = 3.0
"""So long a worker's last word may be on its way when its process has ended."""


class MasterLink:
    """A worker's way to the master, in the place of the pipe to the parent."""

    def __init__(self, runner: Any) -> None:
        self._runner = runner
        self._commands = Queue()
        runner.register_message(COMMAND, lambda msg, **_: self._commands.put(msg.data))

    def tell(self, event: str, **fields: Any) -> None:
        """Sends one message."""
        self._runner.send_message(WORD, {"event": event, **fields})

    def commands(self) -> Iterator[str]:
        """What the master passes on."""
        while True:
            yield self._commands.get()


class AwayLink(MasterLink):
    """The same from another machine: what was written is at the master's before the word that it's complete."""

    def __init__(self, runner: Any, away: Away) -> None:
        super().__init__(runner)
        self._away = away

    def tell(self, event: str, **fields: Any) -> None:
        """Sends one message, and the time in it by the master's clock."""
        if event == "stopped":
            self._away.carry()
        if isinstance(t := fields.get("t"), float):
            fields["t"] = t - self._away.ahead_seconds
        super().tell(event, **fields)


class Master:
    """The process that sends nothing.

    Arguments:
        settings: what all workers send together.
    """

    def __init__(self, parent: Parent, settings: TrafficSettings) -> None:
        self._parent, self._settings, self._workers = parent, settings, settings.parts
        self._words: dict[str, dict[str, dict[str, Any]]] = {}
        self._finished, self._stopped = Flag(), False
        self._environment: Any = None

    def prepare(self, environment: Any) -> None:
        """Listens to both sides; a user for each worker is what Locust starts."""
        self._environment = environment
        environment.runner.register_message(WORD, self._hear)
        if self._settings.workers:
            Home(environment.runner, self._settings)
        environment.parsed_options.num_users = environment.parsed_options.spawn_rate = self._workers
        gevent.signal_handler(signal.SIGTERM, self._told_to_end)
        for work in (self._obey, self._tick):
            gevent.spawn(work)

    def live(self) -> None:
        """Never called: users live in workers."""

    def finish(self) -> None:
        """Ends the traffic in good order, however Locust's own end came about."""
        self._command("stop")
        self._finished.wait()

    def _command(self, command: str) -> None:
        if not self._finished.is_set():
            self._environment.runner.send_message(COMMAND, command)

    def _told_to_end(self) -> None:
        # A second signal says that there's no time to wait for open requests.
        self._command("hurry" if self._stopped else "stop")
        self._stopped = True

    def _obey(self) -> None:
        for command in self._parent.commands():
            self._command(command)

    def _hear(self, msg: Any, **_: Any) -> None:
        word = dict(msg.data)
        event = str(word.pop("event"))
        said = self._words.setdefault(event, {})
        said[msg.node_id] = word
        if event == "clock":
            self._parent.tell(event, **word)
        elif event == "failed":
            self._fail(str(word.get("error")))
        elif event != "tick" and len(said) == self._workers:
            self._parent.tell(event, **together(said.values()), processes=self._workers)
            if event == "calibrated" and not all(word["ok"] for word in said.values()):
                self._end(CALIBRATION_FAILED)
            elif event == "stopped":
                self._end(1 if "failed" in self._words else 0)

    def _tick(self) -> None:
        """Once a second the sum of what the workers said last, and a look whether all of them are still there."""
        while not self._finished.is_set():
            gevent.sleep(1.0)
            last = {**self._words.get("tick", {}), **self._words.get("stopped", {})}
            if last and not self._finished.is_set():
                self._parent.tell("tick", **(together(last.values()) | {"t": time.time()}))
            if self._lost():
                gevent.sleep(LOST_SECONDS)
                if not self._finished.is_set() and self._lost():  # one that was only late is back
                    self._fail("a worker process was lost")
                    self._end(1)

    def _lost(self) -> bool:
        """Whether a worker has ended; it isn't reaped here, as that's Locust's own business."""
        try:
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            ended = False
        return ended or bool(self._environment.runner.clients.missing)

    def _fail(self, error: str) -> None:
        self._words.setdefault("failed", {})
        log.warning("the traffic failed: %s", error)
        self._parent.tell("failed", error=error, t=time.time())
        self._command("hurry")

    def _end(self, code: int) -> None:
        if self._finished.is_set():
            return
        self._finished.set()
        self._environment.process_exit_code = code
        gevent.spawn(self._environment.runner.quit)
