"""HTTP/2's own state, with two things changed that ``h2`` does otherwise than a witness needs.

The library takes a connection for closed as soon as a GOAWAY has come, though the streams up to the one that it
names may still be answered (python-hyper/h2 #1181). And it ends a whole connection, with all that's open on it, when
one answer is shorter than it said.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import ConnectionTerminated, Event, StreamReset
from h2.exceptions import H2Error, InvalidBodyLengthError
from h2.settings import SettingCodes, Settings
from hpack import Encoder
from hyperframe.frame import DataFrame, Frame, GoAwayFrame

from swarmtest.traffic.answers import Expectation
from swarmtest.traffic.records import Framing

OPEN_END = 2**31 - 1
"""The last stream that a GOAWAY names which only announces another one: no stream is above it."""

WINDOW = 2**24
"""Bytes of one answer that may be under way; more than any proxy sends ahead, so that windows don't slow a run."""


class PlainEncoder(Encoder):
    """Writes header values as they are: Huffman's code saves a few bytes, and costs a fifth of a short request."""

    def encode(self, headers: Any, huffman: bool = True) -> bytes:  # noqa: ARG002 - the library asks for it
        """The block of headers."""
        return super().encode(headers, huffman=False)


class Wire(H2Connection):
    """One connection's frames, from and to bytes; the client's side."""

    def __init__(self) -> None:
        super().__init__(
            H2Configuration(
                client_side=True,
                header_encoding=None,
                # What goes out is our own, in lower case and checked when the stack file was read.
                validate_outbound_headers=False,
                normalize_outbound_headers=False,
            )
        )
        self.encoder = PlainEncoder()
        # Anew, since what's set on those that are there counts only from the peer's acknowledgement on.
        self.local_settings = Settings(
            client=True,
            initial_values={SettingCodes.ENABLE_PUSH: 0, SettingCodes.INITIAL_WINDOW_SIZE: WINDOW},
        )

    def greet(self) -> None:
        """Puts out the preface: no pushes, and windows that let a whole run's answers through."""
        self.initiate_connection()
        self.increment_flow_control_window(WINDOW * 64)

    def _receive_goaway_frame(self, frame: GoAwayFrame) -> tuple[list[Frame], list[Event]]:
        told = ConnectionTerminated()
        told.error_code = frame.error_code
        told.last_stream_id = frame.last_stream_id
        told.additional_data = frame.additional_data or None
        return [], [told]

    def _receive_data_frame(self, frame: DataFrame) -> tuple[list[Frame], list[Event]]:
        try:
            return super()._receive_data_frame(frame)
        except InvalidBodyLengthError:
            with contextlib.suppress(H2Error):
                self.reset_stream(frame.stream_id, ErrorCodes.PROTOCOL_ERROR)
            return [], [StreamReset(stream_id=frame.stream_id, remote_reset=False)]


def name_of(code: int | ErrorCodes) -> str:
    """An error code in the words of the protocol."""
    try:
        return ErrorCodes(code).name
    except ValueError:
        return f"code {code}"


class StreamAnswer:
    """The answer on one stream, as far as it has come."""

    __slots__ = (
        "_expectation", "_is_head", "_tail", "begun", "body_bytes", "echo", "framing", "instance",
        "retry_after", "status",
    )  # fmt: skip

    def __init__(self, expectation: Expectation, is_head: bool) -> None:
        self._expectation, self._is_head = expectation, is_head
        self._tail = b""
        self.begun = False
        self.status: int | None = None
        self.body_bytes = 0
        self.framing: Framing | None = None
        self.retry_after = False
        self.instance: str | None = None
        self.echo: bytes | None = None

    def on_headers(self, headers: list[tuple[bytes, bytes]]) -> None:
        """Takes the head; trailers are none."""
        self.begun, self.framing = True, "end_stream"
        expectation = self._expectation
        for name, value in headers:
            if name == b":status":
                self.status = int(value)
            elif name == expectation.instance_header:
                self.instance = value.decode("latin-1")
            elif name == b"content-length":
                self.framing = "length"
            elif name == b"retry-after":
                self.retry_after = True
            if name == expectation.request_id_header:
                self.echo = value

    def on_data(self, data: bytes) -> None:
        """Takes a piece of the body."""
        self.body_bytes += len(data)
        if marker := self._expectation.end_marker:
            self._tail = (self._tail + data)[-len(marker) :]

    def shortfall(self) -> str | None:
        """What a whole answer of 2xx lacks of the body that was expected, or ``None``."""
        return next(self._shortfalls(), None)

    def _shortfalls(self) -> Iterator[str]:
        expected = self._expectation
        if self._is_head or self.status is None or not 200 <= self.status < 300:
            return
        if expected.expect_bytes is not None and self.body_bytes != expected.expect_bytes:
            yield f"body of {self.body_bytes} bytes, expected {expected.expect_bytes}"
        if expected.end_marker is not None and self._tail != expected.end_marker:
            yield f"body doesn't end with {expected.end_marker!r}"
