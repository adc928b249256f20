"""The logs of containers: which lines are records, and a reader that follows one to its end."""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from typing import Any

import msgspec

from swarmtest.engine.streams import LogStream
from swarmtest.errors import EngineError
from swarmtest.events import TraceWriter

LATEST = 1e11
"""Epoch seconds beyond which a time in a log line isn't one."""

PLAIN_LINES = 200
"""How many log lines that aren't records are kept of a container."""

_OF_REQUESTS = ("start", "intent", "commit", "stored", "finish")

_OF_INSTANCES = ("booted", "warm", "asked", "unready", "signal", "closed_listener", "drained", "exiting")

RECORDS = frozenset((*_OF_REQUESTS, *_OF_INSTANCES))


class Follower:
    """Reads one container's log to its end."""

    def __init__(self, trace: TraceWriter, log: LogStream, container: str, service: str) -> None:
        self._trace, self._log, self._container, self.service = trace, log, container, service
        self._ended = threading.Event()
        self.tail: deque[str] = deque(maxlen=20)
        self.last = time.monotonic()
        self.lines = 0
        self.said: Counter[str] = Counter()
        self.thread = threading.Thread(target=self._read, name=f"log-{container[:12]}", daemon=True)

    def end(self) -> None:
        """Closes the stream of a container that lives on."""
        self._ended.set()
        self._log.close()
        self.thread.join(timeout=2.0)

    def _read(self) -> None:
        trace = self._trace
        reason: str | None = "its reader broke"
        trace.add("log_stream", container=self._container, service=self.service, edge="opened")
        try:
            for line in self._log:
                self.lines += 1
                self.last = time.monotonic()
                self._take(line)
            reason = None
        except EngineError as error:
            reason = str(error)
        finally:
            trace.add(
                "log_stream",
                container=self._container,
                service=self.service,
                edge="ended",
                complete=reason is None,
                lines=self.lines,
                reason=reason,
                lives=self._ended.is_set(),
            )

    def _take(self, line: bytes) -> None:
        kind, fields = parse_line(line)
        trace = self._trace
        if kind == "record" and fields["event"] in _OF_INSTANCES:
            self.said[str(fields["event"])] += 1
        if kind != "log":
            trace.add(kind, **{**fields, "container": self._container})
            return
        text = line.decode(errors="replace")[:500]
        self.tail.append(text)
        if self.lines <= PLAIN_LINES:
            trace.add("log", container=self._container, service=self.service, line=text)


def parse_line(line: bytes) -> tuple[str, dict[str, Any]]:
    """The kind of trace event that a log line is, and its fields; ``log`` where it's none of ours."""
    if line[:1] == b"{":
        try:
            fields = msgspec.json.decode(line, type=dict[str, Any])
        except (msgspec.DecodeError, RecursionError):
            return "log", {}
        event, t = fields.pop("event", None), fields.get("t")
        if fields.pop("v", None) == 1 and isinstance(t, (int, float)) and 0 < t < LATEST:
            fields.pop("kind", None)
            if isinstance(event, str) and event in RECORDS:
                return "record", {"event": event, **fields}
            if event in ("names", "proxied"):
                return str(event), fields
    return "log", {}
