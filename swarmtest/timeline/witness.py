"""What the instances and the proxy say about each request, and whether their word is whole.

An instance writes one line when a request starts, before its commit (optional), after it and at the
finish, each with a sequence number of its own, so that a lost line is seen. The proxy writes one
line a request with the address that it dialled.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from swarmtest.events import Event
from swarmtest.timeline.clock import Clock

STEPS = ("start", "intent", "commit", "stored", "finish")
"""Lines about a request; all other lines are about the instance's own state."""


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
    ended: bool = False
    complete: bool = False
    reason: str | None = None
    seqs: list[int | None] = field(default_factory=list)
    lifecycle: dict[str, Event] = field(default_factory=dict)
    lifecycle_seq: dict[str, int | None] = field(default_factory=dict)
    starts: int = 0
    intents: int = 0
    finishes: int = 0
    nameless: int = 0

    def gap_after(self, seq: int | None) -> str | None:
        """Why a later line of a request may be missing whose line ``seq`` is there; None where none is."""
        reason = self.gap()
        numbers = [number for number in self.seqs if number is not None]
        if reason is None or seq is None or not self.ended or not self.complete or len(set(numbers)) < len(self.seqs):
            return reason
        missing = max(numbers) + 1 - seq - len({number for number in numbers if number >= seq})
        return f"{missing} later lines of its instance are missing by their sequence numbers" if missing else None

    def gap(self) -> str | None:
        """Why its word isn't whole, or None where it is; one that wrote nothing had nothing to say."""
        if not self.ended:
            return "its log wasn't read to the end"
        if not self.complete:
            return f"its log has a gap ({self.reason or 'no reason given'})"
        numbers = [seq for seq in self.seqs if seq is not None]
        if len(numbers) < len(self.seqs):
            return "its lines bear no sequence number"
        if len(set(numbers)) < len(numbers):
            return "its sequence numbers repeat, as if several processes counted for themselves"
        missing = max(numbers, default=0) - len(numbers)
        if missing or min(numbers, default=1) != 1:
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
    """Trails by request ID, streams by container, and the proxy's lines by request ID.

    Attributes:
        held: containers that held streams of clients (WebSockets, server-sent events) until they were killed.
    """

    trails: Mapping[str, Trail] = field(default_factory=dict)
    streams: Mapping[str, Stream] = field(default_factory=dict)
    proxied: Mapping[str, tuple[Proxied, ...]] = field(default_factory=dict)
    held: frozenset[str] = frozenset()

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
        return any(trail.commit or trail.finish for trail in self.trails.values())

    @property
    def logs_stored(self) -> bool:
        """Whether any instance says when an upload is stored."""
        return any(step.stored is not None for trail in self.trails.values() for step in trail.commit)


def read_witness(events: Iterable[Event], service: str, clock: Clock) -> Witness:
    """The witness of a trace, for the service under test."""
    trails: dict[str, Trail] = {}
    streams: dict[str, Stream] = {}
    proxied: dict[str, list[Proxied]] = {}
    seen: set[tuple[object, ...]] = set()
    events = list(events)
    others = _of_others(events, service)
    for event in events:
        container = event.get("container") or ""
        match event.kind:
            case "record" if container not in others:
                key = (container, event.get("seq"), event.get("event"), event.get("request_id"), event.t)
                if key not in seen:  # a log that was opened again repeats lines
                    seen.add(key)
                    _take(event, clock, streams.setdefault(container, Stream(container)), trails)
            case "log_stream" if event.get("service") in (service, None):
                stream = streams.setdefault(container, Stream(container))
                if event.get("edge") == "ended":
                    stream.ended, stream.complete = True, bool(event.get("complete"))
                    stream.reason = event.get("reason")
            case "proxied" if event.get("request_id"):
                proxied.setdefault(str(event.get("request_id")), []).append(_proxied(event, clock))
            case _:
                pass
    return Witness(trails, streams, {name: tuple(lines) for name, lines in proxied.items()})


def _of_others(events: Iterable[Event], service: str) -> set[str]:
    """Containers of other services: a front door that writes such lines itself handles nothing twice by that."""
    told = (event for event in events if event.kind in ("log_stream", "container") and event.get("service"))
    return {event.get("container") or "" for event in told if event.get("service") != service}


def _take(event: Event, clock: Clock, stream: Stream, trails: dict[str, Trail]) -> None:
    name, seq = event.get("event"), event.get("seq")
    stream.seqs.append(seq)
    if name not in STEPS:
        if name and name not in stream.lifecycle:
            stream.lifecycle[name], stream.lifecycle_seq[name] = event, seq
        return
    match name:
        case "start":
            stream.starts += 1
        case "intent":
            stream.intents += 1
        case "finish":
            stream.finishes += 1
        case _:
            pass
    request = event.get("request_id")
    if not request:
        stream.nameless += 1
        return
    at, error = clock.of(event)
    stored, sha256 = event.get("stored"), event.get("sha256")
    kept = (stored if isinstance(stored, int) else None, sha256.lower() if isinstance(sha256, str) else None)
    step = Step(stream.container, at, error, seq, event.get("status"), *kept)
    getattr(trails.setdefault(str(request), Trail()), name).append(step)


def _seconds(event: Event) -> float:
    """How long the proxy had the request; HAProxy counts milliseconds, nginx seconds."""
    if event.get("duration_ms") is not None:
        return float(event.get("duration_ms")) / 1000
    return float(event.get("duration_s") or 0.0)


def _proxied(event: Event, clock: Clock) -> Proxied:
    server = event.get("server")
    return Proxied(
        t=clock.of(event)[0],
        server=str(server) if str(server or "").strip("-:") else None,
        connected=event.get("connected"),
        status=event.get("status"),
        termination=event.get("termination"),
        duration=_seconds(event),
    )
