"""The ways of stopping; each is a coroutine from the signal to the exit code."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Protocol

from swarmtest_contract import Journal

from sample.settings import AtLimit, Settings, Shutdown
from sample.state import State

# What was sent before the listener closed gets this long to be read, so that its connection isn't taken for idle.
SECONDS_TO_READ_WHAT_WAS_SENT = 0.1
SECONDS_AFTER_RESET = 1.0  # at most, as long as Kestrel lets its handlers run on after it has given up waiting


class Connections(Protocol):
    """What a way of stopping may do to the listener and its connections."""

    def stop_accepting(self) -> None: ...
    def close(self) -> None: ...
    def say_goodbye(self) -> None: ...
    async def end_idle_connections(self) -> None: ...
    def reset_connections(self) -> None: ...
    async def wait_until_connections_are_gone(self) -> None: ...


class Stopping:
    """One instance's end."""

    def __init__(
        self,
        settings: Settings,
        state: State,
        connections: Connections,
        running: set[asyncio.Task[None]],
        journal: Journal,
    ) -> None:
        self._settings = settings
        self._state = state
        self._connections = connections
        self._running = running
        self._journal = journal

    async def stop(self) -> int:
        """Stop in the way of the settings; returns the exit code."""
        ways: dict[Shutdown, Callable[[], Awaitable[None]]] = {
            Shutdown.WITHDRAW: self._withdraw,
            Shutdown.CLOSE: self._close,
            Shutdown.DESTROY: self._destroy,
            Shutdown.HOLD: self._hold,
        }
        await ways[self._settings.shutdown]()
        self._journal.lifecycle("exiting", code=0)
        return 0

    async def _withdraw(self) -> None:
        """Unready at once, but the door stays open until the front door has had time to notice."""
        self._wind_down()
        await asyncio.sleep(self._settings.shutdown_wait_seconds)
        await self._close_and_drain()

    async def _close(self) -> None:
        """No wait: whatever the front door still sends is refused."""
        self._wind_down()
        await self._close_and_drain()

    async def _destroy(self) -> None:
        """The work is done, but nobody is told."""
        self._wind_down()
        self._close_listener()
        self._connections.reset_connections()
        await self._drain(self._handlers_are_done())

    async def _hold(self) -> None:
        """The kernel goes on making connections, and resets them all when the process exits."""
        exit_at = asyncio.get_running_loop().time() + self._settings.shutdown_hold_seconds
        self._connections.stop_accepting()
        self._wind_down()
        await self._connections.end_idle_connections()
        await self._drain(self._connections.wait_until_connections_are_gone())
        await asyncio.sleep(exit_at - asyncio.get_running_loop().time())
        self._close_listener()

    def _wind_down(self) -> None:
        self._state.withdraw()
        self._state.ends_connections = not self._settings.keep_alive_on_drain
        if self._state.ends_connections:
            self._connections.say_goodbye()

    async def _close_and_drain(self) -> None:
        began = asyncio.get_running_loop().time()
        self._close_listener()
        await asyncio.sleep(SECONDS_TO_READ_WHAT_WAS_SENT)
        if self._settings.keep_alive_on_drain:
            # It goes on answering on kept connections, so it only ends once every client has left.
            await self._connections.wait_until_connections_are_gone()
            began = asyncio.get_running_loop().time()
        await self._connections.end_idle_connections()
        await self._drain(self._connections.wait_until_connections_are_gone(), began)

    def _close_listener(self) -> None:
        self._connections.close()
        self._journal.lifecycle("closed_listener")

    async def _drain(self, drained: Awaitable[None], began: float | None = None) -> None:
        began = asyncio.get_running_loop().time() if began is None else began
        try:
            async with asyncio.timeout_at(began + self._settings.shutdown_limit_seconds):
                await drained
                await asyncio.sleep(self._settings.drain_extra_seconds)
        except TimeoutError:
            self._journal.lifecycle("drained", open=len(self._running))
            if self._settings.shutdown_at_limit is AtLimit.RESET:
                self._connections.reset_connections()
                with suppress(TimeoutError):
                    async with asyncio.timeout(SECONDS_AFTER_RESET):
                        await self._handlers_are_done()
        else:
            self._journal.lifecycle("drained", open=0)

    async def _handlers_are_done(self) -> None:
        while self._running:
            await asyncio.wait(list(self._running))
