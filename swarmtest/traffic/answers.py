"""Reads one answer of HTTP/1 and says how far it came.

httptools (llhttp) does the parsing. What it leaves to its user is done here: 1xx answers are
skipped, HEAD has no body, an end that's told only by closing needs a proof, and bytes after the
answer are noticed. It's never asked to be lenient.
"""

from __future__ import annotations

from dataclasses import dataclass

import httptools

from swarmtest.traffic.records import Framing

NO_LENGTH = "no length: completeness can't be proved"


@dataclass(frozen=True, slots=True)
class Expectation:
    """What an answer must look like to be believed.

    Attributes:
        instance_header: lower-case name of the header in which an instance names itself.
        request_id_header: lower-case name of the header that echoes the request's ID.
        end_marker: bytes with which a whole body ends.
        expect_bytes: length of a whole body.
        sha256: checksum of a whole body, in hex; only of downloads.
    """

    instance_header: bytes
    request_id_header: bytes
    end_marker: bytes | None = None
    expect_bytes: int | None = None
    sha256: str | None = None


class Answer:
    """The answer to one request, fed with the bytes as they come.

    The ``on_…`` methods are httptools' callbacks.
    """

    __slots__ = (
        "_expectation", "_is_head", "_parser", "_tail", "begun", "body_bytes", "broken", "complete",
        "echo", "framing", "headers_done", "instance", "keep_alive", "retry_after", "status",
    )  # fmt: skip

    def __init__(self, expectation: Expectation, is_head: bool) -> None:
        self._expectation = expectation
        self._is_head = is_head
        self._tail = b""
        self.begun = False
        self.headers_done = False
        self.complete = False
        self.keep_alive = False
        self.broken: str | None = None
        self.status: int | None = None
        self.body_bytes = 0
        self.framing: Framing | None = None
        self.retry_after = False
        self.instance: str | None = None
        self.echo: bytes | None = None
        self._parser: httptools.HttpResponseParser | None = httptools.HttpResponseParser(self)

    def feed(self, data: bytes) -> None:
        """Takes the next bytes from the connection; nonsense is kept in ``broken``, not raised."""
        assert self._parser is not None
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self.broken = "switched protocols, which wasn't asked for"
        except httptools.HttpParserError as error:
            self.broken = self.broken or str(error) or type(error).__name__

    def end_of_stream(self) -> bool:
        """Says that nothing more can come; returns whether that makes the answer a whole one.

        It does so only for a body that has no length of its own, and then only with a proof: a
        server that dies closes its connections just as neatly.
        """
        if not self.headers_done or self.framing != "close":
            return False
        if self._expectation.end_marker is not None and self._has_marker():
            self.framing, self.complete = "marker", True
        elif self._expectation.expect_bytes is not None and self.body_bytes == self._expectation.expect_bytes:
            self.framing, self.complete = "length", True
        return self.complete

    def let_go(self) -> None:
        """Drops the parser, which holds this in turn: what's in no circle is freed at once, without a search for it."""
        self._parser = None

    def shortfall(self) -> str | None:
        """What a complete answer of 2xx lacks of the body that was expected, or ``None``."""
        expected = self._expectation
        if self._is_head or self.status is None or not 200 <= self.status < 300:
            return None
        if expected.expect_bytes is not None and self.body_bytes != expected.expect_bytes:
            return f"body of {self.body_bytes} bytes, expected {expected.expect_bytes}"
        if expected.end_marker is not None and not self._has_marker():
            return f"body doesn't end with {expected.end_marker!r}"
        return None

    def why_not_whole(self) -> str:
        """What a body lacks that only the closing ended: the proof that was asked for, or any proof at all."""
        expected = self._expectation
        if expected.expect_bytes is not None:
            return f"closed after a body of {self.body_bytes} bytes, expected {expected.expect_bytes}"
        if expected.end_marker is not None:
            return f"closed before the body's end, which is {expected.end_marker!r}"
        return NO_LENGTH

    def _has_marker(self) -> bool:
        return self._tail == self._expectation.end_marker

    def on_message_begin(self) -> None:
        if self.complete:
            self.broken = "bytes beyond the end of the answer"
        self.begun = True

    def on_header(self, name: bytes, value: bytes) -> None:
        if self.headers_done:
            return  # a trailer, or the header of a second answer: neither says anything of this one
        match name.lower():
            case b"content-length":
                self.framing = "length"
            case b"transfer-encoding":
                # llhttp reads until the connection closes when chunked isn't the last coding.
                self.framing = "chunked" if value.lower().endswith(b"chunked") else "close"
            case b"retry-after":
                self.retry_after = True
            case lowered:
                if lowered == self._expectation.instance_header:
                    self.instance = value.decode("latin-1")
                if lowered == self._expectation.request_id_header:
                    self.echo = value

    def on_headers_complete(self) -> None:
        if self.complete:
            return
        assert self._parser is not None
        status = self._parser.get_status_code()
        if 100 <= status < 200:
            return
        self.status, self.headers_done = status, True
        self.keep_alive = self._parser.should_keep_alive()
        if self._is_head or status in (204, 304):
            self.framing, self.complete = None, self._is_head
        elif self.framing is None:
            self.framing = "close"

    def on_body(self, data: bytes) -> None:
        if self.complete:
            self.broken = "bytes beyond the end of the answer"
            return
        self.body_bytes += len(data)
        if (marker := self._expectation.end_marker) is not None:
            self._tail = (self._tail + data)[-len(marker) :] if marker else b""

    def on_message_complete(self) -> None:
        if self.headers_done:
            self.complete = True
        else:
            # An interim answer is over; what follows is the one we wait for.
            self.begun = False
            self.framing = self.instance = self.echo = None
            self.retry_after = False
