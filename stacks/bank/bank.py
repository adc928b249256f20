"""The bank of the sample stacks: books orders, and knows better than anyone which were booked.

Tests use its ledger as the truth that swarmtest's own verdicts are held against, so it counts each booking of the
same order, and writes it down before it confirms.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections import defaultdict
from pathlib import Path
from urllib.parse import unquote

from sample.app import Message, Receive, Scope, Send
from sample.listener import Listener


class Bank:
    """An ASGI app that keeps a ledger.

    `POST /commit/ID` books, `PUT /commit/KEY` books unless that was done before, `GET /ledger` tells all, and
    `GET /healthz` says that it lives.
    """

    def __init__(self, ledger: Path) -> None:
        self._file = os.open(ledger, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._booked: defaultdict[str, list[float]] = defaultdict(list)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        # From the raw path, for an ID may hold a slash.
        match scope["method"], scope["raw_path"].decode().split("/")[1:]:
            case "POST", ["commit", request_id]:
                self._book(unquote(request_id))
                await _reply(send, 200, {"ok": True})
            case "PUT", ["commit", key]:
                status = 200 if unquote(key) in self._booked else 201
                if status == 201:
                    self._book(unquote(key))
                await _reply(send, status, {"ok": True})
            case "GET", ["ledger"]:
                await _reply(send, 200, self._booked)
            case "GET", ["healthz"]:
                await _reply(send, 200, {"ok": True})
            case _:
                await _reply(send, 404, {"error": "POST or PUT /commit/ID, GET /ledger or GET /healthz"})

    def _book(self, request_id: str) -> None:
        now = round(time.time(), 6)
        os.write(self._file, json.dumps({"request_id": request_id, "t": now}).encode() + b"\n")
        self._booked[request_id].append(now)


async def _reply(send: Send, status: int, fields: object) -> None:
    body = json.dumps(fields).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    start: Message = {"type": "http.response.start", "status": status, "headers": headers}
    await send(start)
    await send({"type": "http.response.body", "body": body})


async def serve() -> None:
    """Serve until a signal, then go at once: nobody rolls the bank while it's needed."""
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    bank = Bank(Path(os.environ.get("LEDGER", "/tmp/ledger.jsonl")))
    Listener(bank, port=int(os.environ.get("PORT", "8001")), keep_alive_seconds=3600.0).open()
    await stopped.wait()


if __name__ == "__main__":
    asyncio.run(serve())
    sys.exit(0)
