"""What's open for long: a WebSocket that answers and pushes, and a stream of events.

Both tell the same numbers: the clock's ticks, so that every instance tells them alike without sharing anything. A
client that comes back names the last one that it has seen, and gets the next one first, whoever serves it.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

SERVICE_RESTART = 1012
TICKS_PER_SECOND = 2.0
LONGEST_REPLAY = 1000
POLL_SECONDS = 0.02
PATHS = {"websocket": "/ws", "http": "/events"}


class OnDrain(StrEnum):
    """What becomes of open streams when the instance drains."""

    CLOSE = "close"  # told: a close frame, or the end of the answer
    FORGET = "forget"  # not waited for: they're cut when the process exits
    HOLD = "hold"  # told nothing and waited for, however long their clients stay


@dataclass(frozen=True, slots=True)
class StreamManners:
    """What becomes of streams on draining, and whether what a client missed is told again."""

    websockets: OnDrain = OnDrain.CLOSE
    events: OnDrain = OnDrain.CLOSE
    replay: bool = True

    def of(self, kind: str) -> OnDrain:
        """What becomes of streams of a kind of ASGI scope."""
        return self.websockets if kind == "websocket" else self.events


class Connections(Protocol):
    """What streams are part of, and what there is to wait for."""

    @property
    def open_connections(self) -> int: ...
    def stop_accepting(self) -> None: ...
    def close(self) -> None: ...
    def say_goodbye(self) -> None: ...
    async def end_idle_connections(self) -> None: ...
    def reset_connections(self) -> None: ...
    async def wait_until_connections_are_gone(self) -> None: ...


class Streams:
    """All open streams of an instance.

    Arguments:
        clock: epoch seconds, whose ticks are the numbers.
    """

    def __init__(self, manners: StreamManners = StreamManners(), clock: Callable[[], float] = time.time) -> None:
        self._manners, self._clock = manners, clock
        self._draining = asyncio.Event()
        self._open: dict[asyncio.Task[None], str] = {}

    def serves(self, scope: Scope) -> bool:
        """Whether a path is a stream's."""
        return bool(PATHS.get(scope["type"]) == scope["path"])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Holds a stream until its client leaves or the instance drains."""
        task = asyncio.current_task()
        assert task is not None
        self._open[task] = scope["type"]
        try:
            with suppress(ConnectionError):
                await (self._websocket if scope["type"] == "websocket" else self._events)(scope, receive, send)
        finally:
            del self._open[task]

    def wind_down(self) -> None:
        """Tells every stream that's to be told, from now on also those that are opened yet."""
        self._draining.set()

    @property
    def forgotten(self) -> int:
        """Open streams that nobody waits for."""
        return sum(1 for kind in self._open.values() if self._manners.of(kind) is OnDrain.FORGET)

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        whole = asyncio.Lock()  # a message that was taken is answered before the close frame

        async def say(text: str) -> None:
            async with whole:
                await send({"type": "websocket.send", "text": text})

        async def answer() -> None:
            while (message := await receive())["type"] != "websocket.disconnect":
                if message.get("text"):
                    await say(message["text"])

        async def push() -> None:
            async for number in self._numbers(_last(scope)):
                await say(json.dumps({"push": number}))

        if await self._until_told("websocket", answer(), push()):
            async with whole:
                await send({"type": "websocket.close", "code": SERVICE_RESTART, "reason": "the service restarts"})

    async def _events(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})

        async def say() -> None:
            async for number in self._numbers(_last(scope)):
                body = f"id: {number}\ndata: {{}}\n\n".encode()
                await send({"type": "http.response.body", "body": body, "more_body": True})

        async def gone() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass

        if await self._until_told("http", gone(), say()):
            await send({"type": "http.response.body", "body": b""})

    async def _until_told(self, kind: str, *work: Awaitable[None]) -> bool:
        """Works until the client leaves; or until the drain, which is then to be told."""
        tasks = {asyncio.ensure_future(one) for one in work}
        told = asyncio.ensure_future(self._draining.wait())
        ends = {told} if self._manners.of(kind) is OnDrain.CLOSE else set()
        done, _ = await asyncio.wait(tasks | ends, return_when=asyncio.FIRST_COMPLETED)
        for task in (*tasks, told):
            task.cancel()
        await asyncio.gather(*tasks, told, return_exceptions=True)
        return not done & tasks

    async def _numbers(self, last: int | None) -> Any:
        """The ticks of the clock from the one after ``last`` on, each when it's due."""
        now = int(self._clock() * TICKS_PER_SECOND)
        number = now if last is None or not self._manners.replay else max(last + 1, now - LONGEST_REPLAY)
        while True:
            await asyncio.sleep(max(0.0, number / TICKS_PER_SECOND - self._clock()))
            yield number
            number += 1


class WithStreams:
    """Connections whose streams are told when nothing more is accepted, and waited for as they're to be.

    Not before that: a client that's told comes back at once, and not to this instance.
    """

    def __init__(self, connections: Connections, streams: Streams) -> None:
        self._connections, self._streams = connections, streams
        self.say_goodbye = connections.say_goodbye
        self.end_idle_connections = connections.end_idle_connections
        self.reset_connections = connections.reset_connections

    def stop_accepting(self) -> None:
        """Stops accepting, and tells the streams."""
        self._connections.stop_accepting()
        self._streams.wind_down()

    def close(self) -> None:
        """Closes the listener, and tells the streams."""
        self._connections.close()
        self._streams.wind_down()

    async def wait_until_connections_are_gone(self) -> None:
        """Returns when every connection is gone but those of forgotten streams."""
        while self._streams.forgotten:
            if self._connections.open_connections <= self._streams.forgotten:
                return
            await asyncio.sleep(POLL_SECONDS)
        await self._connections.wait_until_connections_are_gone()


def _last(scope: Scope) -> int | None:
    """The last number that a client has seen: by its header, or by `last` in the query; None or 0 for none."""
    given = [values[-1] for name, values in parse_qs(scope["query_string"].decode("latin-1")).items() if name == "last"]
    given += [value.decode("latin-1") for name, value in scope["headers"] if name.lower() == b"last-event-id"]
    return next((int(text) for text in given if text.isdigit() and int(text) > 0), None)
