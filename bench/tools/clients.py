"""Clients side by side: ours, Locust's two, and hey; each on one processor, with as many connections."""

from __future__ import annotations

import json
import re
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from bench import Place
from bench.tools.machine import move, run_on
from swarmtest.traffic import process
from swarmtest.traffic.process import TrafficProcess
from swarmtest.traffic.settings import Kind, TrafficSettings

CONNECTIONS = 32
LOCUSTFILES = Path(__file__).resolve().parent.parent / "locustfiles"


@dataclass(frozen=True, slots=True)
class Speed:
    """What a client did.

    Attributes:
        per_core: requests per second of processor time that it took; other load on the machine hardly changes that.
        per_second: requests per second that passed.
    """

    per_core: float
    per_second: float


@dataclass(frozen=True, slots=True)
class Sent:
    """A run of our client: its last word, and its speed."""

    stopped: dict[str, object]
    speed: Speed


def ours(place: Place, address: str, kind: Kind, seconds: float, locustfile: str | None = None) -> Sent:
    """Our client with one kind of requests; a closed loop's connections are all kept.

    Arguments:
        locustfile: one of this folder's instead of swarmtest's own.
    """
    settings = TrafficSettings(
        run="bench",
        out=str(place.folder / "requests"),
        url=f"http://{address}",
        kinds=[kind],
        fresh_share=0.5 if kind.lanes is None else 0.0,
    )
    shutil.rmtree(settings.out, ignore_errors=True)
    own = process.LOCUSTFILE
    process.LOCUSTFILE = own if locustfile is None else LOCUSTFILES / locustfile
    try:
        child = TrafficProcess(settings, place.folder / "traffic.json", place.folder / "traffic.log")
    finally:
        process.LOCUSTFILE = own
    try:
        child.wait_until_calibrated()
        move(child.pid, place.client_core)
        child.go()
        began = float(child.wait_for("started", 10)["t"])
        time.sleep(seconds)
        child.stop()
        child.wait(60)
        stopped = dict(child.wait_for("stopped", 1))
    finally:
        child.kill()
    done, took = int(stopped["outcomes"].get("complete", 0)), stopped["t"] - began
    return Sent(stopped, Speed(done / (took * stopped["cpu_share"]), done / took))


def locusts(place: Place, address: str, user: str, seconds: float) -> Speed:
    """``FastHttpUser`` or ``HttpUser`` with a plain listener that writes a line for each request."""
    told = place.folder / f"{user}.json"
    command = [sys.executable, "-m", "locust", "--locustfile", str(LOCUSTFILES / "plain.py"), "--headless"]
    command += ["--only-summary", "--users", str(CONNECTIONS), "--spawn-rate", str(CONNECTIONS)]
    command += ["--run-time", f"{seconds:g}s", "--host", f"http://{address}", "--loglevel", "ERROR", user]
    run_on(place.client_core, command, {"BENCH_TOLD": str(told)})
    said = json.loads(told.read_text())
    return Speed(said["requests"] / said["cpu_seconds"], said["requests"] / said["seconds"])


def hey(place: Place, address: str, seconds: float) -> Speed | None:
    """hey, which keeps sums only; None where it isn't installed."""
    if shutil.which("hey") is None:
        return None
    command = ["hey", "-z", f"{seconds:g}s", "-c", str(CONNECTIONS), "-cpus", "1", "-H", "X-Request-ID: bench-1"]
    spent = run_on(place.client_core, [*command, f"http://{address}/work"], {"GOMAXPROCS": "1"})
    answered = re.search(r"\[200\]\s+(\d+)", spent.output)
    requests = int(answered[1]) if answered else 0
    return Speed(requests / spent.cpu_seconds, requests / spent.seconds)
