"""One lane's requests: what's on the wire, and that each one is recorded whatever happens."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from typing import Any

import pytest

from swarmtest.traffic.arrivals import Arrivals, Loop
from swarmtest.traffic.http1 import Request
from swarmtest.traffic.lanes import Lane, Template
from swarmtest.traffic.ledger import Ledger
from swarmtest.traffic.pacing import Pace
from swarmtest.traffic.protocols import Tools, lanes_for
from swarmtest.traffic.records import Record
from swarmtest.traffic.settings import Kind, TrafficSettings
from swarmtest.traffic.targets import FrontDoor, Target

TARGET = Target.from_url("http://shop.example:8080/base")


class Group:
    """A crew that's never asked to run anything."""

    def spawn(self, call: Any, n: int, due: float, /) -> None:
        raise AssertionError

    def join(self) -> None:
        raise AssertionError


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
    tools = Tools(settings(*kinds, fresh_share=share), FrontDoor(TARGET), Ledger(print), Group)
    users = list(lanes_for(tools))
    assert [type(user) for user in users] == [Arrivals, Arrivals]
    for user in users:
        assert len(user.lanes) == 34
        assert sum(lane.keeps for lane in user.lanes) == kept


def test_a_kind_that_names_its_lanes_is_a_closed_loop_with_a_user_for_each() -> None:
    kind = Kind(name="a", path="/", rate=34.0, lanes=3)
    users = list(lanes_for(Tools(settings(kind), FrontDoor(TARGET), Ledger(print), Group)))
    assert [(type(user), user.number, user.of) for user in users] == [(Loop, n, 3) for n in range(3)]


class Breaking:
    def send(self, request: Request, record: Record) -> None:
        raise ZeroDivisionError("a bug of ours")

    def close(self) -> None:
        pass


def lane_of(new_client: Any, written: list[Record], **kind: Any) -> Lane:
    made = Kind(name="k", path="/", rate=1000.0, **kind)
    template = Template(settings(made), made)
    return Lane(template, Pace.of(made, 42), Ledger(written.append), new_client, keeps=True)


def test_a_bug_in_the_client_is_a_record_of_our_own_fault_and_the_lane_goes_on() -> None:
    written: list[Record] = []
    lane = lane_of(Breaking, written)
    for n in range(3):
        lane.send(n, time.monotonic())
    assert [record.client_outcome for record in written] == ["local_error"] * 3
    assert written[0].error == "ZeroDivisionError: a bug of ours"


class Nested:
    """A client whose request has another one of its lane sent while it's under way."""

    made: list[Nested]
    lane: Lane

    def __init__(self) -> None:
        self.made.append(self)
        self.closed = False

    def send(self, request: Request, record: Record) -> None:
        if record.id.endswith("-0"):
            self.lane.send(1, time.monotonic())
        record.client_outcome = "complete"

    def close(self) -> None:
        self.closed = True


def test_a_busy_lane_opens_one_more_connection_and_an_idle_one_uses_the_warm_one() -> None:
    Nested.made = []
    written: list[Record] = []
    Nested.lane = lane_of(Nested, written)
    Nested.lane.send(0, time.monotonic())
    assert len(Nested.made) == 2
    Nested.lane.send(2, time.monotonic())
    assert len(Nested.made) == 2
    assert [record.id.rpartition("-")[2] for record in written] == ["1", "0", "2"]
    Nested.lane.close()
    assert all(client.closed for client in Nested.made)


def test_a_lane_keeps_no_more_idle_connections_than_the_rate_needs() -> None:
    """Those that a slow app made it open would take the places of new ones at a front door that has only so many."""
    Nested.made = []
    Nested.lane = lane_of(Nested, [])
    assert Nested.lane._pace.idle == 5, "1,000 a second on 200 lanes"
    Nested.lane._pace = replace(Nested.lane._pace, idle=1)
    Nested.lane.send(0, time.monotonic())
    inner, outer = Nested.made[1], Nested.made[0]
    assert (inner.closed, outer.closed) == (False, True), "the one that was done first is idle already"
    Nested.lane.send(2, time.monotonic())
    assert not inner.closed, "it's used again, and stays"
    Nested.lane.send(0, time.monotonic())
    assert len(Nested.made) == 2, "one without a connection dials anew before there's a third"


def test_a_request_that_is_sent_late_keeps_the_instant_that_it_was_planned_for() -> None:
    written: list[Record] = []
    before = time.time()
    lane_of(Breaking, written).send(0, time.monotonic() - 5.0)
    assert before - 5.1 <= written[0].planned <= time.time() - 4.9


def test_the_paths_of_a_kind_are_asked_for_in_turn() -> None:
    written: list[Record] = []
    lane = lane_of(Breaking, written, paths=["/a", "/b", "/a"])
    for n in range(5):
        lane.send(n, time.monotonic())
    assert [record.path for record in written] == ["/a", "/b", "/a", "/a", "/b"]
