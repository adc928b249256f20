"""The calibration shot of uploads and downloads: bodies that are cut, shortened and altered, and what must be said.

Only fired where such kinds are in the mix. Each way has a door of its own on loopback, and the server counts what
reaches it, so that a request that's sent again behind the client's back is seen.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import socket
import threading
import time
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from swarmtest.traffic.answers import Expectation
from swarmtest.traffic.calibration import Calibration
from swarmtest.traffic.download import DownloadClient, DownloadTemplate
from swarmtest.traffic.firing_range import INSTANCE
from swarmtest.traffic.http1 import Client, Limits
from swarmtest.traffic.lanes import Template
from swarmtest.traffic.records import Record
from swarmtest.traffic.settings import Kind, TrafficSettings
from swarmtest.traffic.targets import FrontDoor, Target
from swarmtest.traffic.upload import UploadClient, UploadTemplate

LENGTH = 200_000
TIMES = 2
_HALF = LENGTH // 2
_PATIENCE_SECONDS = 10.0
_NOISE = bytes(range(256)) * (LENGTH // 256 + 1)


@dataclass(frozen=True, slots=True)
class Visit:
    """One request as a way of treating it sees it."""

    connection: socket.socket
    headers: bytes

    def read(self, length: int) -> bytes:
        """So many bytes of the body, fewer where it ends before."""
        body = b""
        while len(body) < length and (more := self.connection.recv(min(65536, length - len(body)))):
            body += more
        return body

    def say(self, body: bytes, length: int | None = None, more: str = "") -> None:
        """Answers with success; ``length`` is what the head claims."""
        claimed = len(body) if length is None else length
        head = f"HTTP/1.1 200 OK\r\nContent-Length: {claimed}\r\nConnection: close\r\n{more}".encode("latin-1")
        self.connection.sendall(head + self.headers + b"\r\n" + body)

    def stored(self, length: int, sha256: str) -> None:
        """Answers what was stored."""
        self.say(f'{{"stored": {length}, "sha256": "{sha256}"}}'.encode())

    def content(self, body: bytes, promised: bytes) -> None:
        """Answers with a content, and with the checksum of another or of that."""
        digest = b64encode(hashlib.sha256(promised).digest()).decode()
        self.say(body, len(promised), f"Repr-Digest: sha-256=:{digest}:\r\n")


def _store(visit: Visit) -> None:
    body = visit.read(LENGTH)
    visit.stored(len(body), hashlib.sha256(body).hexdigest())


def _store_less(visit: Visit) -> None:
    body = visit.read(LENGTH)[:_HALF]
    visit.stored(len(body), hashlib.sha256(body).hexdigest())


def _store_another(visit: Visit) -> None:
    visit.stored(len(visit.read(LENGTH)), hashlib.sha256(_NOISE).hexdigest())


def _say_thanks(visit: Visit) -> None:
    visit.read(LENGTH)
    visit.say(b"thanks")


def _answer_early(visit: Visit) -> None:
    body = visit.read(_HALF)
    visit.stored(LENGTH, hashlib.sha256(body).hexdigest())
    visit.read(LENGTH)


WAYS: dict[str, tuple[str, Callable[[Visit], object], str]] = {
    "stored": ("upload", _store, "complete, matched"),
    "stored_less": ("upload", _store_less, "complete, not matched"),
    "stored_another": ("upload", _store_another, "complete, not matched"),
    "answered_early": ("upload", _answer_early, "complete, not matched"),
    "cut_in_upload": ("upload", lambda visit: visit.read(_HALF), "closed_unanswered"),
    "untold": ("upload", _say_thanks, "complete, untold"),
    "whole": ("download", lambda visit: visit.content(_NOISE[:LENGTH], _NOISE[:LENGTH]), "complete, matched"),
    "truncated": ("download", lambda visit: visit.content(_NOISE[:_HALF], _NOISE[:LENGTH]), "closed_in_body"),
    "altered": (
        "download",
        lambda visit: visit.content(_NOISE[: LENGTH - 1] + b"!", _NOISE[:LENGTH]),
        "complete, not matched",
    ),
}
"""Of each way the protocol, what the server does, and what the client must say of it."""


class BodyRange:
    """A server on loopback for as long as the ``with`` block lasts.

    Attributes:
        hits: how many requests each way was sent.
    """

    def __init__(self, instance_header: str) -> None:
        self._headers = f"{instance_header}: {INSTANCE}\r\n".encode("latin-1")
        self._open = contextlib.ExitStack()
        self.hits: Counter[str] = Counter()

    def __enter__(self) -> BodyRange:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def door_of(self, way: str) -> Target:
        """Opens a door for a way."""
        listener = self._open.enter_context(socket.create_server(("127.0.0.1", 0)))
        self._open.callback(_wake, listener)
        threading.Thread(target=self._accept, args=(listener, way), daemon=True).start()
        return Target.from_text(f"127.0.0.1:{listener.getsockname()[1]}")

    def _accept(self, listener: socket.socket, way: str) -> None:
        with contextlib.suppress(OSError):
            while True:
                accepted, _ = listener.accept()
                with accepted, contextlib.suppress(OSError):
                    self._treat(accepted, way)

    def _treat(self, accepted: socket.socket, way: str) -> None:
        accepted.settimeout(_PATIENCE_SECONDS)
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            if not (byte := accepted.recv(1)):
                return
            head += byte
        self.hits[way] += 1
        WAYS[way][1](Visit(accepted, self._headers))


def _wake(listener: socket.socket) -> None:
    with contextlib.suppress(OSError):
        listener.shutdown(socket.SHUT_RDWR)


def with_bodies(shot: Calibration, settings: TrafficSettings) -> Calibration:
    """The calibration, and that of large bodies where any are in the mix."""
    protocols = {kind.protocol for kind in settings.kinds} & {"upload", "download"}
    if not protocols:
        return shot
    more = calibrate_bodies(settings.instance_header, protocols)
    expected, counted = Counter(shot.expected), Counter(shot.counted)
    expected.update(more.expected)
    counted.update(more.counted)
    return Calibration(dict(expected), dict(counted), [*shot.wrong, *more.wrong])


def calibrate_bodies(
    instance_header: str, protocols: set[str], client_of: Callable[[str], type[Client]] | None = None
) -> Calibration:
    """Sends bodies in each way of these protocols, each once."""
    expected: Counter[str] = Counter()
    counted: Counter[str] = Counter()
    wrong = []
    with BodyRange(instance_header) as server:
        for way, (protocol, _, outcome) in WAYS.items():
            if protocol not in protocols:
                continue
            client = (client_of or _CLIENTS.__getitem__)(protocol)
            for record in _send(server.door_of(way), way, protocol, client):
                found = _found(record)
                expected[outcome] += 1
                counted[found] += 1
                if found != outcome:
                    wrong.append(f"{way}: {found} ({record.error}), expected {outcome}")
            expected["hits"] += TIMES
            counted["hits"] += server.hits[way]
            if server.hits[way] != TIMES:
                wrong.append(f"{way}: {server.hits[way]} requests reached the server, expected {TIMES}")
    return Calibration(dict(expected), dict(counted), wrong)


_CLIENTS: dict[str, type[Client]] = {"upload": UploadClient, "download": DownloadClient}
_TEMPLATES: dict[str, type[Template]] = {"upload": UploadTemplate, "download": DownloadTemplate}


def _send(door: Target, way: str, protocol: str, client_type: type[Client]) -> Iterator[Record]:
    method = "POST" if protocol == "upload" else "GET"
    kind = Kind(name=way, path=f"/{way}", rate=1.0, method=method, protocol=protocol, bytes=LENGTH)
    template = _TEMPLATES[protocol](TrafficSettings(run="calibration", out="", url="http://x", kinds=[kind]), kind)
    expectation = Expectation(b"x-instance-id", b"x-request-id", None, LENGTH if protocol == "download" else None)
    limits = Limits(_PATIENCE_SECONDS, _PATIENCE_SECONDS)
    client = client_type(FrontDoor(door), limits, expectation, keeps=False, numbers=itertools.count(1))
    for n in range(TIMES):
        record = Record(id=f"calibration-{way}-{n}", kind=way, method=method, path=kind.path, planned=time.time())
        client.send(template.request(record.id, 0, keeps=False), record)
        yield record
    client.close()


def _found(record: Record) -> str:
    if record.client_outcome != "complete":
        return record.client_outcome
    return "complete, " + {True: "matched", False: "not matched", None: "untold"}[record.matched]
