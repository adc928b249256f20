"""Fulfils the app contract for any ASGI app, from outside of it."""

from typing import Any, Awaitable, Callable, Dict, FrozenSet, Iterable, List, MutableMapping, Optional, Tuple

from .journal import Journal, Value, Write, write_to_standard_output

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Any, Any, Any], Awaitable[None]]
Headers = List[Tuple[bytes, bytes]]

# Probes come every second from every side; their lines would bury the requests.
PROBES = frozenset({"/livez", "/readyz", "/healthz"})


class ContractMiddleware:
    """Wraps an ASGI app: instance header, echoed request ID, a line at start and at finish.

    It must be the outermost layer. What runs before the start line is written runs unseen, and a request that is
    cut there would be called *unserved*: safe to send again, which it may not be.

    Args:
        app: the ASGI app.
        instance: the name of this instance; default: the variable INSTANCE_ID, else the host name.
        write: takes one whole line; default: standard output, unbuffered.
        quiet: paths whose requests are not logged.
    """

    def __init__(
        self,
        app: App,
        instance: Optional[str] = None,
        write: Write = write_to_standard_output,
        *,
        journal: Optional[Journal] = None,
        quiet: Iterable[str] = PROBES,
        instance_header: str = "X-Instance-ID",
        request_id_header: str = "X-Request-ID",
    ) -> None:
        self.app = app
        self.journal = journal or Journal(instance, write)
        self._quiet: FrozenSet[str] = frozenset(quiet)
        self._instance_header = instance_header.lower().encode("latin-1")
        self._request_id_header = request_id_header.lower().encode("latin-1")

    def record(self, event: str, request_id: Optional[str], **fields: Value) -> None:
        """Note a step that only the app knows: `intent` before it takes effect, `commit` when it has."""
        self.journal.record(event, request_id, **fields)

    def lifecycle(self, event: str, **fields: Value) -> None:
        """Note a change of the instance's own state."""
        self.journal.lifecycle(event, **fields)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or one WebSocket."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        request_id = self._request_id(scope)
        marks = self._marks(request_id)
        if request_id is None or scope["path"] in self._quiet:
            await self.app(scope, receive, _marked(send, marks))
            return
        self.record("start", request_id)
        if scope["type"] == "websocket":
            await self.app(scope, receive, _marked(send, marks))
            self.record("finish", request_id)
        else:
            await self.app(scope, receive, self._finishing(_marked(send, marks), request_id))

    def _request_id(self, scope: Scope) -> Optional[str]:
        for name, value in scope["headers"]:
            if name.lower() == self._request_id_header:
                return str(value.decode("latin-1"))
        return None

    def _marks(self, request_id: Optional[str]) -> Headers:
        marks = [(self._instance_header, self.journal.instance.encode("latin-1"))]
        if request_id is not None:
            marks.append((self._request_id_header, request_id.encode("latin-1")))
        return marks

    def _finishing(self, send: Send, request_id: str) -> Send:
        """Write `finish` once the last part of the answer was handed over, not when the handler returns."""
        answer: Dict[str, Value] = {}

        async def finishing_send(message: Message) -> None:
            await send(message)
            if message["type"] == "http.response.start":
                answer["status"] = message["status"]
            if message["type"] == "http.response.body" and not message.get("more_body", False):
                self.record("finish", request_id, **answer)

        return finishing_send


def _marked(send: Send, marks: Headers) -> Send:
    async def marked_send(message: Message) -> None:
        if message["type"] in ("http.response.start", "websocket.accept"):
            message = {**message, "headers": [*message.get("headers", ()), *marks]}
        await send(message)

    return marked_send
