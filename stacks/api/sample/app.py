"""The routes, as a plain ASGI app: the order that waits for its bank, and the three probes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import parse_qs

from swarmtest_contract import Journal

from sample.state import State
from sample.streams import Streams
from sample.transfers import Storing, Transfers

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class Bank(Protocol):
    """Where an order takes effect."""

    async def commit(self, request_id: str) -> None:
        """Book the order; raises OSError if that can't be said to have worked."""

    async def commit_once(self, key: str) -> bool:
        """Book under a key, unless that was done before; whether it's new. Raises OSError likewise."""

    async def alive(self) -> bool:
        """Whether it answers at the moment."""


SECONDS_LONGER_AT_FIRST = 1.0


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer; `fields` become its JSON body."""

    status: int
    fields: dict[str, Any]
    padding: int = 0
    retry_after: int | None = None

    def body(self) -> bytes:
        """The fields as JSON, followed by as many spaces as were asked for, which JSON allows."""
        return json.dumps(self.fields).encode() + b"\n" + b" " * self.padding


@dataclass(frozen=True, slots=True)
class Order:
    """What a request asks for in its query: how long it takes, and at which share of that it takes effect."""

    milliseconds: float
    commit_at: float
    padding: int

    @classmethod
    def from_query(cls, query: bytes) -> Order:
        """Raises ValueError for what isn't a number or out of bounds."""
        given = {name: values[-1] for name, values in parse_qs(query.decode("latin-1")).items()}
        order = cls(float(given.get("ms", "0")), float(given.get("commit_at", "1")), int(given.get("bytes", "0")))
        if not (0 <= order.milliseconds <= 600_000 and 0 <= order.commit_at <= 1 and 0 <= order.padding <= 2**28):
            raise ValueError("ms: 0 to 600000, commit_at: 0 to 1, bytes: 0 to 268435456")
        return order


@dataclass(frozen=True, slots=True)
class Manners:
    """What an app is free to do well or badly.

    Attributes:
        health_asks_bank: a bank that is away makes the instance unhealthy: Swarm kills it for that.
        ready_asks_bank: it makes the instance unready instead.
        most_at_once: so many orders are worked on, further ones are turned away; 0: any number.
        log_probes: a line for each time that somebody asks and is told that it's ready.
        storing: how uploads are kept.
        slow_at_first: so many orders take a second longer, as they would where caches are empty.
    """

    version: str = "1"
    health_asks_bank: bool = False
    ready_asks_bank: bool = False
    most_at_once: int = 0
    log_probes: bool = False
    storing: Storing = field(default_factory=Storing)
    slow_at_first: int = 0


class App:
    """Serves requests to their end, even if nobody waits for the answer any more.

    An order that has been booked at the bank can't be stopped half-way, so a handler is never cancelled because
    its client has gone. `running` is what a shutdown has to wait for.
    """

    def __init__(
        self,
        state: State,
        journal: Journal,
        bank: Bank,
        manners: Manners = Manners(),
        streams: Streams | None = None,
    ) -> None:
        self._state = state
        self._journal = journal
        self._bank = bank
        self._manners = manners
        self._streams = streams or Streams()
        self._transfers = Transfers(state, journal, manners.storing, self._identity())
        self._orders = 0
        self.running: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or one stream; a WebSocket of another path is refused."""
        if scope["type"] == "lifespan":
            return
        if self._streams.serves(scope):
            await self._streams(scope, receive, send)
            return
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1000})
            return
        if self._transfers.serves(scope["path"]):
            await self._run(self._transfers(scope, receive, send))
            return
        if scope["path"] != "/work":
            await self._reply(scope, send, await self._probe(scope["path"]))
            return
        if 0 < self._manners.most_at_once <= len(self.running):
            await self._reply(scope, send, Answer(503, {"error": "busy", **self._identity()}, retry_after=1))
            return
        await self._run(self._serve(scope, receive, send))

    async def _run(self, handler: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(handler)
        self.running.add(task)
        task.add_done_callback(self.running.discard)
        await asyncio.shield(task)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        while (await receive()).get("more_body", False):
            pass
        await self._reply(scope, send, await self._work(scope))

    async def _work(self, scope: Scope) -> Answer:
        if not self._state.warm:
            return Answer(503, {"error": "not warm yet", "instance": self._journal.instance})
        try:
            order = Order.from_query(scope["query_string"])
        except ValueError as error:
            return Answer(400, {"error": str(error)})
        request_id = _header(scope, b"x-request-id")
        self._orders += 1
        if self._orders <= self._manners.slow_at_first:
            await asyncio.sleep(SECONDS_LONGER_AT_FIRST)
        await asyncio.sleep(order.milliseconds * order.commit_at / 1000)
        if request_id is not None:
            self._journal.record("intent", request_id)
            try:
                new = await self._book(request_id, _header(scope, b"idempotency-key"))
            except OSError as error:
                return Answer(500, {"error": f"the bank didn't confirm: {error}", "request_id": request_id})
            if new:
                self._journal.record("commit", request_id)
        await asyncio.sleep(order.milliseconds * (1 - order.commit_at) / 1000)
        fields = {"request_id": request_id, "ms": order.milliseconds, **self._identity()}
        return Answer(200, fields, order.padding)

    async def _book(self, request_id: str, key: str | None) -> bool:
        """Whether it took effect: a client that tries again sends the key of the first try, which may have."""
        if key is not None:
            return await self._bank.commit_once(key)
        await self._bank.commit(request_id)
        return True

    async def _probe(self, path: str) -> Answer:
        match path:
            case "/livez":
                good = True
            case "/readyz":
                good = self._state.ready and (not self._manners.ready_asks_bank or await self._bank.alive())
                if good and self._manners.log_probes:
                    self._journal.lifecycle("asked")
            case "/healthz":
                good = self._state.healthy and (not self._manners.health_asks_bank or await self._bank.alive())
            case _:
                return Answer(404, {"error": "no such path; see the README beside this service"})
        return Answer(200 if good else 503, {"ok": good, **self._identity()})

    def _identity(self) -> dict[str, str]:
        return {"instance": self._journal.instance, "version": self._manners.version}

    async def _reply(self, scope: Scope, send: Send, answer: Answer) -> None:
        body = answer.body()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        if answer.retry_after is not None:
            headers.append((b"retry-after", str(answer.retry_after).encode()))
        if self._state.ends_connections and scope["http_version"].startswith("1"):
            headers.append((b"connection", b"close"))
        with suppress(ConnectionError):  # nobody waits for it any more
            await send({"type": "http.response.start", "status": answer.status, "headers": headers})
            await send({"type": "http.response.body", "body": body})


def _header(scope: Scope, wanted: bytes) -> str | None:
    for name, value in scope["headers"]:
        if name.lower() == wanted:
            return str(value.decode("latin-1"))
    return None
