"""What the instances and the proxy say about each request, and whether their word is whole.

An instance writes one line when a request starts, before its commit (optional), after it and at the
finish, each with a sequence number of its own, so that a lost line is seen. The proxy writes one
line a request with the address that it dialled.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from swarmtest.events import Event
from swarmtest.evidence.database import STEPS
from swarmtest.evidence.lines import Counts


@dataclass(frozen=True, slots=True)
class Step:
    """One line about a request, with the time by our clock and that time's error.

    Attributes:
        stored, sha256: bytes of an upload that are stored by then, and their checksum, where it tells.
    """

    container: str
    t: float
    error: float
    seq: int | None
    status: int | None = None
    stored: int | None = None
    sha256: str | None = None


@dataclass(slots=True)
class Trail:
    """All lines about one request ID."""

    start: list[Step] = field(default_factory=list)
    intent: list[Step] = field(default_factory=list)
    commit: list[Step] = field(default_factory=list)
    finish: list[Step] = field(default_factory=list)
    stored: list[Step] = field(default_factory=list)

    @property
    def containers(self) -> list[str]:
        """Where it was started, in order."""
        return [step.container for step in self.start]

    @property
    def seen(self) -> bool:
        """Whether any handler saw it: a later line proves the start as well."""
        return bool(self.start or self.intent or self.commit or self.finish or self.stored)

    @property
    def container(self) -> str | None:
        """Where it ran last."""
        steps = self.start or self.intent or self.commit or self.finish or self.stored
        return steps[-1].container if steps else None


@dataclass(slots=True)
class Stream:
    """The lines of one container's log, as far as they were read."""

    container: str
    counts: Counts = field(default_factory=Counts)
    ended: bool = False
    complete: bool = False
    reason: str | None = None
    lifecycle: dict[str, Event] = field(default_factory=dict)
    lifecycle_seq: dict[str, int | None] = field(default_factory=dict)

    @property
    def starts(self) -> int:
        """How many lines said that a request started."""
        return self.counts.starts

    @property
    def intents(self) -> int:
        """How many lines said that a request was about to take effect."""
        return self.counts.intents

    @property
    def finishes(self) -> int:
        """How many lines said that an answer was handed over."""
        return self.counts.finishes

    @property
    def nameless(self) -> int:
        """How many lines about a request don't say about which."""
        return self.counts.nameless

    def gap_after(self, seq: int | None) -> str | None:
        """Why a later line of a request may be missing whose line ``seq`` is there; None where none is."""
        reason, counts = self.gap(), self.counts
        if reason is None or seq is None or not self.ended or not self.complete or counts.distinct < counts.lines:
            return reason
        missing = sum(last + 1 - max(first, seq) for first, last in counts.holes if last >= seq)
        return f"{missing} later lines of its instance are missing by their sequence numbers" if missing else None

    def gap(self) -> str | None:
        """Why its word isn't whole, or None where it is; one that wrote nothing had nothing to say."""
        counts = self.counts
        if not self.ended:
            return "its log wasn't read to the end"
        if not self.complete:
            return f"its log has a gap ({self.reason or 'no reason given'})"
        if counts.numbered < counts.lines:
            return "its lines bear no sequence number"
        if counts.distinct < counts.numbered:
            return "its sequence numbers repeat, as if several processes counted for themselves"
        missing = (counts.most or 0) - counts.numbered
        if missing or (counts.least if counts.least is not None else 1) != 1:
            return f"{max(missing, 1)} of its lines are missing by their sequence numbers"
        return None


@dataclass(frozen=True, slots=True)
class Proxied:
    """The proxy's line about one request."""

    t: float
    server: str | None
    connected: bool | None
    status: int | None
    termination: str | None
    duration: float

    @property
    def own_word(self) -> bool:
        """Whether it ended the request out of the ordinary, in words of its own; nginx's is but a status."""
        word = (self.termination or "").strip("-, ")
        return bool(word) and not word.isdigit()


