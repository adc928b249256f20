"""Books orders at the bank over a few kept connections.

Written by hand on asyncio's streams: it's the one call that must never be repeated on its own, and the client
libraries that could do it bring more packages than the whole service has.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from urllib.parse import quote

TIMEOUT_SECONDS = 5.0
PROBE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class _Connection:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter


class BankClient:
    """Holds the connections that are free at the moment; opens one more when none is."""

    def __init__(self, address: str) -> None:
        self._host, _, port = address.partition(":")
        self._port = int(port or "8001")
        self._free: list[_Connection] = []

    async def commit(self, request_id: str) -> None:
        """Book once; never tried a second time, for the first try may have been booked.

        Raises:
            OSError: when the bank didn't confirm, whatever the reason.
        """
        async with asyncio.timeout(TIMEOUT_SECONDS):  # TimeoutError is an OSError
            status = await self._ask("POST", f"/commit/{quote(request_id, safe='')}")
        if status != 200:
            raise OSError(f"status {status}")

    async def commit_once(self, key: str) -> bool:
        """Book under a key, unless that was done before; whether it's booked now for the first time.

        Raises:
            OSError: when the bank didn't confirm, whatever the reason.
        """
        async with asyncio.timeout(TIMEOUT_SECONDS):
            status = await self._ask("PUT", f"/commit/{quote(key, safe='')}")
        if status not in (200, 201):
            raise OSError(f"status {status}")
        return status == 201

    async def alive(self) -> bool:
        """Whether the bank answers at the moment."""
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                return await self._ask("GET", "/healthz") == 200
        except OSError:
            return False

    async def _ask(self, method: str, path: str) -> int:
        """The status of the answer."""
        connection = await self._take()
        try:
            status = await _exchange(connection, f"{method} {path} HTTP/1.1\r\nHost: {self._host}\r\n")
        except BaseException:
            connection.writer.close()
            raise
        self._free.append(connection)
        return status

    async def _take(self) -> _Connection:
        while self._free:
            connection = self._free.pop()
            if not connection.reader.at_eof():
                return connection
            connection.writer.close()
        return _Connection(*await asyncio.open_connection(self._host, self._port))


async def _exchange(connection: _Connection, head: str) -> int:
    connection.writer.write(f"{head}Content-Length: 0\r\n\r\n".encode())
    await connection.writer.drain()
    try:
        answer = await connection.reader.readuntil(b"\r\n\r\n")
        await connection.reader.readexactly(_length(answer))
    except asyncio.IncompleteReadError as error:
        raise ConnectionError("closed before the answer was whole") from error
    return int(answer.split(b" ", 2)[1])


def _length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            return int(value)
    return 0
