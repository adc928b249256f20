"""A lane: one user that sends its share of one kind's requests, each at its planned instant."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from swarmtest.traffic.answers import Expectation
from swarmtest.traffic.http1 import Client, Request
from swarmtest.traffic.ledger import Ledger
from swarmtest.traffic.pacing import Pace
from swarmtest.traffic.records import Record
from swarmtest.traffic.settings import Kind, TrafficSettings


class Stop(Protocol):
    """An event that's set when no new request may start."""

    def is_set(self) -> bool: ...

    def wait(self, timeout: float) -> bool: ...


class Crew(Protocol):
    """Runs calls beside each other; ``gevent.pool.Group`` is one."""

    def spawn(self, call: Callable[[int, float], None], n: int, due: float, /) -> object: ...

    def join(self) -> object: ...


class Template:
    """The requests of one kind, but for what differs from one to the next."""

    def __init__(self, settings: TrafficSettings, kind: Kind) -> None:
        self.kind = kind
        self._id_prefix = f"{settings.run}-{kind.name}-{os.getpid()}-"
        self._id_header = settings.request_id_header
        self._body = b"x" * kind.body_bytes
        self._host = next((value for name, value in kind.headers.items() if name.lower() == "host"), None)
        lines = [f"{name}: {value}\r\n" for name, value in kind.headers.items() if name.lower() != "host"]
        if self._body or kind.method not in ("GET", "HEAD", "DELETE", "OPTIONS"):
            lines.append(f"Content-Length: {len(self._body)}\r\n")
        self._lines = "".join(lines)

    def request_id(self, n: int) -> str:
        """The ID of request ``n``; holds the process's ID, so that no two processes share one."""
        return f"{self._id_prefix}{n}"

    def request(self, request_id: str, duration_ms: int, *, keeps: bool) -> Request:
        """The request with this ID. One that opens its own connection also says that it's the last
        on it, so that the server closes first and the client doesn't run out of ports."""
        closing = "" if keeps else "Connection: close\r\n"
        return Request(
            self.kind.method,
            self.kind.path.replace("{ms}", str(duration_ms)),
            f"{self._id_header}: {request_id}\r\n{self._lines}{closing}",
            self._body,
            self._host,
        )


@dataclass(slots=True)
class Lane:
    """One user: its requests start when they're due, however long the ones before them take.

    Attributes:
        number: which lane of its kind this is.
        new_client: makes a client; a lane needs a second one only while its first is held up.
        report: told of each finished record, for Locust's own statistics.
        crew: runs requests beside each other; None sends them one after the other, as closed loops do.
    """

    number: int
    pace: Pace
    template: Template
    new_client: Callable[[], Client]
    keeps: bool
    ledger: Ledger
    report: Callable[[Record], None]
    crew: Crew | None = None
    _idle: list[Client] = field(default_factory=list)
    _clients: list[Client] = field(default_factory=list)

    def run(self, start: float, stop: Stop) -> None:
        """Sends until ``stop`` is set or nothing is left to send; what's open then is brought to its end.

        Arguments:
            start: instant 0 of the pace, by the monotonic clock.
        """
        last: int | None = None
        try:
            while True:
                n, missed = self.pace.next_of_lane(self.number, last, time.monotonic() - start)
                self.ledger.missed += missed
                if self.pace.is_over(n):
                    return
                due = start + self.pace.instant(n)
                delay = due - time.monotonic()
                if stop.wait(delay) if delay > 0 else stop.is_set():
                    return
                if self.crew is None:
                    self.send(n, due)
                else:
                    self.crew.spawn(self.send, n, due)
                last = n
        finally:
            if self.crew is not None:
                self.crew.join()
            for client in self._clients:
                client.close()

    def _client(self) -> Client:
        """The client that was used last, whose connection is warm, or a new one while all are busy."""
        if self._idle:
            return self._idle.pop()
        self._clients.append(self.new_client())
        return self._clients[-1]

    def send(self, n: int, due: float) -> None:
        """Sends request ``n`` once and sees that it's recorded, even if the client itself breaks."""
        late = time.monotonic() - due
        duration_ms = self.pace.duration_ms(n)
        request_id = self.template.request_id(n)
        request = self.template.request(request_id, duration_ms, keeps=self.keeps)
        record = Record(
            id=request_id,
            kind=self.template.kind.name,
            method=request.method,
            path=request.path,
            planned=time.time() - late,
            protocol=self.template.kind.protocol,
        )
        self.ledger.begin(record, late)
        client = self._client()
        try:
            client.send(request, record)
        except Exception as error:  # noqa: BLE001 - a fault of ours is an outcome too: it makes the run invalid
            record.client_outcome, record.done = "local_error", time.time()
            record.error = f"{type(error).__name__}: {error}"
        self._idle.append(client)
        self.ledger.end(record)
        self.report(record)


def expectation_of(settings: TrafficSettings, kind: Kind) -> Expectation:
    """What a kind's answers must look like."""
    return Expectation(
        settings.instance_header.lower().encode("latin-1"),
        settings.request_id_header.lower().encode("latin-1"),
        kind.end_marker.encode() if kind.end_marker else None,
        kind.bytes if kind.protocol == "download" else kind.expect_bytes,
        kind.sha256,
    )
