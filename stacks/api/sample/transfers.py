"""Large bodies: uploads that are kept as files, and can be read back; downloads that say their checksum."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from base64 import b64encode
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import parse_qs, quote

from swarmtest_contract import Journal

from sample.state import State

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

PIECE_BYTES = 65536
MOST_BYTES = 2**30
JSON = (b"content-type", b"application/json")


@dataclass(frozen=True, slots=True)
class Storing:
    """How uploads are kept.

    Attributes:
        early: the answer is given when all has come, and before any of it is stored: what isn't stored when the
            process ends is lost, though its client was told that it's safe.
        seconds: what storing one takes, where it's done after the answer.
    """

    folder: Path = Path("/tmp/stored")
    early: bool = False
    seconds: float = 0.0


@dataclass(slots=True)
class _Kept:
    """What was written of one upload."""

    file: Path
    size: int = 0
    checksum: Any = field(default_factory=hashlib.sha256)

    def word(self) -> dict[str, Any]:
        return {"stored": self.size, "sha256": self.checksum.hexdigest()}


class Transfers:
    """Serves `/upload`, `/download` and `/stored/ID`; what it stores late, it stores by itself."""

    def __init__(self, state: State, journal: Journal, storing: Storing, identity: dict[str, str]) -> None:
        self._state = state
        self._journal = journal
        self._storing = storing
        self._identity = identity
        self._late: set[asyncio.Task[None]] = set()

    @staticmethod
    def serves(path: str) -> bool:
        """Whether a path is one of these."""
        return path in ("/upload", "/download") or path.startswith("/stored/")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        with suppress(ConnectionError):  # nobody waits for it any more
            if not self._state.warm:
                await self._say(scope, send, 503, {"error": "not warm yet", **self._identity})
            elif scope["path"] == "/upload":
                await self._upload(scope, receive, send)
            elif scope["path"] == "/download":
                await self._download(scope, send)
            else:
                await self._read_back(scope, send)

    async def _upload(self, scope: Scope, receive: Receive, send: Send) -> None:
        request_id = next((v.decode("latin-1") for k, v in scope["headers"] if k.lower() == b"x-request-id"), None)
        if request_id is None:
            await self._say(scope, send, 400, {"error": "an upload is kept under its X-Request-ID"})
        elif self._storing.early:
            await self._promise(scope, receive, send, request_id)
        else:
            kept = await self._keep(receive, request_id)
            if kept is not None:
                await self._say(scope, send, 200, {"request_id": request_id, **kept.word(), **self._identity})

    async def _keep(self, receive: Receive, request_id: str) -> _Kept | None:
        """Write what comes, as it comes; None where the client went away before the end."""
        kept = _Kept(self._file(request_id))
        part = kept.file.with_name(f"{kept.file.name}.part")  # a dot in an ID begins no suffix
        with part.open("wb") as file:
            async for piece in _pieces_of(receive):
                if piece is None:
                    file.flush()
                    self._journal.record("stored", request_id, stored=kept.size)
                    return None
                file.write(piece)
                kept.size += len(piece)
                kept.checksum.update(piece)
            file.flush()
            await asyncio.to_thread(os.fsync, file.fileno())
        part.replace(kept.file)
        self._journal.record("commit", request_id, **kept.word())
        return kept

    async def _promise(self, scope: Scope, receive: Receive, send: Send, request_id: str) -> None:
        """Say that all is stored, and store it afterwards."""
        kept, pieces = _Kept(self._file(request_id)), []
        async for piece in _pieces_of(receive):
            if piece is None:
                return
            pieces.append(piece)
            kept.size += len(piece)
            kept.checksum.update(piece)
        task = asyncio.create_task(self._store_late(request_id, kept, b"".join(pieces)))
        self._late.add(task)
        task.add_done_callback(self._late.discard)
        await self._say(scope, send, 200, {"request_id": request_id, **kept.word(), **self._identity})

    async def _store_late(self, request_id: str, kept: _Kept, content: bytes) -> None:
        await asyncio.sleep(self._storing.seconds)
        await asyncio.to_thread(kept.file.write_bytes, content)
        self._journal.record("commit", request_id, **kept.word())

    async def _read_back(self, scope: Scope, send: Send) -> None:
        request_id = scope["path"].removeprefix("/stored/")
        try:
            content = await asyncio.to_thread(self._file(request_id).read_bytes)
        except OSError:
            await self._say(scope, send, 404, {"error": "this instance has stored no such upload", **self._identity})
            return
        word = {"stored": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        await self._say(scope, send, 200, {"request_id": request_id, **word, **self._identity})

    async def _download(self, scope: Scope, send: Send) -> None:
        given = {name: values[-1] for name, values in parse_qs(scope["query_string"].decode("latin-1")).items()}
        try:
            size, milliseconds = int(given.get("bytes", "1000000")), float(given.get("ms", "0"))
        except ValueError:
            size, milliseconds = -1, 0.0
        if not (0 <= size <= MOST_BYTES and 0 <= milliseconds <= 600_000):
            await self._say(scope, send, 400, {"error": f"bytes: 0 to {MOST_BYTES}, ms: 0 to 600000"})
            return
        digest = b"sha-256=:" + b64encode(await asyncio.to_thread(_digest, size)) + b":"
        headers = [(b"content-length", str(size).encode()), (b"repr-digest", digest), *self._ending(scope)]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        began, sent = asyncio.get_running_loop().time(), 0
        for piece in _noise(size):
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            sent += len(piece)
            due = began + milliseconds / 1000 * sent / size
            await asyncio.sleep(max(0.0, due - asyncio.get_running_loop().time()))
        await send({"type": "http.response.body", "body": b""})

    async def _say(self, scope: Scope, send: Send, status: int, fields: dict[str, Any]) -> None:
        body = json.dumps(fields).encode() + b"\n"
        headers = [JSON, (b"content-length", str(len(body)).encode()), *self._ending(scope)]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _ending(self, scope: Scope) -> list[tuple[bytes, bytes]]:
        ends = self._state.ends_connections and scope["http_version"].startswith("1")
        return [(b"connection", b"close")] if ends else []

    def _file(self, request_id: str) -> Path:
        self._storing.folder.mkdir(parents=True, exist_ok=True)
        return self._storing.folder / quote(request_id, safe="")


async def _pieces_of(receive: Receive) -> Any:
    """The pieces of a body; None where it ends before its end."""
    while True:
        message = await receive()
        if message["type"] != "http.request":
            yield None
            return
        if message.get("body"):
            yield message["body"]
        if not message.get("more_body", False):
            return


def _noise(size: int) -> Iterator[bytes]:
    """Always the same bytes, no two pieces of them alike."""
    block = Random(size).randbytes(PIECE_BYTES)
    for at in range(0, size, PIECE_BYTES):
        yield (at.to_bytes(8, "big") + block[8:])[: size - at]


@lru_cache(maxsize=16)
def _digest(size: int) -> bytes:
    checksum = hashlib.sha256()
    for piece in _noise(size):
        checksum.update(piece)
    return checksum.digest()