@dataclass(frozen=True, slots=True)
class Witness:
    """What the instances and the proxy say.

    Attributes:
        trails: all lines about a request, by its ID, of every request that isn't plain.
        streams: by container.
        proxied: the proxy's lines by request ID, of every request that isn't plain.
        held: containers that held streams of clients (WebSockets, server-sent events) until they were killed.
        handled: how many request IDs have lines of an instance.
        strangers: IDs that lines of instances bear, and no request of the client.
        errors: container to the error of its clock.
        named: instance headers of plain requests, with the container where each ran.
        logs_proxied: whether the proxy wrote a line about any request.
    """

    trails: Mapping[str, Trail] = field(default_factory=dict)
    streams: Mapping[str, Stream] = field(default_factory=dict)
    proxied: Mapping[str, tuple[Proxied, ...]] = field(default_factory=dict)
    held: frozenset[str] = frozenset()
    handled: int = 0
    strangers: frozenset[str] = frozenset()
    errors: Mapping[str, float] = field(default_factory=dict)
    logs_proxied: bool = False
    named: frozenset[tuple[str, str]] = frozenset()

    def error_of(self, container: str) -> float:
        """The error of a container's clock."""
        return self.errors.get(container, 0.0)

    @property
    def logs_starts(self) -> bool:
        """Whether any instance wrote a line when a request started."""
        return any(stream.starts for stream in self.streams.values())

    @property
    def logs_intents(self) -> bool:
        """Whether any instance says when it's about to commit."""
        return any(stream.intents for stream in self.streams.values())

    @property
    def logs_ends(self) -> bool:
        """Whether any instance says how a request ended, so that a missing line tells something."""
        return any(stream.counts.ended for stream in self.streams.values())

    @property
    def logs_stored(self) -> bool:
        """Whether any instance says when an upload is stored."""
        return any(stream.counts.stored for stream in self.streams.values())


def read_streams(events: Iterable[Event], service: str, counts: Mapping[str, Counts]) -> dict[str, Stream]:
    """The log of each container of the service under test, by what was read of it.

    Arguments:
        events: all of a trace but the lines about requests.
        counts: of each container that wrote lines.
    """
    events = list(events)
    others = of_others(events, service)
    streams = {name: Stream(name, counted) for name, counted in counts.items()}
    for event in events:
        container = event.get("container") or ""
        match event.kind:
            case "record" if container not in others:
                _take(event, streams.setdefault(container, Stream(container)))
            case "log_stream" if event.get("service") in (service, None):
                stream = streams.setdefault(container, Stream(container))
                if event.get("edge") == "ended":
                    stream.ended, stream.complete = True, bool(event.get("complete"))
                    stream.reason = event.get("reason")
            case _:
                pass
    return streams


def of_others(events: Iterable[Event], service: str) -> set[str]:
    """Containers of other services: a front door that writes such lines itself handles nothing twice by that."""
    told = (event for event in events if event.kind in ("log_stream", "container") and event.get("service"))
    return {event.get("container") or "" for event in told if event.get("service") != service}


def _take(event: Event, stream: Stream) -> None:
    """Keeps the first line of each kind about the instance's own state."""
    name, seq = event.get("event"), event.get("seq")
    if name and name not in STEPS and name not in stream.lifecycle:
        stream.lifecycle[name], stream.lifecycle_seq[name] = event, seq


def trails_of(rows: Iterable[Sequence[Any]], errors: Mapping[str, float]) -> dict[str, Trail]:
    """Trails by request ID, of lines in the order in which they were written.

    Arguments:
        rows: of each line the values of :data:`TRAIL_COLUMNS`.
    """
    trails: dict[str, Trail] = {}
    for request, event, container, t, seq, status, stored, sha256 in rows:
        step = Step(container, t, errors.get(container, 0.0), seq, status, stored, sha256)
        getattr(trails.setdefault(request, Trail()), event).append(step)
    return trails


TRAIL_COLUMNS = ("request_id", "event", "container", "t", "seq", "status", "stored", "sha256")
PROXIED_COLUMNS = ("request_id", "t", "server", "connected", "status", "termination", "duration")


def proxied_of(rows: Iterable[Sequence[Any]]) -> dict[str, tuple[Proxied, ...]]:
    """The proxy's lines by request ID; of each line the values of :data:`PROXIED_COLUMNS`."""
    found: dict[str, list[Proxied]] = {}
    for request, t, server, connected, status, termination, duration in rows:
        named = server if str(server or "").strip("-:") else None
        found.setdefault(request, []).append(Proxied(t, named, connected, status, termination, duration or 0.0))
    return {name: tuple(lines) for name, lines in found.items()}
