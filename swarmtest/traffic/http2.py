"""The forensic HTTP/2 connection: many requests on one socket, each sent once, each with an end of its own.

A GOAWAY is read as the protocol means it. Streams above the last one that it names were never seen by a handler;
those up to it may still be answered, and are judged by what became of them; new ones go to another connection. A
socket that ends without a GOAWAY costs every request that it carries, and each of them is counted.

One thread listens on each connection (in Locust's process a greenlet); the senders write for themselves. The socket
is read and written under the connection's lock only, and never waited for there, so whoever looks first hears what
the peer said: no stream is opened after a GOAWAY that lies unread in our own kernel.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import threading
import time
from collections.abc import Callable
from typing import Literal

from swarmtest.traffic.exchange import text_of
from swarmtest.traffic.http2_connections import ConnectionRecord
from swarmtest.traffic.http2_session import Session, Terms
from swarmtest.traffic.http2_stream import Stream, StreamRequest
from swarmtest.traffic.targets import Target

_CHUNK = 65536
_IDLE_SECONDS = 600.0
_FULL = 2**18
"""Bytes that may wait for the kernel before no more of a body is put after them."""


class Connection:
    """A socket with its streams.

    Arguments:
        connected: the socket; it's this connection's from here on.
        told: takes the connection's record when it has ended.
    """

    def __init__(
        self, connected: socket.socket, record: ConnectionRecord, terms: Terms, told: Callable[[ConnectionRecord], None]
    ) -> None:
        # With a time-out the descriptor itself never blocks, whichever `socket` module this is.
        connected.settimeout(_IDLE_SECONDS)
        self._socket, self._fd = connected, connected.fileno()
        self._told = told
        self._session = Session(record, terms)
        self._lock = threading.RLock()
        self._out = bytearray()
        self._written = 0
        self._heard = time.monotonic()
        self._ended = False
        # Our preface goes out with the first request: a peer that can't make sense of it answers that request then.
        threading.Thread(target=self._listen, name=f"h2 {record.connection}", daemon=True).start()

    @property
    def is_over(self) -> bool:
        """Whether it can carry nothing any more."""
        return self._ended

    def begin(self, stream: Stream, request: StreamRequest, target: Target) -> bool:
        """Opens a stream for the request, unless there's no room for one; then nothing of it was sent."""
        with self._lock:
            self._read()
            if self._ended or not self._session.has_room:
                return False
            stream.mark = self._written + len(self._out)
            self._session.open(stream, request, target)
            self._push(stream)
            return True

    def await_end(self, stream: Stream, deadline: float) -> None:
        """Sends what's left of the request, and returns when it's known what became of it."""
        while not stream.over:
            left = deadline - time.monotonic()
            if left <= 0:
                self._give_up(stream)
                break
            if self._out:
                self._wait_until_writable(left)
            else:
                stream.wait(left)
            if (stream.rest or self._out) and not stream.over:
                with self._lock:
                    self._push(stream)
        stream.settle(self._written)
        if self._session.is_winding_up:
            self.close(only_idle=True)

    def close(self, only_idle: bool = False) -> None:
        """Ends it, with a GOAWAY of our own.

        Arguments:
            only_idle: not while it carries anything.
        """
        with self._lock:
            if self._ended or (only_idle and not self._session.is_idle):
                return
            self._session.say_goodbye()
            self._flush()
            self._end("client", None)

    def _push(self, stream: Stream) -> None:
        """Puts out as much of a request as the peer's windows and our kernel take."""
        before = self._written + len(self._out) if stream.size else stream.mark
        self._flush()
        while len(self._out) < _FULL and not self._ended and self._session.push(stream):
            self._flush()
        stream.size += self._written + len(self._out) - before

    def _give_up(self, stream: Stream) -> None:
        with self._lock:
            if stream.over:
                return
            self._session.give_up(stream)
            if self._heard < stream.began:
                # Nothing at all was heard meanwhile: no other request shall wait for whoever is behind it.
                self._session.retire()
            self._flush()

    def _listen(self) -> None:
        """Hears the peer until the connection has ended."""
        while not self._ended:
            failure: OSError | None = None
            try:
                self._socket.recv(1, socket.MSG_PEEK)
            except TimeoutError:
                continue
            except OSError as error:
                failure = error
            with self._lock:
                if failure is not None:
                    self._fail(failure)
                self._read()
                if self._session.is_winding_up:
                    self.close(only_idle=True)
            while self._out and not self._ended:
                self._wait_until_writable(1.0)
                with self._lock:
                    self._flush()

    def _read(self) -> None:
        """Takes what the kernel has, and acts on it."""
        while not self._ended:
            try:
                data = os.read(self._fd, _CHUNK)
            except BlockingIOError:
                return
            except OSError as error:
                self._fail(error)
                return
            if not data:
                self._end("peer", None)
                return
            self._heard = time.monotonic()
            wrong = self._session.receive(data)
            self._flush()
            if wrong is not None:
                self._end("client", wrong)
            if len(data) < _CHUNK:
                return

    def _flush(self) -> None:
        """Hands the kernel what it takes at once."""
        if data := self._session.data_to_send():
            self._out += data
        if not self._out or self._ended:
            return
        try:
            taken = os.write(self._fd, self._out)
        except BlockingIOError:
            return
        except OSError as error:
            self._fail(error)
            return
        self._written += taken
        del self._out[:taken]

    def _fail(self, error: OSError) -> None:
        """The socket is broken; what the peer had said before is heard all the same."""
        if self._ended:
            return
        with contextlib.suppress(OSError):
            while data := os.read(self._fd, _CHUNK):
                self._session.receive(data)
        self._end("peer", text_of(error))

    def _end(self, by: Literal["peer", "client"], error: str | None) -> None:
        if self._ended:
            return
        self._ended = True
        self._session.end(by, error, self._told)
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _wait_until_writable(self, seconds: float) -> None:
        poll = select.poll()
        with contextlib.suppress(OSError, ValueError):
            poll.register(self._socket, select.POLLOUT)
            poll.poll(min(seconds, 1.0) * 1000)
