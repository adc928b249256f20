"""Recorded HTTP/2 streams per second and core, four connections with eight streams each, beside h2load."""

from __future__ import annotations

import re
import shutil
from statistics import median

from bench import Figure, Place, at_least
from bench.tools.clients import CONNECTIONS, Speed, ours
from bench.tools.machine import run_on
from bench.tools.server import fast_server
from swarmtest.traffic.settings import Kind

SECONDS = 4.0
ROUNDS = 3
STREAMS = 8
LOOP = Kind(name="loop", path="/work", rate=1.0, protocol="h2", streams=STREAMS, lanes=CONNECTIONS)
LEAST = 6000.0


def measure(place: Place) -> list[Figure]:
    """Both clients in turn, several times over; the middle one of the speeds counts."""
    speeds: list[Speed] = []
    beside: list[Speed] = []
    with fast_server(place) as address:
        for _ in range(ROUNDS):
            speeds.append(ours(place, address, LOOP, SECONDS).speed)
            if (speed := _h2load(place, address)) is not None:
                beside.append(speed)
    found = [
        at_least("swarmtest, streams per second and core", median(one.per_core for one in speeds), LEAST, "/s"),
        Figure("swarmtest, streams per second that passed", f"{median(one.per_second for one in speeds):,.0f}"),
    ]
    if not beside:
        return [*found, Figure("h2load, which keeps sums only", "not installed (nghttp2-client)")]
    sums = median(one.per_core for one in beside), median(one.per_second for one in beside)
    return [
        *found,
        Figure("h2load, which keeps sums only, streams per second and core", f"{sums[0]:,.0f}"),
        Figure("h2load, streams per second that passed", f"{sums[1]:,.0f}"),
    ]


def _h2load(place: Place, address: str) -> Speed | None:
    """h2load with as many connections and streams; None where it isn't installed."""
    if shutil.which("h2load") is None:
        return None
    command = ["h2load", "--duration", f"{SECONDS:g}", "--clients", str(CONNECTIONS // STREAMS)]
    command += ["--max-concurrent-streams", str(STREAMS), "--header", "X-Request-ID: bench-1", f"http://{address}/work"]
    spent = run_on(place.client_core, command, {})
    done = re.search(r"(\d+) succeeded", spent.output)
    streams = int(done[1]) if done else 0
    return Speed(streams / spent.cpu_seconds, streams / spent.seconds)
