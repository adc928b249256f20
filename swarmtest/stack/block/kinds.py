"""The kinds of requests that an ``x-swarmtest`` block asks for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from swarmtest.stack.block.arrivals import ARRIVALS, Shape, read_rate
from swarmtest.stack.block.bodies import BODY_KEYS, LARGE, LargeBody, read_large
from swarmtest.stack.block.retrying import Retrying, read_retries
from swarmtest.stack.reader import OUR_HEADERS, Reader, decimal, is_header, refuse_unknown, span, word

DEFAULT_RATE = 20.0

LONGEST_MILLISECONDS = 3_600_000.0
MOST_OPEN = 20_000
"""Requests of a kind that may be open at once; each has a socket of its own."""


PROTOCOLS = ("http1", "h2", "websocket", "sse", "upload", "download")
"""What a kind may ask for; grows with the clients that there are."""

STREAMS = ("websocket", "sse")
"""Protocols whose users hold a stream open each, and send no requests."""

STREAM_KEYS = ("sessions", "reconnect_within")
KIND_KEYS = (
    "protocol",
    "method",
    "path",
    "ms",
    "rate",
    "arrivals",
    "body_bytes",
    "headers",
    "end_marker",
    "expect_bytes",
    "count",
    "streams",
    "retries",
    *STREAM_KEYS,
    *BODY_KEYS,
)

_PLAIN_BODY = ("body_bytes", "end_marker", "expect_bytes")
_NOT_FOR_STREAMS = ("method", "ms", "arrivals", *_PLAIN_BODY, "count", "retries", *BODY_KEYS)
_USELESS = {
    "websocket": _NOT_FOR_STREAMS,
    "sse": (*_NOT_FOR_STREAMS, "rate"),
    "upload": (*STREAM_KEYS, *_PLAIN_BODY, "sha256"),
    "download": (*STREAM_KEYS, *_PLAIN_BODY, "chunk"),
}
"""Keys that say nothing to a protocol; to those that aren't named here, all of streams and large bodies."""

