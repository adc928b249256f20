"""Ports for tests, none of which is given twice: so no client that's late knocks at a stranger's door.

The kernel soon gives a port that was let go to somebody else, and tests that run side by side ask at once. These are
taken in turn from below those that the kernel gives, and each process that runs tests has some of its own, for which
it holds a lock as long as it lives.
"""

from __future__ import annotations

import fcntl
import os
import socket
import tempfile
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

FIRST, EACH, SHARES = 12_000, 1_000, 20


def free_port() -> int:
    """A port on which nobody listens, and that was given to nobody before."""
    for port in _ports:
        with socket.socket() as probe:
            try:
                probe.bind(("", port))
            except OSError:
                continue
            return port
    raise AssertionError("there's an end to what goes round")


def _of_a_share() -> Iterator[int]:
    """Those of this process, from another one on than the last process had that they belonged to."""
    share = _take_a_share()
    begin = os.getpid() % EACH
    yield from cycle(FIRST + EACH * share + (begin + n) % EACH for n in range(EACH))


def _take_a_share() -> int:
    for share in range(SHARES):
        lock = os.open(Path(tempfile.gettempdir(), f"swarmtest-test-ports-{share}"), os.O_CREAT | os.O_WRONLY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
        else:
            return share
    raise AssertionError(f"{SHARES} processes run tests on this machine; wait until one of them has ended")


_ports = _of_a_share()
