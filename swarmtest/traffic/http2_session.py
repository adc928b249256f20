"""An HTTP/2 connection without its socket: the streams on it, and what each thing that the peer says means for them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from h2.errors import ErrorCodes
from h2.events import (
    ConnectionTerminated,
    DataReceived,
    Event,
    RemoteSettingsChanged,
    ResponseReceived,
    StreamEnded,
    StreamReset,
    WindowUpdated,
)
from h2.exceptions import H2Error, ProtocolError

from swarmtest.traffic.exchange import text_of
from swarmtest.traffic.http2_connections import ConnectionRecord
from swarmtest.traffic.http2_stream import Stream, StreamRequest
from swarmtest.traffic.http2_wire import Wire, name_of
from swarmtest.traffic.targets import Target

_MOST_STREAMS = 2**30
"""There are no numbers for more of them on one connection."""


@dataclass(frozen=True, slots=True)
class Terms:
    """How much a connection may carry: so many streams at once, and so many in all (``None``: any number)."""

    at_once: int
    in_all: int | None = None


class Session:
    """The streams of one connection, fed with the peer's bytes."""

    def __init__(self, record: ConnectionRecord, terms: Terms) -> None:
        self.record, self._terms = record, terms
        self._wire = Wire()
        self._wire.greet()
        self._streams: dict[int, Stream] = {}
        self._starved: dict[int, Stream] = {}
        self._retired = self._heard = False

    @property
    def is_winding_up(self) -> bool:
        """Whether it's given no new stream any more, however few are open."""
        most = self._terms.in_all
        full = self.record.streams >= (_MOST_STREAMS if most is None else most)
        return full or self._retired or self.record.goaway is not None

    @property
    def has_room(self) -> bool:
        """Whether another stream may be opened now."""
        most = min(self._terms.at_once, self._wire.remote_settings.max_concurrent_streams)
        return not self.is_winding_up and len(self._streams) < most

    @property
    def is_idle(self) -> bool:
        """Whether no stream is open."""
        return not self._streams

    def retire(self) -> None:
        """Has it carry nothing new from now on."""
        self._retired = True

    def data_to_send(self) -> bytes:
        """What the peer is to get next."""
        return self._wire.data_to_send()

    def open(self, stream: Stream, request: StreamRequest, target: Target) -> None:
        """Opens a stream for a request, with its head; the body is for :meth:`push`."""
        stream.id = self._wire.get_next_available_stream_id()
        request_record, record = stream.record, self.record
        request_record.reused = record.streams > 0
        request_record.connected = None if request_record.reused else record.opened
        request_record.connection, request_record.target = record.connection, record.target
        record.streams += 1
        self._streams[stream.id] = stream
        self._wire.send_headers(stream.id, request.head(target), end_stream=not stream.rest)

    def push(self, stream: Stream) -> bool:
        """Puts out the next piece of a request's body; returns whether there was any, and a window for it."""
        self._starved.pop(stream.id, None)
        if stream.over or not stream.rest:
            return False
        try:
            room = min(self._wire.local_flow_control_window(stream.id), self._wire.max_outbound_frame_size)
            if room <= 0:
                self._starved[stream.id] = stream
                return False
            piece, stream.rest = stream.rest[:room], stream.rest[room:]
            self._wire.send_data(stream.id, piece.tobytes(), end_stream=not stream.rest)
        except H2Error as error:
            self._forget(stream)
            stream.cut(text_of(error))
            return False
        return True

    def give_up(self, stream: Stream) -> None:
        """Our own deadline has passed; the peer is told that nobody waits for the answer any more."""
        self._drop(stream, ErrorCodes.CANCEL)
        stream.finish("timed_out", "TimeoutError: timed out")

    def receive(self, data: bytes) -> str | None:
        """Acts on the peer's bytes; returns what's wrong with them, which ends the connection."""
        try:
            if not self._heard and data.startswith(b"HTTP/"):
                raise ProtocolError("the peer answers in HTTP/1: it takes no HTTP/2 on this port")
            self._heard = True
            events = self._wire.receive_data(data)
        except H2Error as error:
            for stream in list(self._streams.values()):
                self._forget(stream)
                stream.finish("malformed", text_of(error))
            return text_of(error)
        for event in events:
            self._act(event)
        return None

    def say_goodbye(self) -> None:
        """Tells the peer that we're going."""
        with contextlib.suppress(H2Error):
            self._wire.close_connection()

    def end(self, by: Literal["peer", "client"], error: str | None, told: Callable[[ConnectionRecord], None]) -> None:
        """The socket has ended, and with it every stream that's open.

        Arguments:
            told: takes the connection's record, before anybody hears of the end of a stream.
        """
        left = list(self._streams.values())
        self.record.end(by, len(left), error)
        told(self.record)
        how = error or ("closed" if by == "peer" else "closed by the client")
        goaway = self.record.goaway
        word = "without GOAWAY" if goaway is None else f"after a GOAWAY that named {goaway}"
        for stream in left:
            self._forget(stream)
            stream.cut(f"{how} {word}, with {len(left)} streams open")

    def _forget(self, stream: Stream) -> None:
        stream.goaway = self.record.goaway
        self._streams.pop(stream.id, None)
        self._starved.pop(stream.id, None)

    def _drop(self, stream: Stream, code: ErrorCodes) -> None:
        self._forget(stream)
        with contextlib.suppress(H2Error):
            self._wire.reset_stream(stream.id, code)

    def _act(self, event: Event) -> None:
        match event:
            case ResponseReceived():
                self._on_response(event)
            case DataReceived():
                self._on_data(event)
            case StreamEnded():
                self._on_end(event.stream_id or 0)
            case StreamReset():
                self._on_reset(event)
            case ConnectionTerminated():
                self._on_goaway(event.last_stream_id or 0, event.error_code or 0)
            case WindowUpdated() | RemoteSettingsChanged():
                for stream in list(self._starved.values()):
                    stream.wake()
            case _:
                pass

    def _on_response(self, event: ResponseReceived) -> None:
        if stream := self._streams.get(event.stream_id or 0):
            stream.begin_answer(event.headers or [])
            self.record.saw(stream.answer.instance)

    def _on_data(self, event: DataReceived) -> None:
        number, data = event.stream_id or 0, event.data or b""
        if stream := self._streams.get(number):
            stream.answer.on_data(data)
        if event.flow_controlled_length:
            with contextlib.suppress(H2Error):
                self._wire.acknowledge_received_data(event.flow_controlled_length, number)

    def _on_end(self, number: int) -> None:
        if stream := self._streams.get(number):
            if stream.rest:  # answered before all of it was sent; the rest is of no use to anybody
                self._drop(stream, ErrorCodes.NO_ERROR)
            self._forget(stream)
            stream.complete()

    def _on_reset(self, event: StreamReset) -> None:
        stream = self._streams.get(event.stream_id or 0)
        if stream is None:
            return
        self._forget(stream)
        if not event.remote_reset:
            stream.finish("malformed", "the body isn't as long as the answer said")
        elif event.error_code == ErrorCodes.REFUSED_STREAM and not stream.answer.begun:
            stream.finish("refused_stream", "RST_STREAM: REFUSED_STREAM")
        else:
            stream.cut(f"RST_STREAM: {name_of(event.error_code or 0)}")

    def _on_goaway(self, last: int, code: int) -> None:
        self.record.go_away(last, name_of(code))
        for stream in [stream for number, stream in self._streams.items() if number > last]:
            self._forget(stream)
            stream.finish("refused_stream", f"GOAWAY {name_of(code)}: {last} is the last stream that was looked at")
