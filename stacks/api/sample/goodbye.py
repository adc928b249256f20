"""The end of an HTTP/2 connection: a GOAWAY, a round trip, a second GOAWAY; or no word at all.

One GOAWAY alone loses requests: what the client has sent by the time that it reads of a last stream is above that one.
So the first one names the highest number there is and only announces; the second one comes when the client must have
read it, and names the last stream that came. Hypercorn by itself says it once, with its last answer, and resets new
streams from the shutdown on.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from h2.connection import H2Connection
from h2.events import PingAckReceived
from hypercorn.asyncio.tcp_server import TCPServer
from hypercorn.events import RawData
from hypercorn.protocol.h2 import H2Protocol
from hyperframe.frame import GoAwayFrame

HIGHEST = 2**31 - 1
ROUND_TRIP_SECONDS = 1.0  # at most; a client that doesn't answer a PING isn't waited for
_MARK = b"farewell"


class Goodbyes:
    """Says goodbye to connections, each once.

    Arguments:
        says: whether it's said at all.
    """

    def __init__(self, *, says: bool = True) -> None:
        self._says = says
        self._told: dict[TCPServer, asyncio.Task[None]] = {}

    def begin(self, connections: list[TCPServer]) -> None:
        """Begins it on every connection of HTTP/2 that hasn't been told."""
        self._told = {connection: task for connection, task in self._told.items() if connection in connections}
        for connection in connections if self._says else ():
            protocol = _http2(connection)
            if protocol is not None and connection not in self._told:
                task = asyncio.get_running_loop().create_task(_say(connection, protocol))
                self._told[connection] = task

    async def finish(self, connections: list[TCPServer]) -> None:
        """Returns when all have been told."""
        self.begin(connections)
        if self._told:
            await asyncio.wait(list(self._told.values()))

    def leave(self, connections: list[TCPServer]) -> None:
        """The listener closes; where nothing is said, so do the connections, whatever is open on them."""
        for connection in connections if not self._says else ():
            protocol = _http2(connection)
            if protocol is not None:
                _silence(protocol.connection)
                connection.writer.close()


async def let_go(connection: TCPServer) -> None:
    """Frees the handlers of a connection that's gone.

    Left alone each waits for ever until its answer is taken from a buffer that nobody empties any more (Hypercorn
    0.18.0: the sending task ends with the connection).
    """
    protocol = getattr(connection.protocol, "protocol", None)
    if isinstance(protocol, H2Protocol):
        for buffer in list(protocol.stream_buffers.values()):
            await buffer.close()


def _http2(connection: TCPServer) -> H2Protocol | None:
    wrapper = getattr(connection, "protocol", None)  # there's none before it runs
    protocol = getattr(wrapper, "protocol", None)
    return protocol if isinstance(protocol, H2Protocol) and not protocol.closed else None


async def _say(connection: TCPServer, protocol: H2Protocol) -> None:
    answered = _watch_for_answer(protocol.connection)
    # As frames of our own: the library would take the connection for closed (python-hyper/h2 #1181).
    await connection.protocol_send(RawData(GoAwayFrame(0, last_stream_id=HIGHEST).serialize()))
    protocol.connection.ping(_MARK)
    await connection.protocol_send(RawData(protocol.connection.data_to_send()))
    with suppress(TimeoutError):
        async with asyncio.timeout(ROUND_TRIP_SECONDS):
            await answered.wait()
    last = protocol.connection.highest_inbound_stream_id
    await connection.protocol_send(RawData(GoAwayFrame(0, last_stream_id=last).serialize()))


def _watch_for_answer(wire: H2Connection) -> asyncio.Event:
    """Set when the client has answered our PING, and so has read what was said before it."""
    answered = asyncio.Event()
    receive = wire.receive_data

    def receiving(data: Any) -> Any:
        events = receive(data)
        if any(isinstance(event, PingAckReceived) and event.ping_data == _MARK for event in events):
            answered.set()
        return events

    wire.receive_data = receiving  # type: ignore[method-assign]
    return answered


def _silence(wire: H2Connection) -> None:
    """Keeps Hypercorn from saying it in our place."""
    wire.close_connection = lambda *_args, **_kwargs: None  # type: ignore[method-assign]