DEFAULT_STREAMS = 8
MOST_STREAMS = 1000
DEFAULT_SESSIONS = 20
DEFAULT_MESSAGE_RATE = 1.0
DEFAULT_RECONNECT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of request: ``{ms}`` in the path becomes a number out of ``milliseconds``.

    Attributes:
        rate: requests a second, at most where it has a shape.
        shape: how the rate changes; None where it stays.
        arrivals: ``even`` or ``poisson``.
        count: so many requests and no more; None for as many as the run is long.
        sessions: users that each hold a stream open; None where it's no kind of stream.
        reconnect_seconds: within which a session has to have its stream back.
        large: its body, where that's streamed and held to a checksum.
        retries: what its client sends again; None for nothing.
        streams: how many requests an HTTP/2 connection carries at once; None where it's another protocol.
        paths: taken in turn instead of ``path``, which is one of them; none where there's but that one.
    """

    name: str
    method: str
    path: str
    rate: float
    milliseconds: tuple[float, float] | None = None
    body_bytes: int = 0
    headers: Mapping[str, str] | None = None
    end_marker: str | None = None
    expect_bytes: int | None = None
    count: int | None = None
    protocol: str = "http1"
    sessions: int | None = None
    reconnect_seconds: float | None = None
    large: LargeBody | None = None
    retries: Retrying | None = None
    streams: int | None = None
    shape: Shape | None = None
    arrivals: str = "even"
    paths: tuple[str, ...] = ()

    @property
    def is_stream(self) -> bool:
        """Whether its users hold streams open and send no requests."""
        return self.protocol in STREAMS


def seconds_to_send(kinds: Iterable[Kind]) -> float:
    """How long after the start all requests of the kinds that have a number are due; 0 where none has."""
    return max((kind.count / kind.rate for kind in kinds if kind.count is not None), default=0.0)


def read_kind(reader: Reader, name: str) -> Kind:
    """One kind.

    Raises:
        StackError: a key that isn't known, or a value that can't be.
    """
    refuse_unknown(reader, KIND_KEYS)
    protocol = _protocol(reader)
    is_stream = protocol in STREAMS
    path = reader.text("path", "/")
    if not path.startswith("/") or not path.isascii() or not path.isprintable() or " " in path:
        raise reader.error(f"expected a path that begins with / and has no spaces (%20), found {path!r}", "path")
    rate, shape = (0.0, None) if protocol == "sse" else _rate(reader, is_stream)
    return Kind(
        name=name,
        protocol=protocol,
        method=word(reader, "method", "POST" if protocol == "upload" else "GET").upper(),
        path=path,
        rate=rate,
        shape=shape,
        arrivals=reader.choice("arrivals", ARRIVALS, "even"),
        milliseconds=_milliseconds(reader),
        body_bytes=reader.whole("body_bytes", 0),
        headers=read_headers(reader.part("headers")),
        end_marker=reader.text("end_marker", "") or None,
        expect_bytes=reader.whole("expect_bytes", 0) or None,
        count=reader.whole("count", 0) or None,
        retries=read_retries(reader),
        large=read_large(reader, protocol) if protocol in LARGE else None,
        streams=_streams(reader) if protocol == "h2" else None,
        sessions=_sessions(reader) if is_stream else None,
        reconnect_seconds=(
            span(reader, "reconnect_within", DEFAULT_RECONNECT_SECONDS, above_zero=True) if is_stream else None
        ),
    )


def _protocol(reader: Reader) -> str:
    """The protocol of a kind, which has only such keys as are of use to it."""
    protocol = reader.text("protocol", "http1")
    if protocol not in PROTOCOLS:
        raise reader.error(f"expected one of {', '.join(PROTOCOLS)}, found {protocol!r}", "protocol")
    useless = (*_USELESS.get(protocol, (*STREAM_KEYS, *BODY_KEYS)), *(() if protocol == "h2" else ("streams",)))
    if odd := next((key for key in useless if key in reader.body), None):
        raise reader.error(f"this key says nothing to a kind with the protocol {protocol}; leave it out", odd)
    return protocol


def _rate(reader: Reader, is_stream: bool) -> tuple[float, Shape | None]:
    rate, shape = read_rate(reader, DEFAULT_MESSAGE_RATE if is_stream else DEFAULT_RATE)
    if shape is not None and is_stream:
        raise reader.error("each session sends at a rate that stays; expected one such as 1/s", "rate")
    if shape is not None and "count" in reader.body:
        raise reader.error("a number of requests goes with a rate that stays; leave it out", "count")
    return rate, shape


def _streams(reader: Reader) -> int:
    streams = reader.whole("streams", DEFAULT_STREAMS, least=1)
    if streams > MOST_STREAMS:
        raise reader.error(f"expected up to {MOST_STREAMS:,} streams on a connection, found {streams:,}", "streams")
    return streams


def _sessions(reader: Reader) -> int:
    sessions = reader.whole("sessions", DEFAULT_SESSIONS, least=1)
    if sessions > MOST_OPEN:
        raise reader.error(f"the client can hold {MOST_OPEN:,} streams open; ask for less", "sessions")
    return sessions


def read_headers(reader: Reader) -> dict[str, str]:
    """Headers that go along; raises :class:`~swarmtest.errors.StackError` for what can't be one."""
    headers = {name: reader.text(name, "") for name in reader.body}
    for name, value in headers.items():
        if not is_header(name, value):
            raise reader.error(f"expected a header of ASCII on one line, found {name!r}: {value!r}", name)
        if name.lower() in OUR_HEADERS:
            raise reader.error("this header is the client's own; leave it out", name)
    return headers


def _milliseconds(reader: Reader) -> tuple[float, float] | None:
    value: Any = reader.body.get("ms")
    if value is None:
        return None
    match [decimal(item) for item in (value if isinstance(value, list) else [value, value])]:
        case [float(least), float(most)] if least <= most <= LONGEST_MILLISECONDS:
            return least, most
        case _:
            raise reader.error(f"expected milliseconds such as [20, 300], up to an hour, found {value!r}", "ms")
