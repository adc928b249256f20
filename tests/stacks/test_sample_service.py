"""The service as a process, on loopback: what each way of stopping does to sockets can't be faked."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
PATHS = os.pathsep.join(str(ROOT / folder) for folder in ("stacks/api", "stacks/bank", "contract"))


@asynccontextmanager
async def process(module: str, **environment: str) -> AsyncIterator[asyncio.subprocess.Process]:
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        module,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": PATHS, **environment},
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield child
    finally:
        if child.returncode is None:
            child.kill()
        await child.communicate()


class Service:
    """An instance with its bank."""

    def __init__(self, child: asyncio.subprocess.Process, port: int, bank: int) -> None:
        self.child, self.port, self.bank = child, port, bank
        self.clients: list[Client] = []

    def signal(self, number: signal.Signals = signal.SIGTERM) -> None:
        self.child.send_signal(number)

    async def exit(self) -> tuple[int, list[dict[str, Any]]]:
        """Its code and its lines."""
        out, _ = await asyncio.wait_for(self.child.communicate(), 10)
        lines = [json.loads(line) for line in out.splitlines()]
        assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
        assert self.child.returncode is not None
        return self.child.returncode, lines

    async def connect(self) -> Client:
        self.clients.append(Client(*await asyncio.open_connection("127.0.0.1", self.port)))
        return self.clients[-1]


class Client:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    def send(self, target: str, request_id: str = "r1") -> None:
        self.writer.write(f"POST {target} HTTP/1.1\r\nHost: x\r\nX-Request-ID: {request_id}\r\n\r\n".encode())

    async def answer(self) -> tuple[int, str]:
        """Status and head, after the whole body has come."""
        head = (await asyncio.wait_for(self.reader.readuntil(b"\r\n\r\n"), 5)).decode().lower()
        length = next(int(line.split(":")[1]) for line in head.split("\r\n") if line.startswith("content-length"))
        await self.reader.readexactly(length)
        return int(head.split()[1]), head

    async def close(self) -> None:
        self.writer.close()
        with suppress(OSError):
            await self.writer.wait_closed()

    async def ask(self, target: str, request_id: str = "r1") -> tuple[int, str]:
        self.send(target, request_id)
        return await self.answer()


@asynccontextmanager
async def service(**settings: str) -> AsyncIterator[Service]:
    port, bank = free_port(), free_port()
    given = {"WARM_UP_SECONDS": "0", "SHUTDOWN_WAIT_SECONDS": "0.4", "INSTANCE_ID": "task-1", **settings}
    ledger = {"LEDGER": os.devnull}
    async with (
        process("bank", PORT=str(bank), **ledger),
        process("sample", PORT=str(port), BANK=f"127.0.0.1:{bank}", **given) as child,
    ):
        served = Service(child, port, bank)
        for waiting in (bank, port):
            await _until_it_listens(waiting)
        try:
            yield served
        finally:
            for client in served.clients:
                await client.close()


async def _until_it_listens(port: int) -> None:
    for _ in range(400):
        try:
            client = Client(*await asyncio.open_connection("127.0.0.1", port))
        except OSError:
            await asyncio.sleep(0.02)
        else:
            await client.close()
            return
    raise TimeoutError(f"nothing listens on {port}")


def run(story: Callable[[Service], Awaitable[None]], **settings: str) -> None:
    async def told() -> None:
        async with service(**settings) as served:
            await story(served)

    asyncio.run(told())


def events(lines: list[dict[str, Any]]) -> list[str]:
    return [line["event"] for line in lines]


def test_the_model_serves_on_while_unready_then_closes_drains_and_exits() -> None:
    async def story(served: Service) -> None:
        running, kept, idle = [await served.connect() for _ in range(3)]
        assert (await kept.ask("/work?ms=0", "first"))[0] == 200
        running.send("/work?ms=900", "running")
        await asyncio.sleep(0.1)
        served.signal()
        await asyncio.sleep(0.1)
        assert (await (await served.connect()).ask("/readyz"))[0] == 503
        assert (await (await served.connect()).ask("/livez"))[0] == 200
        status, head = await kept.ask("/work?ms=0", "second")
        assert (status, "connection: close" in head) == (200, True)
        assert await kept.reader.read() == b""
        await asyncio.sleep(0.45)
        with pytest.raises(ConnectionRefusedError):
            await served.connect()
        assert await idle.reader.read() == b""
        assert (await running.answer())[0] == 200
        code, lines = await served.exit()
        assert code == 0
        assert [e for e in events(lines) if e not in {"start", "intent", "commit", "finish"}] == [
            "booted",
            "warm",
            "signal",
            "unready",
            "closed_listener",
            "drained",
            "exiting",
        ]

    run(story)


def test_the_bank_books_a_key_once_however_often_it_is_tried() -> None:
    async def story(served: Service) -> None:
        client = await served.connect()
        for name in ("r1", "r1.try2"):
            head = f"POST /work?ms=0 HTTP/1.1\r\nHost: x\r\nX-Request-ID: {name}\r\nIdempotency-Key: r1\r\n\r\n"
            client.writer.write(head.encode())
            assert (await client.answer())[0] == 200
        await client.close()
        served.signal()
        _, lines = await served.exit()
        assert [line["request_id"] for line in lines if line["event"] == "commit"] == ["r1"]
        assert [line["request_id"] for line in lines if line["event"] == "finish"] == ["r1", "r1.try2"]

    run(story)


def test_a_health_check_that_asks_the_bank_fails_with_it_and_heals_with_it() -> None:
    async def story() -> None:
        port, bank = free_port(), free_port()
        given = {"WARM_UP_SECONDS": "0", "HEALTH_ASKS_BANK": "1", "PORT": str(port), "BANK": f"127.0.0.1:{bank}"}
        async with process("sample", **given):
            await _until_it_listens(port)
            assert await _healthz(port) == 503
            for _ in range(2):  # the second bank is found, though the connection to the first has gone
                async with process("bank", PORT=str(bank), LEDGER=os.devnull):
                    await _until_it_listens(bank)
                    assert await _healthz(port) == 200
                assert await _healthz(port) == 503

    asyncio.run(story())


async def _healthz(port: int) -> int:
    client = Client(*await asyncio.open_connection("127.0.0.1", port))
    try:
        return (await client.ask("/healthz"))[0]
    finally:
        await client.close()


def test_exit_is_gone_at_once_with_requests_open() -> None:
    async def story(served: Service) -> None:
        client = await served.connect()
        client.send("/work?ms=3000")
        await asyncio.sleep(0.1)
        served.signal()
        code, lines = await served.exit()
        assert (code, events(lines)[-3:]) == (0, ["start", "signal", "exiting"])
        assert lines[-1]["t"] - lines[-2]["t"] < 0.005

    run(story, SHUTDOWN="exit")


def test_ignore_serves_on() -> None:
    async def story(served: Service) -> None:
        served.signal()
        await asyncio.sleep(0.1)
        client = await served.connect()
        assert (await client.ask("/work?ms=0"))[0] == 200
        assert served.child.returncode is None

    run(story, SHUTDOWN="ignore")


def test_destroy_resets_sockets_but_the_order_is_booked() -> None:
    async def story(served: Service) -> None:
        client = await served.connect()
        client.send("/work?ms=500")
        await asyncio.sleep(0.1)
        served.signal()
        with pytest.raises(ConnectionResetError):
            await asyncio.wait_for(client.reader.read(), 0.3)
        code, lines = await served.exit()
        assert (code, events(lines)[-4:]) == (0, ["commit", "finish", "drained", "exiting"])

    run(story, SHUTDOWN="destroy")


def test_hold_connects_and_never_serves() -> None:
    async def story(served: Service) -> None:
        served.signal()
        await asyncio.sleep(0.2)
        client = await served.connect()
        client.send("/work?ms=0", "unserved")
        with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
            await client.answer()
        code, lines = await served.exit()
        assert code == 0
        assert "start" not in events(lines)

    run(story, SHUTDOWN="hold", SHUTDOWN_HOLD_SECONDS="0.8")


def test_kept_connections_that_are_not_wound_down_hold_the_exit_up() -> None:
    async def story(served: Service) -> None:
        client = await served.connect()
        assert (await client.ask("/work?ms=0"))[0] == 200
        served.signal()
        await asyncio.sleep(0.3)
        with pytest.raises(ConnectionRefusedError):
            await served.connect()
        status, head = await client.ask("/work?ms=0")
        assert (status, "connection: close" in head) == (200, False)
        client.writer.close()
        assert (await served.exit())[0] == 0

    run(story, SHUTDOWN="close", KEEP_ALIVE_ON_DRAIN="1", SHUTDOWN_LIMIT_SECONDS="0.1")


def test_at_the_limit_the_socket_is_reset_and_the_handler_runs_on_for_a_second() -> None:
    async def story(served: Service) -> None:
        client = await served.connect()
        client.send("/work?ms=900")
        await asyncio.sleep(0.1)
        served.signal()
        with pytest.raises(ConnectionResetError):
            await asyncio.wait_for(client.reader.read(), 1)
        code, lines = await served.exit()
        assert (code, events(lines)[-5:]) == (0, ["drained", "intent", "commit", "finish", "exiting"])
        assert lines[-5]["open"] == 1

    run(story, SHUTDOWN="close", SHUTDOWN_LIMIT_SECONDS="0.2")


def test_a_withdrawal_from_outside_only_turns_readiness() -> None:
    async def story(served: Service) -> None:
        served.signal(signal.SIGUSR1)
        await asyncio.sleep(0.1)
        client = await served.connect()
        assert (await client.ask("/readyz"))[0] == 503
        status, head = await client.ask("/work?ms=0")
        assert (status, "connection: close" in head) == (200, False)

    run(story)


def test_it_speaks_http2_by_prior_knowledge() -> None:
    async def story(served: Service) -> None:
        client = await served.connect()
        client.writer.write(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00")
        header = await asyncio.wait_for(client.reader.readexactly(9), 2)
        assert header[3] == 4, "the first frame is SETTINGS"

    run(story)


def test_a_request_that_meets_the_close_of_its_idle_connection_is_answered_or_never_begun() -> None:
    async def one(served: Service, number: int, ready: asyncio.Event) -> str | None:
        """Sends on a kept connection about when it's closed; gives the ID if there's no answer."""
        client = await served.connect()
        await client.ask("/work?ms=0", f"warm-{number}")
        await ready.wait()
        await asyncio.sleep(number * 0.0005)
        try:
            await client.ask("/work?ms=0", f"late-{number}")
        except (OSError, asyncio.IncompleteReadError):
            return f"late-{number}"
        return None

    async def story(served: Service) -> None:
        ready = asyncio.Event()
        tasks = [asyncio.create_task(one(served, number, ready)) for number in range(200)]
        await asyncio.sleep(1.0)
        ready.set()
        await asyncio.sleep(0.04)
        served.signal()
        unanswered = {found for found in await asyncio.gather(*tasks) if found}
        _, lines = await served.exit()
        begun = {line["request_id"] for line in lines if line["event"] == "start"}
        assert unanswered & begun == set()
        tried.extend(unanswered)

    tried: list[str] = []
    for _ in range(5):  # on a busy machine all may have been early
        run(story, SHUTDOWN="hold", SHUTDOWN_HOLD_SECONDS="1")
        if tried:
            return
    pytest.fail("none came too late, so nothing was tried")
