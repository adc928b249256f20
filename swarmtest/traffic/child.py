"""What runs inside Locust and sends: from its calibration to its last answer.

Locust starts a user in each process; when its work begins and ends is decided here, since Locust by itself
kills users with their requests open. The order of a run: calibration, "go", requests, "stop", the last
answers, ``stopped``, exit.
"""

from __future__ import annotations

import gc
import itertools
import logging
import resource
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import gevent  # type: ignore[import-untyped]
from gevent.pool import Group  # type: ignore[import-untyped]

from swarmtest.traffic.body_calibration import with_bodies
from swarmtest.traffic.calibration import calibrate
from swarmtest.traffic.distributed import CALIBRATION_FAILED
from swarmtest.traffic.flag import Flag
from swarmtest.traffic.http2_calibration import with_http2
from swarmtest.traffic.ledger import MOST_OPEN, Ledger
from swarmtest.traffic.processor import ProcessorUse, processors
from swarmtest.traffic.protocols import Runs, Tools, lanes_for
from swarmtest.traffic.records import RecordFile
from swarmtest.traffic.settings import TrafficSettings
from swarmtest.traffic.stream_calibration import with_streams
from swarmtest.traffic.targets import FrontDoor, ListedTargets, Target, Targets

log = logging.getLogger("swarmtest.traffic")

TARGETS_POLL_SECONDS = 0.05
READY_SECONDS = 60.0
KEEP_SECONDS = 0.02
"""So long a record may wait to be written, with others of its time; a SIGKILL costs what waits."""
SPARE_FILES = 200
"""File descriptors that aren't for requests."""
MARGIN_SECONDS = 5.0
"""How much longer than its longest request the child waits for open ones after "stop"."""


class Link(Protocol):
    """The way to whoever gives the commands."""

    def tell(self, event: str, **fields: Any) -> None: ...

    def commands(self) -> Iterator[str]: ...


