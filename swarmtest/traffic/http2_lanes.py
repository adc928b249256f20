"""Lanes of HTTP/2: several of them share a connection, and each sends its requests on streams of it.

A kept connection carries so many streams at a time, for as long as it lives; a fresh one carries so many in all.
Both are needed: kept ones meet the GOAWAY of an instance that's stopped, and fresh ones reach the instances that
came meanwhile.
"""

from __future__ import annotations

import time
from dataclasses import replace

from hpack import NeverIndexedHeaderTuple

from swarmtest.traffic.http2_sharing import Connections
from swarmtest.traffic.http2_stream import Header, StreamRequest
from swarmtest.traffic.ledger import Ledger
from swarmtest.traffic.pacing import Pace
from swarmtest.traffic.records import Record
from swarmtest.traffic.settings import Kind, TrafficSettings


class StreamTemplate:
    """The requests of one kind, but for what differs from one to the next."""

    def __init__(self, settings: TrafficSettings, kind: Kind) -> None:
        self.kind = kind
        self._id_prefix = f"{settings.run}-{kind.name}-{settings.process}-"
        self._id_header = settings.request_id_header.lower().encode("latin-1")
        self._method = kind.method.encode("latin-1")
        self._body = b"x" * kind.body_bytes
        self._host = next((value for name, value in kind.headers.items() if name.lower() == "host"), None)
        self._varies = "{ms}" in kind.path or bool(kind.paths)
        self._headers: list[Header] = [
            (name.lower().encode("latin-1"), value.encode("latin-1"))
            for name, value in kind.headers.items()
            if name.lower() != "host"
        ]
        if self._body or kind.method not in ("GET", "HEAD", "DELETE", "OPTIONS"):
            self._headers.append((b"content-length", str(len(self._body)).encode()))

    def request_id(self, n: int) -> str:
        """The ID of request ``n``; holds the process's ID, so that no two processes share one."""
        return f"{self._id_prefix}{n}"

    def request(self, request_id: str, duration_ms: int) -> StreamRequest:
        """The request with this ID."""
        named = NeverIndexedHeaderTuple(self._id_header, request_id.encode("latin-1"))
        path = self.kind.path.replace("{ms}", str(duration_ms))
        headers = [named, *self._headers]
        return StreamRequest(self._method, path, headers, self._body, self._host, self._varies)


class StreamLane:
    """Where each so-many'th request of a kind goes: a stream of a connection that other lanes have, too.

    Arguments:
        shared: the connections; the last one of their lanes that's closed closes them.
    """

    def __init__(self, template: StreamTemplate, pace: Pace, ledger: Ledger, shared: Connections) -> None:
        self._template, self._pace, self._ledger, self._shared = template, pace, ledger, shared
        shared.users += 1

    def send(self, n: int, due: float) -> None:
        """Sends request ``n`` once and sees that it's recorded, even if the client itself breaks."""
        late = time.monotonic() - due
        request, record = self.make(n, self.request_id(n), late)
        self.once(request, record, late)

    def request_id(self, n: int) -> str:
        """The ID of request ``n``."""
        return self._template.request_id(n)

    def make(self, n: int, request_id: str, late: float) -> tuple[StreamRequest, Record]:
        """Request ``n`` under this ID, and the record of it."""
        kind = self._template.kind
        request = self._template.request(request_id, self._pace.duration_ms(n))
        if kind.paths:
            request = replace(request, path=kind.paths[n % len(kind.paths)])
        planned = time.time() - late
        return request, Record(
            id=request_id, kind=kind.name, method=kind.method, path=request.path, planned=planned, protocol="h2"
        )

    def keyed(self, request: StreamRequest, header: str, key: str) -> StreamRequest:
        """The request with one more header."""
        added = NeverIndexedHeaderTuple(header.lower().encode("latin-1"), key.encode("latin-1"))
        return replace(request, headers=[*request.headers, added])

    def once(self, request: StreamRequest, record: Record, late: float) -> None:
        """Sends this request, and sees that it's recorded."""
        self._ledger.begin(record, late)
        try:
            self._shared.send(request, record)
        except Exception as error:  # noqa: BLE001 - a fault of ours is an outcome too: it makes the run invalid
            record.client_outcome, record.done = "local_error", time.time()
            record.error = f"{type(error).__name__}: {error}"
        self._ledger.end(record)

    def close(self) -> None:
        """Leaves the connections."""
        self._shared.leave()
