"""Waiting in the kernel; waiting in gevent's hub is what every test of the child does."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator

import pytest

from swarmtest.traffic.waiting import plain, waits_for


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def test_waiting_for_what_has_come_returns_at_once(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    theirs.send(b"x")
    waits_for(ours).for_reading(time.monotonic() + 10)
    assert ours.recv(10) == b"x"


def test_the_end_of_the_stream_is_something_to_read(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    theirs.close()
    waits_for(ours).for_reading(time.monotonic() + 10)
    assert ours.recv(10) == b""


def test_a_socket_that_can_be_written_to_is_ready_although_nothing_has_come(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    waits_for(pair[0]).for_either(time.monotonic() + 10)


@pytest.mark.parametrize("seconds", [-1.0, 0.0, 0.001])
def test_nothing_by_the_deadline_is_a_time_out_of_our_own(
    pair: tuple[socket.socket, socket.socket], seconds: float
) -> None:
    with pytest.raises(TimeoutError) as caught:
        waits_for(pair[0]).for_reading(time.monotonic() + seconds)
    assert caught.value.errno is None


def test_a_socket_of_the_standard_library_has_no_other_beneath_it(pair: tuple[socket.socket, socket.socket]) -> None:
    assert plain(pair[0]) is pair[0]
