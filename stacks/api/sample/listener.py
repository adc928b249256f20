"""The listening socket and its connections, kept in our own hands so that each can be ended in any way.

Hypercorn's own `serve` closes the listener the moment a shutdown begins and gives no access to its sockets. Here
only its connection handler is used (HTTP/1.1, HTTP/2, WebSocket); accepting, counting and resetting are ours.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from contextlib import suppress
from typing import Any, cast

from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.asyncio.tcp_server import MAX_RECV, TCPServer
from hypercorn.asyncio.worker_context import WorkerContext
from hypercorn.config import Config
from hypercorn.events import Closed, RawData

from sample.goodbye import Goodbyes, let_go

BACKLOG = 4096
RESET_ON_CLOSE = struct.pack("ii", 1, 0)  # SO_LINGER on, zero seconds: close() sends RST instead of FIN


class Connection(TCPServer):
    """Hypercorn's connection, with three things mended.

    It ends as soon as its client has closed it. Left alone it keeps the closed socket until the keep-alive time is
    over (Hypercorn 0.18.0: the idle timer is part of the task group that `run` waits for), and a drain would wait
    with it.

    And an idle one is closed in two steps: nothing more is read from it, and what was read by then becomes a
    request first. In one step, a request that comes in at that very moment is handled though its connection is
    gone: the work is done, and nobody is told.

    And handlers of an HTTP/2 connection that's gone aren't kept waiting for it (`let_go`), nor is it idle again after
    the last of them.
    """

    _waits = False  # for data, with none in hand

    async def _read_data(self) -> None:
        while not self.reader.at_eof():
            self._waits = True
            try:
                data = await self.reader.read(MAX_RECV)
            except OSError:
                break
            finally:
                self._waits = False
            await self.protocol.handle(RawData(data))
        await self.protocol.handle(Closed())
        await let_go(self)
        await self.idle_task.stop()

    async def _idle_timeout(self) -> None:
        if self.reader.at_eof():
            return  # its last handler has ended after it
        # Not `wait_for`: until Python 3.12 it swallows a cancellation that comes together with the event.
        with suppress(TimeoutError):
            async with asyncio.timeout(self.config.keep_alive_timeout):
                await self.context.terminated.wait()
        transport = cast("asyncio.Transport", self.writer.transport)
        transport.pause_reading()
        try:
            while not self._waits or self.reader._buffer:  # type: ignore[attr-defined]  # there's no public way to ask
                await asyncio.sleep(0)
        except asyncio.CancelledError:  # a request has begun
            if not transport.is_closing():
                transport.resume_reading()  # for the rest of it
            raise
        await asyncio.shield(self._initiate_server_close())


class Listener:
    """Accepts connections and hands each to Hypercorn."""

    def __init__(self, app: Any, *, port: int, keep_alive_seconds: float, goodbyes: Goodbyes | None = None) -> None:
        self._app = ASGIWrapper(app)
        self._port = port
        self._config = Config()
        self._config.keep_alive_timeout = keep_alive_seconds
        self._config.keep_alive_max_requests = 2**31  # by default it ends a kept connection after 1,000 requests
        self._config.include_server_header = False
        self._context = WorkerContext(None)
        self._socket: socket.socket | None = None
        self._connections: dict[asyncio.Task[None], asyncio.StreamWriter | None] = {}
        self._serving: dict[asyncio.Task[None], TCPServer] = {}
        self._goodbyes = goodbyes or Goodbyes()

    @property
    def open_connections(self) -> int:
        """How many connections aren't closed yet; one whose answer is still being sent counts."""
        return len(self._connections)

    def open(self) -> int:
        """Listen; returns the port, for whoever asked for port 0."""
        listening = socket.create_server(("0.0.0.0", self._port), backlog=BACKLOG)
        listening.setblocking(False)
        self._socket = listening
        asyncio.get_running_loop().add_reader(listening, self._accept)
        return int(listening.getsockname()[1])

    def stop_accepting(self) -> None:
        """Leave the socket open: the kernel goes on making connections that nobody will look at."""
        if self._socket is not None:
            asyncio.get_running_loop().remove_reader(self._socket)

    def close(self) -> None:
        """Close the socket; what the kernel has connected by now is still served, not reset."""
        if self._socket is not None:
            self._accept()
            self.stop_accepting()
            self._socket.close()
            self._socket = None
            self._goodbyes.leave(list(self._serving.values()))

    def say_goodbye(self) -> None:
        """Tell the clients of HTTP/2 to go elsewhere with what's new."""
        self._goodbyes.begin(list(self._serving.values()))

    async def end_idle_connections(self) -> None:
        """Close kept connections that wait for a request; busy ones are closed after their answer."""
        await self._goodbyes.finish(list(self._serving.values()))
        await self._context.terminated.set()

    def reset_connections(self) -> None:
        """Throw every connection away without a goodbye; handlers don't notice."""
        for writer in self._connections.values():
            if writer is not None and not writer.transport.is_closing():
                raw = writer.get_extra_info("socket")
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
                writer.transport.abort()

    async def wait_until_connections_are_gone(self) -> None:
        """Wait for the last connection; what a caller does after a while is its own matter."""
        while self._connections:
            await asyncio.wait(list(self._connections))

    def _accept(self) -> None:
        assert self._socket is not None
        while True:
            try:
                connection, _ = self._socket.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            connection.setblocking(False)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            task = asyncio.get_running_loop().create_task(self._serve(connection))
            self._connections[task] = None
            task.add_done_callback(self._connections.pop)

    async def _serve(self, connection: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(loop=loop)
        protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
        transport, _ = await loop.connect_accepted_socket(lambda: protocol, connection)
        writer = asyncio.StreamWriter(transport, protocol, reader, loop)
        task = asyncio.current_task()
        assert task is not None
        self._connections[task] = writer
        self._serving[task] = Connection(self._app, loop, self._config, self._context, {}, reader, writer)
        try:
            await self._serving[task]
        finally:
            del self._serving[task]
