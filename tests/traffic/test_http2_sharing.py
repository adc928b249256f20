"""Where new connections go, and what becomes of those who wait for one."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator

import pytest

from swarmtest.traffic.http1 import Limits
from swarmtest.traffic.http2_connections import ConnectionRecord
from swarmtest.traffic.http2_range import Http2Range
from swarmtest.traffic.http2_session import Terms
from swarmtest.traffic.http2_sharing import Dialer
from swarmtest.traffic.records import Record
from swarmtest.traffic.targets import Target


class InTurn:
    """Gives targets in the order of a list, over and over."""

    def __init__(self, *targets: Target) -> None:
        self._targets: Iterator[Target] = itertools.cycle(targets)

    def pick(self) -> Target | None:
        return next(self._targets, None)


def dialer(*targets: Target) -> Dialer:
    return Dialer(InTurn(*targets), Limits(5.0, 5.0), Terms(4), "k", itertools.count(1), lambda _: None)


def record() -> Record:
    return Record(id="r", kind="k", method="GET", path="/", planned=0.0)


def test_connections_are_dealt_out_evenly_however_the_turns_fall() -> None:
    with Http2Range("X-Instance-ID", "X-Request-ID") as server:
        one, two = server.door_of(0, "whole"), server.door_of(1, "whole")
        dials = dialer(one, one, one, two)  # others take turns, too
        made = [dials.connect(record(), 1e12) for _ in range(4)]
        assert Counter(target.label for _, target in made) == {one.label: 2, two.label: 2}
        for connection, target in made:
            if target == one:
                connection.close()
        again = [dials.connect(record(), 1e12) for _ in range(2)]
        assert {target.label for _, target in again} == {one.label}
        for connection, _ in (*made, *again):
            connection.close()


def test_without_a_target_there_is_no_connection() -> None:
    with pytest.raises(OSError, match="no target listed"):
        dialer().connect(record(), 1e12)


def test_each_connection_has_a_name_that_no_other_process_gives() -> None:
    ended: list[ConnectionRecord] = []
    with Http2Range("X-Instance-ID", "X-Request-ID") as server:
        door = server.door_of(0, "whole")
        dials = Dialer(InTurn(door), Limits(5.0, 5.0), Terms(4), "k", itertools.count(7), ended.append)
        connection, _ = dials.connect(record(), 1e12)
        connection.close()
    [one] = ended
    assert one.connection.startswith("h")
    assert one.connection.endswith("-7")
    assert (one.kind, one.target, one.ended_by) == ("k", door.label, "client")
