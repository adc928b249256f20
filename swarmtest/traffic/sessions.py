"""A session: one user that holds a stream open, and comes back when it has lost it.

The same for each protocol of streams. What differs is how a stream is opened and held, which is a
:class:`Speaker`, one file each. A session never hides an end: each try leaves a line, also those that
got no stream.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from swarmtest.traffic.dialing import dial, means_no_connection
from swarmtest.traffic.exchange import text_of
from swarmtest.traffic.http1 import Limits
from swarmtest.traffic.settings import Kind, TrafficSettings
from swarmtest.traffic.streams import Numbers, Stop, StreamRecord, delay_seconds, drawn_from
from swarmtest.traffic.targets import Target, Targets

STREAM_ID_HEADER = "X-Stream-ID"
FARE_WELL_SECONDS = 2.0
"""How long a session waits at the end for answers to what it has sent, and for the close frame."""

GLANCE_SECONDS = 0.2
"""How long it waits for the next bytes before it looks whether the traffic is over."""


@dataclass(frozen=True, slots=True)
class Opening:
    """What a speaker opens a stream with.

    Attributes:
        lines: header lines of the session's own, each a name and a value.
        host: what stands in ``Host``.
    """

    target: Target
    path: str
    host: str
    lines: tuple[tuple[str, str], ...]
    instance_header: str
    numbers: Numbers
    limits: Limits
    rate: float


class Speaker(Protocol):
    """Opens one stream on a connected socket and holds it until it ends; fills in what became of it."""

    def __call__(self, connected: socket.socket, opening: Opening, record: StreamRecord, stop: Stop) -> None: ...


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What all sessions of a kind share.

    Attributes:
        write: takes each record when its stream is over.
        connections: gives each connection its number, shared by all clients of the process.
    """

    settings: TrafficSettings
    kind: Kind
    targets: Targets
    speak: Speaker
    write: Callable[[StreamRecord], None]
    connections: Iterator[int]


@dataclass(slots=True)
class Session:
    """One user's streams, one after the other, from the start of the traffic to its end.

    Attributes:
        numbers: what it has sent and seen, over all of its streams.
    """

    number: int
    around: Surroundings
    numbers: Numbers = field(default_factory=Numbers)

    @property
    def name(self) -> str:
        """The session's own name, the same for all its streams."""
        return f"{self.around.settings.run}-{self.around.kind.name}-{self.around.settings.process}-s{self.number}"

    def run(self, start: float, stop: Stop) -> None:
        """Holds streams until ``stop`` is set; all sessions of a kind come within the first second.

        Arguments:
            start: when the traffic begins, by the monotonic clock.
        """
        kind, draw = self.around.kind, drawn_from(self.around.settings.seed, self.around.kind.name, self.number)
        delay = start + self.number / (kind.sessions or 1) - time.monotonic()
        attempt, failures, dropped = 0, 0, None
        while not stop.wait(max(delay, 0.0)):
            attempt += 1
            record = self.stream(attempt, dropped, stop)
            if record.opened is None:
                failures += 1
            else:
                failures, dropped = 0, record.closed
            delay = delay_seconds(failures, draw.random())

    def stream(self, attempt: int, dropped: float | None, stop: Stop) -> StreamRecord:
        """One try: dials, holds what it got, and sees that it's recorded, even if the client itself breaks.

        Arguments:
            dropped: when the session's last open stream ended; None where it had none yet.
        """
        kind = self.around.kind
        record = StreamRecord(
            id=f"{self.name}-{attempt}",
            kind=kind.name,
            protocol=kind.protocol,
            session=self.name,
            attempt=attempt,
            began=time.time(),
        )
        try:
            self._hold(record, stop)
        except Exception as error:  # noqa: BLE001 - a fault of ours is an outcome too: it makes the run invalid
            record.client_outcome, record.error = "local_error", text_of(error)
        finally:
            record.closed = record.closed if record.closed is not None else time.time()
            if dropped is not None and record.opened is not None:
                record.reconnect_seconds = round(record.opened - dropped, 6)
            self.numbers.end(record)
            self.around.write(record)
        return record

    def _hold(self, record: StreamRecord, stop: Stop) -> None:
        around = self.around
        target = around.targets.pick()
        if target is None:
            record.client_outcome, record.error = "no_connection", "no target listed"
            return
        record.target = target.label
        try:
            connected = dial(target, time.monotonic() + around.settings.connect_timeout_seconds)
        except (OSError, UnicodeError) as error:
            record.client_outcome = "no_connection" if means_no_connection(error) else "local_error"
            record.error = text_of(error)
            return
        record.connection = f"c{next(around.connections)}"
        try:
            around.speak(connected, self._opening(target, record), record, stop)
        finally:
            record.closed = record.closed if record.closed is not None else time.time()
            connected.close()

    def _opening(self, target: Target, record: StreamRecord) -> Opening:
        around, last = self.around, self.numbers.last
        headers = around.kind.headers
        host = next((value for name, value in headers.items() if name.lower() == "host"), target.label)
        lines = [(name, value) for name, value in headers.items() if name.lower() != "host"]
        return Opening(
            target=target,
            path=target.prefix + around.kind.path.replace("{last}", str(last or 0)),
            host=host,
            lines=(*lines, (STREAM_ID_HEADER, record.id)),
            instance_header=around.settings.instance_header,
            numbers=self.numbers,
            limits=Limits(around.settings.timeout_seconds, around.settings.connect_timeout_seconds),
            rate=around.kind.rate,
        )
