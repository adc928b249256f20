"""One user's requests: what's on the wire, and that each one is recorded whatever happens."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from swarmtest.traffic.http1 import Request
from swarmtest.traffic.lanes import Lane, Template
from swarmtest.traffic.ledger import Ledger
from swarmtest.traffic.pacing import Pace
from swarmtest.traffic.protocols import Tools, lanes_for
from swarmtest.traffic.records import Record
from swarmtest.traffic.settings import Kind, TrafficSettings
from swarmtest.traffic.targets import FrontDoor, Target

TARGET = Target.from_url("http://shop.example:8080/base")


def settings(*kinds: Kind, **changed: Any) -> TrafficSettings:
    return TrafficSettings(run="r1", out="", url="http://127.0.0.1:1", kinds=list(kinds), **changed)


def request_of(kind: Kind, *, keeps: bool) -> bytes:
    template = Template(settings(kind, request_id_header="X-Correlation"), kind)
    return template.request("id-7", 250, keeps=keeps).encoded(TARGET)


def test_a_kept_request_is_on_the_wire_as_planned() -> None:
    kind = Kind(name="short", method="POST", path="/work?ms={ms}", rate=1.0, headers={"X-Extra": "{ms}"})
    assert request_of(kind, keeps=True) == (
        b"POST /base/work?ms=250 HTTP/1.1\r\nHost: shop.example:8080\r\nX-Correlation: id-7\r\n"
        b"X-Extra: {ms}\r\nContent-Length: 0\r\n\r\n"
    )


def test_a_request_with_a_connection_of_its_own_says_that_it_is_the_last_on_it() -> None:
    kind = Kind(name="short", path="/{odd}", rate=1.0)
    assert request_of(kind, keeps=False) == (
        b"GET /base/{odd} HTTP/1.1\r\nHost: shop.example:8080\r\nX-Correlation: id-7\r\nConnection: close\r\n\r\n"
    )


def test_a_host_of_the_stack_s_own_takes_the_place_of_the_target_s() -> None:
    """Two Host lines are a bad request, and a proxy that chooses by the name needs the right one."""
    kind = Kind(name="short", path="/", rate=1.0, headers={"host": "shop.example"})
    template = Template(TrafficSettings(run="r", out="o", kinds=[kind], url="http://x"), kind)
    sent = template.request("id-7", 0, keeps=True).encoded(TARGET)
    assert sent.lower().count(b"host:") == 1
    assert b"\r\nHost: shop.example\r\n" in sent


def test_a_body_has_the_length_that_was_asked_for() -> None:
    head, body = request_of(Kind(name="up", method="PUT", path="/", rate=1.0, body_bytes=9), keeps=True).split(
        b"\r\n\r\n"
    )
    assert head.endswith(b"Content-Length: 9")
    assert len(body) == 9


def test_a_request_id_names_run_kind_and_process() -> None:
    kind = Kind(name="short", path="/", rate=1.0)
    assert Template(settings(kind), kind).request_id(3) == f"r1-short-{os.getpid()}-3"


@pytest.mark.parametrize(("share", "kept"), [(0.5, 17), (0.0, 34), (1.0, 0)])
def test_half_of_each_kinds_lanes_keep_their_connections(share: float, kept: int) -> None:
    kinds = [Kind(name=name, path="/", rate=34.0) for name in ("a", "b")]
    lanes = list(lanes_for(Tools(settings(*kinds, fresh_share=share), FrontDoor(TARGET), Ledger(print), print)))
    assert [(lane.template.kind.name, lane.number) for lane in lanes] == [(name, n) for name in "ab" for n in range(34)]
    for name in "ab":
        assert sum(lane.keeps for lane in lanes if lane.template.kind.name == name) == kept


class StopAfter:
    """Set once so many requests were waited for."""

    def __init__(self, waits: int) -> None:
        self.waits = waits

    def is_set(self) -> bool:
        return self.wait(0.0)

    def wait(self, timeout: float) -> bool:
        self.waits -= 1
        return self.waits < 0


class Breaking:
    def send(self, request: Request, record: Record) -> None:
        raise ZeroDivisionError("a bug of ours")

    def close(self) -> None:
        pass


def test_a_bug_in_the_client_is_a_record_of_our_own_fault_and_the_lane_goes_on() -> None:
    written: list[Record] = []
    ledger = Ledger(written.append)
    kind = Kind(name="k", path="/", rate=1000.0, lanes=1)
    lane = Lane(0, Pace.of(kind, 42), Template(settings(kind), kind), Breaking, True, ledger, lambda record: None)  # type: ignore[arg-type]
    lane.run(time.monotonic() + 3600, StopAfter(3))
    assert [record.client_outcome for record in written] == ["local_error"] * 3
    assert written[0].error == "ZeroDivisionError: a bug of ours"
    assert ledger.sent == 3


class Hanging:
    """A client whose first request hangs until it's freed."""

    made: list[Hanging]
    freed = threading.Event()

    def __init__(self) -> None:
        self.made.append(self)

    def send(self, request: Request, record: Record) -> None:
        if self is self.made[0]:
            assert self.freed.wait(10)
        record.client_outcome = "complete"

    def close(self) -> None:
        pass


class Threads:
    """A crew of threads, in place of greenlets."""

    def __init__(self) -> None:
        self.threads: list[threading.Thread] = []

    def spawn(self, call: Callable[[int, float], None], n: int, due: float, /) -> object:
        self.threads.append(threading.Thread(target=call, args=(n, due)))
        self.threads[-1].start()
        return None

    def join(self) -> object:
        Hanging.freed.set()
        for thread in self.threads:
            thread.join()
        return None


def test_a_request_that_hangs_delays_none_after_it_and_is_still_waited_for() -> None:
    Hanging.made = []
    written: list[Record] = []
    ledger = Ledger(written.append)
    kind = Kind(name="k", path="/", rate=1000.0)
    pace = Pace("k", 1000.0, 1, (0, 0), 42)
    lane = Lane(0, pace, Template(settings(kind), kind), Hanging, True, ledger, lambda record: None, Threads())  # type: ignore[arg-type]
    lane.run(time.monotonic() + 3600, StopAfter(4))
    assert len(written) == 4
    assert ledger.missed == 0
    assert written[-1].id.endswith("-0"), "the one that hung is written last"
    assert 2 <= len(Hanging.made) <= 4
