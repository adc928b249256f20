"""What the runner asks of the traffic child, and what of that can't be sent.

Used on both sides of the pipe, so it imports nothing but msgspec.
"""

from __future__ import annotations

import os
from typing import Literal
from urllib.parse import urlsplit

import msgspec

MOST_PROCESSES = 64

ENVIRONMENT_VARIABLE = "SWARMTEST_TRAFFIC"
"""Name of the variable that tells the child where its settings are."""


PROTOCOLS = ("http1", "h2", "websocket", "sse", "upload", "download")
"""Ways of sending a kind of traffic; each is one file beside this one."""

STREAMS = ("websocket", "sse")
"""Protocols whose users hold a stream open each; these send no requests, and are counted apart (``streams``)."""


class Stage(msgspec.Struct, frozen=True):
    """A stretch of time in which the rate of arrivals goes from one value to another, in a straight line."""

    seconds: float
    begin: float
    end: float


class Retries(msgspec.Struct, frozen=True, kw_only=True):
    """What the client of a kind sends again, and how often.

    Attributes:
        budget: retries for each request of the last seconds, at most.
        attempts: tries of one request in all.
        backoff_seconds: before the second try; twice as long before each further one.
        on: what makes another try worth it: ``refused``, ``unserved``, ``closed``, ``timed_out``, or a status.
        key_header: header of the idempotency key; without one, only what's safe is sent again.
    """

    budget: float
    attempts: int = 3
    backoff_seconds: float = 0.1
    on: list[str] = []
    key_header: str | None = None


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of request, sent at a steady rate unless it has stages.

    Attributes:
        path: with the query; ``{ms}`` becomes the milliseconds drawn for each request.
        milliseconds: shortest and longest time that the request asks the app to take.
        rate: requests per second; messages per second and session where it's a WebSocket.
        protocol: one of :data:`PROTOCOLS`.
        stages: how the rate goes from the start on; after them the last one's rate holds, unless they begin anew
            (``repeats``). ``rate`` is the highest then.
        arrivals: ``even`` or ``poisson``.
        lanes: a closed loop of so many users, which knows no rate; ``None`` for arrivals by the rate.
        count: so many requests and no more; ``None`` means as many as there's time for.
        end_marker: text with which a whole body ends, for answers that have no length.
        expect_bytes: length of a whole body, where the answer itself doesn't tell it.
        sessions: users that each hold a stream open; only for :data:`STREAMS`, which have as many lanes.
        bytes: length of a large body, which is sent by an upload, and comes by a download.
        piece_bytes: so much of an upload is handed over at a time.
        sha256: known checksum of a download, in hex.
        retries: what's sent again; ``None`` means nothing ever is.
        streams: how many requests an HTTP/2 connection carries at once; a fresh one carries so many in all.
        paths: taken in turn instead of ``path``, which is one of them; none where there's but that one.
    """

    name: str
    path: str
    rate: float
    method: str = "GET"
    protocol: str = "http1"
    milliseconds: tuple[int, int] = (0, 0)
    body_bytes: int = 0
    headers: dict[str, str] = {}
    end_marker: str | None = None
    expect_bytes: int | None = None
    lanes: int | None = None
    stages: list[Stage] = []
    repeats: bool = False
    arrivals: Literal["even", "poisson"] = "even"
    count: int | None = None
    sessions: int | None = None
    bytes: int | None = None
    piece_bytes: int = 65536
    sha256: str | None = None
    retries: Retries | None = None
    streams: int = 8
    paths: list[str] = []

    @property
    def is_stream(self) -> bool:
        """Whether its users hold streams open and send no requests."""
        return self.protocol in STREAMS


class TrafficSettings(msgspec.Struct, frozen=True, kw_only=True):
    """All that the traffic child is told.

    Attributes:
        run: the run's name, first part of each request ID.
        out: folder for ``requests-<pid>.jsonl``.
        url: the front door, or ``None`` where the client follows the tasks.
        targets_file: file that lists the tasks' own addresses, rewritten by the runner.
        timeout_seconds: longest a request may take in all, connecting included.
        fresh_share: share of the lanes that open a connection for each request.
        processes: so many processes of this machine share the traffic.
        workers: so many workers on other machines share it instead; 0 for none.
        listen: ``host:port`` at which those find this one.
        part: which share of it this is.
    """

    run: str
    out: str
    kinds: list[Kind]
    url: str | None = None
    targets_file: str | None = None
    instance_header: str = "X-Instance-ID"
    request_id_header: str = "X-Request-ID"
    seed: int = 42
    timeout_seconds: float = 30.0
    connect_timeout_seconds: float = 5.0
    fresh_share: float = 0.5
    processes: int = 1
    workers: int = 0
    listen: str = ""
    part: int = 0

    @property
    def parts(self) -> int:
        """How many processes send."""
        return self.workers or self.processes

    @property
    def process(self) -> str:
        """What this process is called in request IDs: no two of a run have the same name, on whichever machines."""
        return f"{os.getpid()}.{self.part}" if self.part else str(os.getpid())


def problems_of(settings: TrafficSettings) -> list[str]:
    """What can't be sent, each with what was expected; an empty list means all is well."""
    found = []
    if (settings.url is None) == (settings.targets_file is None):
        found.append("exactly one of url and targets_file is needed")
    if settings.url is not None:
        parts = urlsplit(settings.url)
        if parts.scheme != "http" or not parts.hostname:
            found.append(f"url {settings.url!r}: only http://host[:port][/path] can be driven")
    if not 0.0 <= settings.fresh_share <= 1.0:
        found.append(f"fresh_share {settings.fresh_share}: a share lies between 0 and 1")
    if settings.timeout_seconds <= 0 or settings.connect_timeout_seconds <= 0:
        found.append("time-outs must be above zero")
    found += _problems_of_processes(settings)
    if not settings.kinds:
        found.append("no kind of traffic is given")
    if len({kind.name for kind in settings.kinds}) != len(settings.kinds):
        found.append("two kinds of traffic have the same name")
    for kind in settings.kinds:
        found += [f"kind {kind.name}: {problem}" for problem in _problems_of_kind(kind)]
    return found


