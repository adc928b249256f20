from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from sample.app import App, Manners
from sample.settings import AtLimit, Settings, Shutdown
from sample.state import State
from swarmtest_contract import Journal


@dataclass
class FakeBank:
    broken: bool = False
    booked: list[str] = field(default_factory=list)

    async def commit(self, request_id: str) -> None:
        if self.broken:
            raise ConnectionError("the bank is closed")
        self.booked.append(request_id)

    async def commit_once(self, key: str) -> bool:
        if new := key not in self.booked:
            await self.commit(key)
        return new

    async def alive(self) -> bool:
        return not self.broken


class Instance:
    """One app with a bank that remembers, and the lines it wrote."""

    def __init__(
        self, *, warm: bool = True, ready_lies: bool = False, bank: FakeBank | None = None, **manners: Any
    ) -> None:
        self.lines: list[dict[str, Any]] = []
        journal = Journal("task-1", lambda line: self.lines.append(json.loads(line)))
        self.bank = bank or FakeBank()
        self.state = State(journal, ready_lies=ready_lies)
        self.state.warm = warm
        self.app = App(self.state, journal, self.bank, Manners(version="7", **manners))
        self.sent: list[dict[str, Any]] = []

    async def ask(
        self, path: str, query: str = "", *, http: str = "1.1", key: bytes | None = None
    ) -> tuple[int, dict[bytes, bytes], bytes]:
        scope = {
            "type": "http",
            "path": path,
            "query_string": query.encode(),
            "headers": [(b"x-request-id", b"r1")] + ([(b"idempotency-key", key)] if key is not None else []),
            "http_version": http,
        }
        await self.app(scope, self.receive, self.send)
        return self.sent[-2]["status"], dict(self.sent[-2]["headers"]), self.sent[-1]["body"]

    async def receive(self) -> dict[str, Any]:
        return {"type": "http.request", "more_body": False}

    async def send(self, message: dict[str, Any]) -> None:
        self.sent.append(message)

    def events(self) -> list[str]:
        return [line["event"] for line in self.lines]


