"""A lane: sends its share of one kind's requests, each with a record, over a connection of its own."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from swarmtest.traffic.answers import Expectation
from swarmtest.traffic.http1 import Client, Request
from swarmtest.traffic.ledger import Ledger
from swarmtest.traffic.pacing import Pace
from swarmtest.traffic.records import Record
from swarmtest.traffic.settings import Kind, TrafficSettings


class Template:
    """The requests of one kind, but for what differs from one to the next."""

    def __init__(self, settings: TrafficSettings, kind: Kind) -> None:
        self.kind = kind
        self._id_prefix = f"{settings.run}-{kind.name}-{settings.process}-"
        self._id_header = settings.request_id_header
        self._body = b"x" * kind.body_bytes
        self._host = next((value for name, value in kind.headers.items() if name.lower() == "host"), None)
        lines = [f"{name}: {value}\r\n" for name, value in kind.headers.items() if name.lower() != "host"]
        if self._body or kind.method not in ("GET", "HEAD", "DELETE", "OPTIONS"):
            lines.append(f"Content-Length: {len(self._body)}\r\n")
        self._lines = "".join(lines)
        self._timed = "{ms}" in kind.path

    def request_id(self, n: int) -> str:
        """The ID of request ``n``; holds the process's ID, so that no two processes share one."""
        return f"{self._id_prefix}{n}"

    def request(self, request_id: str, duration_ms: int, *, keeps: bool) -> Request:
        """The request with this ID. One that opens its own connection also says that it's the last
        on it, so that the server closes first and the client doesn't run out of ports."""
        closing = "" if keeps else "Connection: close\r\n"
        return Request(
            self.kind.method,
            self.kind.path.replace("{ms}", str(duration_ms)) if self._timed else self.kind.path,
            f"{self._id_header}: {request_id}\r\n{self._lines}{closing}",
            self._body,
            self._host,
        )


class Lane:
    """Where each so-many'th request of a kind goes: a connection of its own, and one more while that one is busy.

    Arguments:
        new_client: makes a client; a lane needs a second one only while its first is held up.
        keeps: whether its clients keep their connections.
    """

    def __init__(
        self, template: Template, pace: Pace, ledger: Ledger, new_client: Callable[[], Client], *, keeps: bool
    ) -> None:
        self._template, self._pace, self._ledger = template, pace, ledger
        self._new_client = new_client
        self.keeps = keeps
        self._idle: list[Client] = []
        self._closed: list[Client] = []
        self._clients: list[Client] = []

    def send(self, n: int, due: float) -> None:
        """Sends request ``n`` once and sees that it's recorded, even if the client itself breaks."""
        late = time.monotonic() - due
        request, record = self.make(n, self.request_id(n), late)
        self.once(request, record, late)

    def request_id(self, n: int) -> str:
        """The ID of request ``n``."""
        return self._template.request_id(n)

    def make(self, n: int, request_id: str, late: float) -> tuple[Request, Record]:
        """Request ``n`` under this ID, and the record of it."""
        kind = self._template.kind
        request = self._template.request(request_id, self._pace.duration_ms(n), keeps=self.keeps)
        if kind.paths:
            request = replace(request, path=kind.paths[n % len(kind.paths)])
        planned = time.time() - late
        return request, Record(
            id=request_id,
            kind=kind.name,
            method=request.method,
            path=request.path,
            planned=planned,
            protocol=kind.protocol,
        )

    def keyed(self, request: Request, header: str, key: str) -> Request:
        """The request with one more header."""
        return replace(request, lines=f"{request.lines}{header}: {key}\r\n")

    def once(self, request: Request, record: Record, late: float) -> None:
        """Sends this request, and sees that it's recorded."""
        self._ledger.begin(record, late)
        client = self._client()
        try:
            client.send(request, record)
        except Exception as error:  # noqa: BLE001 - a fault of ours is an outcome too: it makes the run invalid
            record.client_outcome, record.done = "local_error", time.time()
            record.error = f"{type(error).__name__}: {error}"
        self._rest(client)
        self._ledger.end(record)

    def _rest(self, client: Client) -> None:
        """Keeps the connection of a client for the next request, unless there are enough of them."""
        if len(self._idle) < self._pace.idle:
            self._idle.append(client)
        else:
            client.close()
            self._closed.append(client)

    def _client(self) -> Client:
        """The client that was used last, whose connection is warm, or one without while all are busy."""
        if self._idle:
            return self._idle.pop()
        if self._closed:
            return self._closed.pop()
        self._clients.append(self._new_client())
        return self._clients[-1]

    def close(self) -> None:
        """Closes the connections."""
        for client in self._clients:
            client.close()


def expectation_of(settings: TrafficSettings, kind: Kind) -> Expectation:
    """What a kind's answers must look like."""
    return Expectation(
        settings.instance_header.lower().encode("latin-1"),
        settings.request_id_header.lower().encode("latin-1"),
        kind.end_marker.encode() if kind.end_marker else None,
        kind.bytes if kind.protocol == "download" else kind.expect_bytes,
        kind.sha256,
    )
