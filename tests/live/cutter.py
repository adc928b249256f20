"""A proxy that cuts chosen requests at chosen points, and keeps a journal of what it did.

The journal is the truth that a run's classes are held against; swarmtest knows nothing of it.
"""

from __future__ import annotations

import asyncio
import random
import re
import threading
from types import TracebackType

POINTS = ("unread", "waiting", "headers", "body")
EXPECTED = {"unread": "unserved", "waiting": "cut_finished", "headers": "cut_finished", "body": "cut_finished"}
"""What becomes of a request that's cut at a point: the sample's handlers run to their end whoever has gone."""


class Cutter(threading.Thread):
    """Forwards from a port of its own to the front door, and cuts ``count`` requests on the way.

    Arguments:
        share: how likely a request is chosen until all cuts are done.
    """

    def __init__(self, port: int, *, count: int, share: float, seed: int) -> None:
        super().__init__(daemon=True)
        self.journal: dict[str, str] = {}
        self.address = ""
        self._port, self._count, self._share = port, count, share
        self._random = random.Random(seed)
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()

    def __enter__(self) -> Cutter:
        self.start()
        self._ready.wait(10)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self.join(10)

    def run(self) -> None:
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        self._ready.set()
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.run_until_complete(asyncio.sleep(0.1))
        self._loop.close()

    async def _serve(self, client: asyncio.StreamReader, answers: asyncio.StreamWriter) -> None:
        upstream: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        try:
            upstream = await asyncio.open_connection("127.0.0.1", self._port)
            while await self._forward_one(client, answers, *upstream):
                pass
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            answers.close()
            if upstream is not None:
                upstream[1].close()

    async def _forward_one(
        self,
        client: asyncio.StreamReader,
        answers: asyncio.StreamWriter,
        back: asyncio.StreamReader,
        forth: asyncio.StreamWriter,
    ) -> bool:
        """One request and its answer; False where the connection is over."""
        head, body = await _message(client)
        point = self._choose(head)
        if point == "unread":
            return False
        forth.write(head + body)
        await forth.drain()
        if point == "waiting":
            await back.read(1)
            return False
        head, body = await _message(back)
        if point == "headers":
            answers.write(head[: len(head) // 2])
        elif point == "body":
            answers.write(head + body[: len(body) // 2])
        else:
            answers.write(head + body)
        await answers.drain()
        return point is None

    def _choose(self, head: bytes) -> str | None:
        """Where this request is cut, if at all; written down before it's done."""
        found = re.search(rb"(?i)\r\nx-request-id: *(\S+)", head)
        if found is None or len(self.journal) >= self._count or self._random.random() >= self._share:
            return None
        point = POINTS[len(self.journal) % len(POINTS)]
        self.journal[found[1].decode()] = point
        return point


async def _message(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    head = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
    return head, await reader.readexactly(int(length[1])) if length else b""
