"""What the service's streams meet when it stops, as swarmtest's own client sees it, on loopback."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sample.streams import OnDrain, StreamManners, Streams

from swarmtest.traffic.sessions import Session, Surroundings
from swarmtest.traffic.settings import Kind, TrafficSettings
from swarmtest.traffic.stream_calibration import SPEAKERS
from swarmtest.traffic.streams import StreamRecord
from swarmtest.traffic.targets import FrontDoor, Target
from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
PYTHONPATH = os.pathsep.join(str(ROOT / folder) for folder in ("stacks/api", "contract"))
PATHS = {"websocket": "/ws?last={last}", "sse": "/events"}


@contextmanager
def service(**settings: str) -> Iterator[tuple[subprocess.Popen[bytes], Target]]:
    port = free_port()
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": PYTHONPATH, "INSTANCE_ID": "task-1", "PORT": str(port)}
    given = {"SHUTDOWN_WAIT_SECONDS": "0.1", "SHUTDOWN_LIMIT_SECONDS": "1", **settings}
    command = [sys.executable, "-m", "sample"]
    with subprocess.Popen(command, env={**environment, **given}, stdout=subprocess.DEVNULL) as child:
        try:
            wait_for(lambda: listens(port))
            yield child, Target.from_text(f"127.0.0.1:{port}")
        finally:
            child.kill()


def listens(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def wait_for(holds: Any) -> None:
    until = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.01)


def stopped(protocol: str, **settings: str) -> tuple[StreamRecord, int]:
    """A stream that was open when the service was told to stop, and the service's exit code."""
    records: list[StreamRecord] = []
    kind = Kind(name=protocol, path=PATHS[protocol], protocol=protocol, rate=20.0, sessions=1)
    told = TrafficSettings(run="r", out=".", kinds=[kind], url="http://127.0.0.1")
    with service(**settings) as (child, target):
        around = Surroundings(told, kind, FrontDoor(target), SPEAKERS[protocol], records.append, itertools.count(1))
        session = Session(0, around)
        thread = threading.Thread(target=session.stream, args=(1, None, threading.Event()))
        thread.start()
        wait_for(lambda: session.numbers.last)
        child.send_signal(signal.SIGTERM)
        code = child.wait(10)
        thread.join()
    return records[0], code


@pytest.mark.parametrize(("protocol", "code", "framing"), [("websocket", 1012, None), ("sse", None, "chunked")])
def test_a_stream_is_told_that_the_service_stops(protocol: str, code: int | None, framing: str | None) -> None:
    record, exit_code = stopped(protocol)
    assert (record.client_outcome, record.code, record.framing) == ("closed_by_server", code, framing)
    assert (record.instance, record.lost, record.repeated, exit_code) == ("task-1", 0, 0, 0)


@pytest.mark.parametrize("protocol", ["websocket", "sse"])
def test_a_stream_that_is_forgotten_is_cut_by_the_exit(protocol: str) -> None:
    record, exit_code = stopped(protocol, WEBSOCKETS_ON_DRAIN="forget", EVENTS_ON_DRAIN="forget")
    assert (record.client_outcome, record.code, exit_code) == ("cut", None, 0)


def test_streams_that_hold_the_shutdown_are_cut_at_its_limit() -> None:
    record, exit_code = stopped("sse", EVENTS_ON_DRAIN="hold")
    assert (record.client_outcome, exit_code) == ("cut", 0)


async def first(numbers: AsyncIterator[int], count: int) -> list[int]:
    return [await anext(numbers) for _ in range(count)]


@pytest.mark.parametrize(
    ("last", "replay", "seen"),
    [
        (None, True, [200]),
        (196, True, [197, 198, 199, 200]),
        (196, False, [200]),
        (-1000, True, [200 - 1000]),  # what's too long ago isn't told again
    ],
)
def test_a_client_that_comes_back_gets_the_number_after_its_last(
    last: int | None, replay: bool, seen: list[int]
) -> None:
    streams = Streams(StreamManners(replay=replay), clock=lambda: 100.0)  # the tick is number 200
    assert asyncio.run(first(streams._numbers(last), len(seen))) == seen


def test_only_what_is_told_to_be_forgotten_counts_as_that() -> None:
    manners = StreamManners(websockets=OnDrain.FORGET)
    assert (manners.of("websocket"), manners.of("http")) == (OnDrain.FORGET, OnDrain.CLOSE)
