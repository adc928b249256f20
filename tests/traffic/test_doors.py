from __future__ import annotations

import socket
import threading

import pytest

from swarmtest.traffic.doors import Doors


def test_each_door_is_served_by_a_thread_of_its_own_which_ends_when_all_are_closed() -> None:
    doors, ended = Doors(), threading.Event()

    def serve(listener: socket.socket) -> None:
        listener.accept()[0].close()
        with pytest.raises(OSError):  # noqa: PT011 - which one is the kernel's choice
            listener.accept()
        ended.set()

    target = doors.open(serve)
    with socket.create_connection((target.host, target.port), timeout=5) as client:
        assert client.recv(1) == b""
    doors.close()
    assert ended.wait(5)


def test_nobody_listens_at_the_closed_one() -> None:
    doors = Doors()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((doors.closed.host, doors.closed.port), timeout=5)
    doors.close()
