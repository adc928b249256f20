"""A worker on another machine than the run's: Locust's own processes, in a session that ends as a whole."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile

from swarmtest.errors import Interrupted, TrafficError
from swarmtest.interrupts import deferred
from swarmtest.traffic.process import worker_command
from swarmtest.traffic.settings import ENVIRONMENT_VARIABLE

PATIENCE_SECONDS = 5.0
"""So long the processes may take to end when they're told to."""


def run_worker(host: str, port: int, processes: int) -> int:
    """Sends a share of what a master on another machine has to send; returns the exit code.

    Whatever ends it ends all of its processes: one that was left behind would go on sending.
    """
    with tempfile.TemporaryDirectory(prefix="swarmtest-worker-") as folder:
        kept = {name: value for name, value in os.environ.items() if name != ENVIRONMENT_VARIABLE}
        kept = {name: value for name, value in kept.items() if not name.startswith("LOCUST_")} | {"HOME": folder}
        with contextlib.ExitStack() as after:
            with deferred():
                child = subprocess.Popen(
                    worker_command(host, port, processes), cwd=folder, env=kept, stdin=subprocess.DEVNULL,
                    start_new_session=True,
                )  # fmt: skip
                after.callback(_end, child)
            code = child.wait()
    if code in (-signal.SIGINT, -signal.SIGTERM):
        raise Interrupted(signal.Signals(-code).name)
    if code != 0:
        raise TrafficError(f"the worker ended with {code}; its words are above")
    return 0


def _end(child: subprocess.Popen[bytes]) -> None:
    """Ends whatever is left of the session, which has the number of its first process."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(PATIENCE_SECONDS)
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
