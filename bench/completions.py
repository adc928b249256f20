"""Whether every request of 2,000 a second leaves all its records on the instance that served it.

Two instances of the sample service and their bank share the machine with the client; nobody has a processor alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from bench import Figure, Place
from swarmtest.traffic.process import TrafficProcess, write_targets
from swarmtest.traffic.settings import Kind, TrafficSettings

RATE, SECONDS, INSTANCES = 2000.0, 5.0, 2
STEPS = ("start", "commit", "finish")
STACKS = Path(__file__).resolve().parent.parent / "stacks"
KIND = Kind(name="short", method="POST", path="/work?ms={ms}", milliseconds=(20, 300), rate=RATE)


def measure(place: Place) -> list[Figure]:
    """Sends, ends the instances in good order, and counts what they wrote."""
    with contextlib.ExitStack() as running:
        bank = _free_port()
        running.enter_context(_service(place, "bank", {"PORT": str(bank)}))
        ports = [_free_port() for _ in range(INSTANCES)]
        for port in ports:
            told = {"PORT": str(port), "BANK": f"127.0.0.1:{bank}", "INSTANCE_ID": f"i{port}"}
            running.enter_context(_service(place, "sample", told | {"WARM_UP_SECONDS": "0", "SHUTDOWN": "close"}))
        for port in (bank, *ports):
            _await(port)
        time.sleep(1.0)  # the instances are warm
        stopped, answered, seconds = _send(place, [f"127.0.0.1:{port}" for port in ports])
    lost, gaps = _missing(place, answered)
    sent = int(str(stopped["sent"]))
    return [
        Figure("requests answered a second", f"{len(answered) / seconds:,.0f} of {RATE:,.0f} that were due"),
        Figure("99 % of requests late by", f"{stopped['late_ms_p99']} ms"),
        Figure("requests answered in full", f"{len(answered):,} of {sent:,}", "all", len(answered) == sent),
        Figure("of these without all their records", f"{lost:,}", "none", lost == 0),
        Figure("gaps in the instances' numbers", f"{gaps:,}", "none", gaps == 0),
    ]


def _send(place: Place, targets: list[str]) -> tuple[dict[str, object], set[str], float]:
    """The client's last word, the IDs of what was answered in full, and the seconds from the first to the last."""
    listed = place.folder / "targets.json"
    write_targets(listed, targets)
    settings = TrafficSettings(
        run="bench", out=str(place.folder / "requests"), targets_file=str(listed), kinds=[KIND], timeout_seconds=60.0
    )
    child = TrafficProcess(settings, place.folder / "traffic.json", place.folder / "traffic.log")
    try:
        child.wait_until_calibrated()
        child.go()
        child.wait_for("started", 10)
        time.sleep(SECONDS)
        child.stop()
        child.wait(90)
        stopped = dict(child.wait_for("stopped", 1))
    finally:
        child.kill()
    lines = [json.loads(line) for path in Path(settings.out).iterdir() for line in path.read_text().splitlines()]
    good = [line for line in lines if line["client_outcome"] == "complete" and line["status"] == 200]
    seconds = max(line["done"] for line in lines) - min(line["planned"] for line in lines)
    return stopped, {line["id"] for line in good}, seconds


def _missing(place: Place, answered: set[str]) -> tuple[int, int]:
    """How many of the requests lack a record, and how many numbers the instances left out."""
    steps: Counter[str] = Counter()
    gaps = 0
    for path in place.folder.glob("sample-*.log"):
        records = [json.loads(line) for line in path.read_text().splitlines() if line.startswith("{")]
        gaps += max((record["seq"] for record in records), default=0) - len(records)
        for step in STEPS:
            steps.update({record["request_id"] for record in records if record["event"] == step})
    return sum(1 for request_id in answered if steps[request_id] < len(STEPS)), gaps


@contextlib.contextmanager
def _service(place: Place, module: str, told: Mapping[str, str]) -> Iterator[None]:
    folders = [STACKS / "api", STACKS / "bank", STACKS.parent / "contract"]
    environment = os.environ | told | {"PYTHONPATH": os.pathsep.join(map(str, folders)), "PYTHONUNBUFFERED": "1"}
    with (place.folder / f"{module}-{told['PORT']}.log").open("wb") as log:
        process = subprocess.Popen([sys.executable, "-m", module], stdout=log, stderr=log, env=environment)
        try:
            yield
        finally:
            process.terminate()
            process.wait()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def _await(port: int) -> None:
    until = time.monotonic() + 20
    while time.monotonic() < until:
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        time.sleep(0.05)
    raise RuntimeError(f"nothing listens on {port}")
