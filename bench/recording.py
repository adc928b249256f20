"""What it costs the client to keep a record of each request."""

from __future__ import annotations

from statistics import median

from bench import Figure, Place, at_most
from bench.tools.clients import CONNECTIONS, ours
from bench.tools.server import fast_server
from swarmtest.traffic.settings import Kind

SECONDS = 3.0
ROUNDS = 4
LOOP = Kind(name="loop", path="/work", rate=1.0, lanes=CONNECTIONS)


def measure(place: Place) -> list[Figure]:
    """The same loop with and without records, in turn."""
    kept, none = [], []
    with fast_server(place) as address:
        for _ in range(ROUNDS):
            kept.append(1e6 / ours(place, address, LOOP, SECONDS).speed.per_core)
            none.append(1e6 / ours(place, address, LOOP, SECONDS, "unrecorded.py").speed.per_core)
    whole, bare = median(kept), median(none)
    return [
        Figure("processor time per request, recorded", f"{whole:.1f} µs"),
        Figure("processor time per request, unrecorded", f"{bare:.1f} µs"),
        at_most("share of it that recording takes", 100 * (whole - bare) / whole, 10.0, "%"),
    ]
