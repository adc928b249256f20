"""Ports for tests, none of which is given twice: so no client that's late knocks at a stranger's door.

The kernel soon gives a port that was let go to somebody else, and tests that run side by side ask at once. These are
taken in turn from below those that the kernel gives, and each worker of pytest-xdist has some of its own.
"""

from __future__ import annotations

import os
import socket
from itertools import cycle

FIRST, EACH, WORKERS = 12_000, 2_000, 8

_worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % WORKERS
_begin = os.getpid() % EACH  # another run of the tests, on the same machine, begins elsewhere
_ports = cycle(FIRST + EACH * _worker + (_begin + n) % EACH for n in range(EACH))


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