class Session:
    """One run of the child, from its settings to its exit code.

    Arguments:
        link: the pipe to the parent, or the way to Locust's master.
    """

    def __init__(self, settings: TrafficSettings, link: Link) -> None:
        self.settings = settings
        self.environment: Any = None
        self._parent = link
        self._file = RecordFile(Path(settings.out))
        self._ledger = Ledger(self._file.write, room())
        self._targets: Targets
        if settings.url is not None:
            self._targets = FrontDoor(Target.from_url(settings.url))
        else:
            self._targets = ListedTargets(Path(settings.targets_file or ""))
        # No two connections of a run have the same number.
        numbers = itertools.count(1 + settings.part * 1_000_000_000)
        self._users = list(lanes_for(Tools(settings, self._targets, self._ledger, Group, numbers)))
        self._start = 0.0
        self._failed: str | None = None
        self._go, self._ready, self._started = Flag(), Flag(), Flag()
        self._stop, self._over, self._finished = Flag(), Flag(), Flag()

    def prepare(self, environment: Any) -> None:
        """Calibrates, then listens to the parent; Locust waits for this before it spawns users."""
        self.environment = environment
        gevent.signal_handler(signal.SIGTERM, self._told_to_end)
        shot = calibrate(self.settings.instance_header, self.settings.request_id_header)
        shot = with_bodies(with_http2(with_streams(shot, self.settings), self.settings), self.settings)
        self._parent.tell(
            "calibrated", ok=shot.ok, expected=shot.expected, counted=shot.counted, wrong=shot.wrong, t=time.time()
        )
        if not shot.ok:
            sys.exit(CALIBRATION_FAILED)
        # What's there by now stays: a search through all of Locust for what can be freed would hold up the traffic.
        gc.collect()
        gc.freeze()
        for work in (self._obey, self._follow_targets, self._keep_records, self._direct):
            gevent.spawn(work)

    def live(self) -> None:
        """The life of this process's only user of Locust's: all its work, beside each other, to the end."""
        self._ready.set()
        self._started.wait()
        crew = Group()
        for user in self._users:
            crew.spawn(self._work, user)
        crew.join()
        self._over.set()

    def _work(self, user: Runs) -> None:
        try:
            user.run(self._start, self._stop)
        except Exception as error:
            log.exception("a user broke")
            self._break(error)

    def _break(self, error: Exception) -> None:
        """Ends traffic that nobody could account for any more."""
        self._failed = f"{type(error).__name__}: {error}"
        self._stop.set()

    def finish(self) -> None:
        """Ends the traffic in good order, however Locust's own end came about."""
        self._end()
        self._finished.wait()

    def _end(self) -> None:
        self._stop.set()
        self._go.set()

    def _told_to_end(self) -> None:
        # A second signal says that there's no time to wait for open requests.
        if self._stop.is_set():
            self._over.set()
        self._end()

    def _obey(self) -> None:
        for command in self._parent.commands():
            if command == "go":
                self._go.set()
            elif command == "stop":
                self._end()
            elif command == "hurry":
                self._end()
                self._over.set()
            else:
                log.warning("unknown command %r: expected go, stop or hurry", command)

    def _follow_targets(self) -> None:
        while isinstance(self._targets, ListedTargets) and not self._over.is_set():
            if problem := self._targets.refresh():
                log.warning("%s", problem)
            gevent.sleep(TARGETS_POLL_SECONDS)

    def _keep_records(self) -> None:
        while True:
            gevent.sleep(KEEP_SECONDS)
            try:
                self._file.flush()
            except OSError as error:
                self._break(error)
                return

    def _direct(self) -> None:
        try:
            self._run()
        except Exception as error:
            log.exception("the traffic broke")
            self._failed = f"{type(error).__name__}: {error}"
        finally:
            if self._failed is not None:
                self._parent.tell("failed", error=self._failed, t=time.time())
            self.environment.process_exit_code = 0 if self._failed is None else 1
            self.environment.stop_timeout = 0
            self._finished.set()
            self.environment.runner.quit()

    def _run(self) -> None:
        self._go.wait()
        if not self._ready.wait(READY_SECONDS) and not self._stop.is_set():
            raise RuntimeError(f"Locust started no user within {READY_SECONDS:g} s")
        self._start, use = time.monotonic(), ProcessorUse()
        if not self._stop.is_set():
            self._parent.tell("started", t=time.time())
        self._started.set()
        self._tick_until(self._stop, use, None)
        # Of the time in which requests were sent: the wait for the last answers would hide how busy it was.
        machine_share = use.machine_since_start()
        longest = self.settings.timeout_seconds + MARGIN_SECONDS
        self._tick_until(self._over, use, time.monotonic() + longest)
        if left := self._ledger.give_up():
            log.warning("%d requests were still open at the end", left)
        self._tell_stopped(use, machine_share)

    def _tick_until(self, event: Flag, use: ProcessorUse, limit: float | None) -> None:
        while limit is None or time.monotonic() < limit:
            into = (time.monotonic() - self._start) % 1.0
            if event.wait(1.0 - into):
                return
            late = self._ledger.recent_lateness()
            self._parent.tell(
                "tick",
                **self._ledger.counts(),
                late_ms_p99=late.percentile_ms(0.99),
                cpu_share=use.since_last(),
                machine_share=use.machine_since_last(),
            )

    def _tell_stopped(self, use: ProcessorUse, machine_share: float | None) -> None:
        late = self._ledger.whole_lateness()
        use.since_last()
        self._file.flush()
        self._parent.tell(
            "stopped",
            **self._ledger.counts(),
            planned=self._ledger.sent + self._ledger.missed,
            late_ms_p99=late.percentile_ms(0.99),
            late_ms_max=round(late.largest_seconds * 1000, 3),
            cpu_share=use.since_start(),
            cpu_share_max=max(use.largest, use.since_start()),
            machine_share=machine_share,
            processors=processors(),
        )


def room() -> int:
    """So many requests may be open at once in this process, each with a socket."""
    return max(1, min(MOST_OPEN, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - SPARE_FILES))
