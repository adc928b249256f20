"""Runs one instance as process 1 of its container: `python -m sample`."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from swarmtest_contract import ContractMiddleware, Journal

from sample.app import App, Manners
from sample.bank_client import BankClient
from sample.goodbye import Goodbyes
from sample.listener import Listener
from sample.settings import Settings, Shutdown
from sample.shutdown import Stopping
from sample.state import State
from sample.streams import StreamManners, Streams, WithStreams
from sample.transfers import Storing


async def serve(settings: Settings) -> int:
    """Serve until a signal; returns the exit code."""
    journal = Journal(settings.instance_id)
    state = State(journal, ready_lies=settings.ready_lies)
    streams = Streams(StreamManners(settings.websockets_on_drain, settings.events_on_drain, settings.replay))
    app = App(state, journal, BankClient(settings.bank), _manners(settings), streams)
    contract = ContractMiddleware(app, journal=journal)
    goodbyes = Goodbyes(says=settings.http2_goaway)
    listener = Listener(contract, port=settings.port, keep_alive_seconds=settings.keep_alive_seconds, goodbyes=goodbyes)
    signalled = asyncio.Event()
    _handle_signals(settings, state, journal, signalled)
    journal.lifecycle("booted", version=settings.version)
    starting = asyncio.create_task(_start(settings, state, listener))
    await signalled.wait()
    starting.cancel()
    code = await Stopping(settings, state, WithStreams(listener, streams), app.running, journal).stop()
    if streams.forgotten:
        os._exit(code)  # else Hypercorn would still say goodbye to them
    return code


def _manners(settings: Settings) -> Manners:
    return Manners(
        version=settings.version,
        health_asks_bank=settings.health_asks_bank,
        ready_asks_bank=settings.ready_asks_bank,
        most_at_once=settings.most_at_once,
        log_probes=settings.log_probes,
        slow_at_first=settings.slow_at_first,
        storing=Storing(Path(settings.store), settings.acknowledge_early, settings.store_seconds),
    )


async def _start(settings: Settings, state: State, listener: Listener) -> None:
    await asyncio.sleep(settings.listen_after_seconds)
    listener.open()
    if settings.never_healthy:
        return
    await asyncio.sleep(settings.warm_up_seconds)
    state.warm_up()


def _handle_signals(settings: Settings, state: State, journal: Journal, signalled: asyncio.Event) -> None:
    """Before the listener opens, since process 1 has no default action: an early TERM would be lost."""

    def on_signal(name: str) -> None:
        journal.lifecycle("signal", signal=name)
        if settings.shutdown is Shutdown.EXIT:
            journal.lifecycle("exiting", code=0)
            os._exit(0)
        signalled.set()

    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGUSR1, state.withdraw)
    for number in (signal.SIGTERM, signal.SIGINT):
        if settings.shutdown is Shutdown.IGNORE:
            signal.signal(number, signal.SIG_IGN)
        else:
            loop.add_signal_handler(number, on_signal, number.name)


if __name__ == "__main__":
    sys.exit(asyncio.run(serve(Settings.from_environment(os.environ))))