def test_the_first_orders_take_longer_where_it_starts_cold(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async def twice() -> None:
        instance = Instance(slow_at_first=1)
        for _ in range(2):
            assert (await instance.ask("/work"))[0] == 200

    monkeypatch.setattr("sample.app.asyncio.sleep", sleep)
    asyncio.run(twice())
    assert slept.count(1.0) == 1


def test_another_try_with_the_same_key_is_answered_and_takes_no_effect() -> None:
    async def twice() -> Instance:
        instance = Instance()
        assert (await instance.ask("/work", key=b"k1"))[0] == 200
        assert (await instance.ask("/work", key=b"k1"))[0] == 200
        return instance

    instance = asyncio.run(twice())
    assert instance.bank.booked == ["k1"]
    assert instance.events().count("commit") == 1
    assert instance.events().count("intent") == 2


def test_an_order_is_booked_once_between_intent_and_commit() -> None:
    instance = Instance()
    status, headers, body = asyncio.run(instance.ask("/work", "ms=4&commit_at=0.5&bytes=10"))
    assert status == 200
    assert int(headers[b"content-length"]) == len(body)
    assert body.endswith(b" " * 10)
    assert json.loads(body) == {"request_id": "r1", "ms": 4.0, "instance": "task-1", "version": "7"}
    assert instance.bank.booked == ["r1"]
    assert instance.events() == ["intent", "commit"]


def test_a_bank_that_does_not_confirm_is_an_error_of_the_app_without_a_commit() -> None:
    instance = Instance(bank=FakeBank(broken=True))
    status, _, _ = asyncio.run(instance.ask("/work", "ms=0"))
    assert status == 500
    assert instance.events() == ["intent"]


@pytest.mark.parametrize("query", ["ms=fast", "ms=-1", "ms=1&commit_at=2", "bytes=1.5"])
def test_a_query_that_cannot_be_read_is_the_clients_error(query: str) -> None:
    instance = Instance()
    assert asyncio.run(instance.ask("/work", query))[0] == 400
    assert instance.bank.booked == []


def test_before_it_is_warm_it_answers_503_and_books_nothing() -> None:
    instance = Instance(warm=False)
    assert asyncio.run(instance.ask("/work", "ms=0"))[0] == 503
    assert instance.bank.booked == []


@pytest.mark.parametrize(
    ("warm", "withdrawn", "lies", "livez", "readyz", "healthz"),
    [
        (False, False, False, 200, 503, 503),
        (True, False, False, 200, 200, 200),
        (True, True, False, 200, 503, 200),  # draining: unready, but alive and healthy, or Swarm would kill it
        (False, False, True, 200, 200, 200),
    ],
)
def test_the_probes_follow_warm_up_and_withdrawal(
    warm: bool, withdrawn: bool, lies: bool, livez: int, readyz: int, healthz: int
) -> None:
    async def probe() -> list[int]:
        instance = Instance(warm=warm, ready_lies=lies)
        if withdrawn:
            instance.state.withdraw()
        return [(await instance.ask(path))[0] for path in ("/livez", "/readyz", "/healthz")]

    assert asyncio.run(probe()) == [livez, readyz, healthz]


@pytest.mark.parametrize(
    ("manners", "readyz", "healthz"),
    [
        ({}, 200, 200),
        ({"health_asks_bank": True}, 200, 503),  # Swarm kills it for what it can do nothing about
        ({"ready_asks_bank": True}, 503, 200),
    ],
)
def test_a_bank_that_is_away_shows_only_in_the_probes_that_ask_for_it(
    manners: dict[str, bool], readyz: int, healthz: int
) -> None:
    async def probe() -> list[int]:
        instance = Instance(bank=FakeBank(broken=True), **manners)
        return [(await instance.ask(path))[0] for path in ("/livez", "/readyz", "/healthz")]

    assert asyncio.run(probe()) == [200, readyz, healthz]


def test_probes_that_ask_the_bank_are_content_while_it_answers() -> None:
    async def probe() -> list[int]:
        instance = Instance(health_asks_bank=True, ready_asks_bank=True)
        return [(await instance.ask(path))[0] for path in ("/livez", "/readyz", "/healthz")]

    assert asyncio.run(probe()) == [200, 200, 200]


def test_orders_beyond_the_most_at_once_are_turned_away_and_may_come_again() -> None:
    async def crowd() -> Instance:
        instance = Instance(most_at_once=1)
        first = asyncio.create_task(instance.ask("/work", "ms=30"))
        await asyncio.sleep(0.005)
        status, headers, _ = await instance.ask("/work", "ms=0")
        assert (status, headers[b"retry-after"]) == (503, b"1")
        assert (await first)[0] == 200
        assert (await instance.ask("/work", "ms=0"))[0] == 200
        return instance

    assert asyncio.run(crowd()).bank.booked == ["r1", "r1"]


def test_a_withdrawal_leaves_one_line_however_often_it_is_ordered() -> None:
    instance = Instance()
    instance.state.withdraw()
    instance.state.withdraw()
    assert instance.events() == ["unready"]


@pytest.mark.parametrize(("http", "closes"), [("1.1", True), ("1.0", True), ("2", False)])
def test_answers_end_their_connection_while_winding_down(http: str, closes: bool) -> None:
    instance = Instance()
    instance.state.ends_connections = True
    _, headers, _ = asyncio.run(instance.ask("/work", "ms=0", http=http))
    assert (headers.get(b"connection") == b"close") is closes


def test_a_handler_runs_to_its_end_when_the_server_gives_up_on_it() -> None:
    async def cancelled() -> Instance:
        instance = Instance()
        asking = asyncio.create_task(instance.ask("/work", "ms=20"))
        await asyncio.sleep(0.005)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert len(instance.app.running) == 1
        await asyncio.wait(instance.app.running)
        await asyncio.sleep(0)
        return instance

    instance = asyncio.run(cancelled())
    assert instance.bank.booked == ["r1"]
    assert not instance.app.running


def test_settings_are_read_by_the_names_of_their_fields() -> None:
    settings = Settings.from_environment(
        {
            "INSTANCE_ID": "t",
            "SHUTDOWN": "hold",
            "SHUTDOWN_WAIT_SECONDS": "0.5",
            "SHUTDOWN_AT_LIMIT": "exit",
            "READY_LIES": "1",
            "NEVER_HEALTHY": "0",
            "VERSION": "2",
            "PORT": "9",
            "WARM_UP_SECONDS": "",
        }
    )
    assert settings == Settings(
        "t",
        version="2",
        port=9,
        shutdown=Shutdown.HOLD,
        shutdown_wait_seconds=0.5,
        shutdown_at_limit=AtLimit.EXIT,
        ready_lies=True,
    )


@pytest.mark.parametrize(("name", "value"), [("SHUTDOWN", "gently"), ("PORT", "http")])
def test_a_setting_that_cannot_be_read_is_named(name: str, value: str) -> None:
    with pytest.raises(SystemExit, match=f"{name}='{value}' can't be used"):
        Settings.from_environment({name: value})


@pytest.mark.parametrize(("log_probes", "lines"), [(True, ["warm", "asked", "asked"]), (False, ["warm"])])
def test_each_time_that_somebody_is_told_that_it_is_ready_may_leave_a_line(log_probes: bool, lines: list[str]) -> None:
    async def story() -> Instance:
        instance = Instance(warm=False, log_probes=log_probes)
        assert (await instance.ask("/readyz"))[0] == 503
        instance.state.warm_up()
        assert (await instance.ask("/healthz"))[0] == 200
        for _ in range(2):
            assert (await instance.ask("/readyz"))[0] == 200
        return instance

    assert asyncio.run(story()).events() == lines
