"""Workers on other machines: what they're told, by how much their clocks are off, and how their files come home.

Everything goes over Locust's own connection between master and worker. A worker knows nothing at its start but where
the master is. It writes into a folder of its own; what's new in it is sent on again and again, with all times turned
into the master's.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import gevent  # type: ignore[import-untyped]
import msgspec
from gevent.queue import Empty, Queue  # type: ignore[import-untyped]

from swarmtest.traffic.clocks import ahead_by, turned
from swarmtest.traffic.pacing import share_of
from swarmtest.traffic.settings import TrafficSettings

HELLO, SETTINGS, ASK, TIME, PIECE = (f"swarmtest {name}" for name in ("hello", "settings", "ask", "time", "piece"))
PATIENCE_SECONDS, AGAIN_SECONDS = 60.0, 0.5
CARRY_SECONDS = 0.5
LOOKS = 20
"""So often a worker asks for the time; the quickest answer counts."""
MOST_BYTES = 2**20
"""Longest piece of a file that's sent as one message."""


class Home:
    """The master's side: hands the settings out, tells the time, and takes what comes.

    Arguments:
        settings: of all workers together.
    """

    def __init__(self, runner: Any, settings: TrafficSettings) -> None:
        self._runner, self._settings = runner, settings
        self._parts: dict[str, int] = {}
        for name, take in ((HELLO, self._greet), (ASK, self._tell_time), (PIECE, self._keep)):
            runner.register_message(name, take)

    def _greet(self, msg: Any, **_: Any) -> None:
        part = self._parts.setdefault(msg.node_id, len(self._parts))
        if part < self._settings.parts:
            share = share_of(self._settings, part, self._settings.parts)
            self._runner.send_message(SETTINGS, msgspec.json.encode(share), msg.node_id)

    def _tell_time(self, msg: Any, **_: Any) -> None:
        self._runner.send_message(TIME, {"asked": msg.data, "t": time.time()}, msg.node_id)

    def _keep(self, msg: Any, **_: Any) -> None:
        # A name, and no way: it's of this folder, whatever the worker says.
        path = Path(self._settings.out) / Path(msg.data["name"]).name
        with path.open("ab") as file:
            file.write(msg.data["lines"])


class Away:
    """The worker's side."""

    def __init__(self, runner: Any) -> None:
        self._runner = runner
        self._settings, self._times = Queue(), Queue()
        self._sent: Counter[Path] = Counter()
        self._folder, self._part = Path(), 0
        self.ahead_seconds = 0.0
        runner.register_message(SETTINGS, lambda msg, **_: self._settings.put(msg.data))
        runner.register_message(TIME, lambda msg, **_: self._times.put(msg.data))

    def settings(self) -> TrafficSettings:
        """What this worker is to send, with a folder of its own; raises ``RuntimeError`` when nobody says it."""
        for _ in range(int(PATIENCE_SECONDS / AGAIN_SECONDS)):
            self._runner.send_message(HELLO)
            try:
                told = msgspec.json.decode(self._settings.get(timeout=AGAIN_SECONDS), type=TrafficSettings)
            except Empty:
                continue
            self._folder, self._part = Path(tempfile.mkdtemp(prefix="swarmtest-")), told.part
            atexit.register(shutil.rmtree, self._folder, ignore_errors=True)
            return msgspec.structs.replace(told, out=str(self._folder))
        raise RuntimeError(f"the master has no work for this one: nothing heard for {PATIENCE_SECONDS:g} s")

    def clock(self) -> dict[str, Any]:
        """By how many seconds this clock is ahead of the master's, and how surely: half of the way there and back."""
        looks = []
        for _ in range(LOOKS):
            self._runner.send_message(ASK, time.time())
            told = self._times.get(timeout=PATIENCE_SECONDS)
            looks.append((told["asked"], told["t"], time.time()))
        ahead, error = ahead_by(looks)
        # What's no more than the error may as well be none, and lines needn't be written anew for it.
        self.ahead_seconds = ahead if abs(ahead) > error else 0.0
        return {"part": self._part, "seconds": round(ahead, 6), "error": round(error, 6)}

    def carry(self) -> None:
        """Sends the whole lines that were written since the last time."""
        for path in sorted(self._folder.glob("*.jsonl")):
            with path.open("rb") as file:
                file.seek(self._sent[path])
                whole, end, _ = file.read().rpartition(b"\n")
            self._sent[path] += len(whole) + len(end)
            name, waiting = f"{path.stem}-{self._part}{path.suffix}", bytearray()
            for line in whole.splitlines():
                waiting += turned(line, self.ahead_seconds) + b"\n"
                if len(waiting) > MOST_BYTES:
                    self._runner.send_message(PIECE, {"name": name, "lines": bytes(waiting)})
                    waiting.clear()
            if waiting:
                self._runner.send_message(PIECE, {"name": name, "lines": bytes(waiting)})

    def carry_on(self) -> None:
        """Does so again and again."""
        while True:
            gevent.sleep(CARRY_SECONDS)
            self.carry()