def _problems_of_processes(settings: TrafficSettings) -> list[str]:
    found = []
    if not 1 <= settings.processes <= MOST_PROCESSES:
        found.append(f"processes {settings.processes}: expected 1 to {MOST_PROCESSES}")
    if settings.workers and settings.targets_file is not None:
        found.append("workers on other machines can't follow the tasks; they need a url")
    return found


def _problems_of_kind(kind: Kind) -> list[str]:
    shortest, longest = kind.milliseconds
    found = _problems_of_protocol(kind)
    if kind.rate < 0 or (kind.rate == 0 and not kind.is_stream):
        found.append(f"rate {kind.rate}: a rate is above zero")
    found += _problems_of_stages(kind)
    if not 0 <= shortest <= longest:
        found.append(f"milliseconds {shortest} to {longest}: expected 0 <= shortest <= longest")
    for path in (kind.path, *kind.paths):
        if not path.startswith("/"):
            found.append(f"path {path!r}: a path starts with a slash")
    if kind.body_bytes < 0:
        found.append(f"body_bytes {kind.body_bytes}: a length isn't negative")
    if kind.lanes is not None and kind.lanes < 1:
        found.append(f"lanes {kind.lanes}: at least one user is needed")
    if kind.count is not None and kind.count < 1:
        found.append(f"count {kind.count}: at least one request is needed")
    written = [kind.method, kind.path, *kind.paths, *kind.headers, *kind.headers.values()]
    if any("\r" in text or "\n" in text for text in written) or " " in "".join([kind.method, kind.path, *kind.paths]):
        found.append("method, path and headers go on the wire as they are: no line breaks, no spaces in the path")
    return found


def _problems_of_stages(kind: Kind) -> list[str]:
    found = []
    if any(stage.seconds < 0 or stage.begin < 0 or stage.end < 0 for stage in kind.stages):
        found.append("stages: neither seconds nor rates are negative")
    if kind.stages and not kind.repeats and kind.stages[-1].end <= 0:
        found.append("stages: the rate that holds after them is above zero")
    if kind.repeats and not any(stage.seconds * (stage.begin + stage.end) > 0 for stage in kind.stages):
        found.append("stages: those that begin anew send something")
    return found


def _problems_of_protocol(kind: Kind) -> list[str]:
    found = []
    if kind.protocol not in PROTOCOLS:
        found.append(f"protocol {kind.protocol!r}: expected one of {', '.join(PROTOCOLS)}")
    if kind.is_stream and (kind.sessions or 0) < 1:
        found.append(f"sessions {kind.sessions}: at least one is needed")
    if kind.streams < 1:
        found.append(f"streams {kind.streams}: at least one is needed")
    if kind.protocol == "upload" and not (kind.bytes and kind.piece_bytes >= 1024):
        found.append(f"bytes {kind.bytes} in pieces of {kind.piece_bytes}: expected some, in pieces of at least 1024")
    return found
