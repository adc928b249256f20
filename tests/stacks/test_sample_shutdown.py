from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from sample.settings import AtLimit, Settings, Shutdown
from sample.shutdown import Stopping
from sample.state import State
from swarmtest_contract import Journal


class FakeConnections:
    """Writes down what is done to it; its connections end after a given time, or never."""

    def __init__(self, order: list[str], *, gone_after: float) -> None:
        self._order, self._gone_after = order, gone_after

    def stop_accepting(self) -> None:
        self._order.append("stop accepting")

    def close(self) -> None:
        self._order.append("close")

    def say_goodbye(self) -> None:
        self._order.append("say goodbye")

    async def end_idle_connections(self) -> None:
        self._order.append("end idle")

    def reset_connections(self) -> None:
        self._order.append("reset")

    async def wait_until_connections_are_gone(self) -> None:
        seconds, self._gone_after = self._gone_after, 0.0
        await asyncio.sleep(seconds)


def stop(
    *, gone_after: float = 0.0, running: float = 0.0, **settings: Any
) -> tuple[list[str], list[dict[str, Any]], bool]:
    """What was done and written, in order; the lines; and whether answers ended their connections."""
    order: list[str] = []
    lines: list[dict[str, Any]] = []

    def write(line: bytes) -> None:
        lines.append(json.loads(line))
        order.append(lines[-1]["event"])

    async def run() -> bool:
        journal = Journal("task-1", write)
        state = State(journal)
        tasks = {asyncio.create_task(asyncio.sleep(running))} if running else set()
        for task in tasks:
            task.add_done_callback(tasks.discard)
        given = Settings("task-1", **{"shutdown_wait_seconds": 0.02, "shutdown_limit_seconds": 0.3, **settings})
        connections = FakeConnections(order, gone_after=gone_after)
        assert await Stopping(given, state, connections, tasks, journal).stop() == 0
        assert not state.ready
        for task in tasks:
            task.cancel()
        return state.ends_connections

    ends = asyncio.run(run())
    return order, lines, ends


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sample.shutdown.SECONDS_AFTER_RESET", 0.01)
    monkeypatch.setattr("sample.shutdown.SECONDS_TO_READ_WHAT_WAS_SENT", 0.01)


def test_withdraw_is_unready_first_and_closes_only_after_the_wait() -> None:
    order, lines, ends = stop(shutdown=Shutdown.WITHDRAW)
    assert order == ["unready", "say goodbye", "close", "closed_listener", "end idle", "drained", "exiting"]
    assert lines[1]["t"] - lines[0]["t"] >= 0.02
    assert ends


def test_close_does_not_wait() -> None:
    order, lines, _ = stop(shutdown=Shutdown.CLOSE, shutdown_wait_seconds=5)
    assert order == ["unready", "say goodbye", "close", "closed_listener", "end idle", "drained", "exiting"]
    assert lines[1]["t"] - lines[0]["t"] < 1


def test_destroy_resets_at_once_and_waits_for_the_handlers() -> None:
    order, lines, _ = stop(shutdown=Shutdown.DESTROY, running=0.05)
    assert order == ["unready", "say goodbye", "close", "closed_listener", "reset", "drained", "exiting"]
    assert lines[2]["open"] == 0
    assert lines[2]["t"] - lines[1]["t"] >= 0.04


def test_hold_stops_accepting_and_closes_only_at_the_end() -> None:
    order, lines, _ = stop(shutdown=Shutdown.HOLD, shutdown_hold_seconds=0.05)
    assert order == [
        "stop accepting",
        "unready",
        "say goodbye",
        "end idle",
        "drained",
        "close",
        "closed_listener",
        "exiting",
    ]
    assert lines[2]["t"] - lines[0]["t"] >= 0.04


def test_at_the_limit_connections_are_reset_and_handlers_run_on() -> None:
    order, lines, _ = stop(shutdown=Shutdown.CLOSE, gone_after=9, running=9, shutdown_limit_seconds=0.02)
    assert order == ["unready", "say goodbye", "close", "closed_listener", "end idle", "drained", "reset", "exiting"]
    assert lines[2]["open"] == 1


def test_the_limit_counts_from_the_closing_of_the_listener(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sample.shutdown.SECONDS_TO_READ_WHAT_WAS_SENT", 0.3)
    _, lines, _ = stop(shutdown=Shutdown.CLOSE, gone_after=9, running=9, shutdown_limit_seconds=0.32)
    assert 0.3 <= lines[2]["t"] - lines[1]["t"] < 0.6


def test_after_the_reset_it_waits_no_longer_than_its_handlers_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sample.shutdown.SECONDS_AFTER_RESET", 5)
    order, lines, _ = stop(shutdown=Shutdown.CLOSE, gone_after=9, running=0.1, shutdown_limit_seconds=0.02)
    assert order[-2:] == ["reset", "exiting"]
    assert lines[-1]["t"] - lines[0]["t"] < 2


def test_at_the_limit_it_may_also_just_exit() -> None:
    order, _, _ = stop(
        shutdown=Shutdown.CLOSE, gone_after=9, shutdown_limit_seconds=0.02, shutdown_at_limit=AtLimit.EXIT
    )
    assert "reset" not in order


def test_keeping_connections_alive_it_outlasts_its_own_limit() -> None:
    order, _, ends = stop(shutdown=Shutdown.CLOSE, keep_alive_on_drain=True, gone_after=0.6, shutdown_limit_seconds=0.5)
    assert order == ["unready", "close", "closed_listener", "end idle", "drained", "exiting"]
    assert not ends


def test_a_drain_can_be_made_longer() -> None:
    _, lines, _ = stop(shutdown=Shutdown.CLOSE, drain_extra_seconds=0.05)
    assert lines[2]["t"] - lines[1]["t"] >= 0.05
