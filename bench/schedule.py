"""How exactly 2,000 requests a second are sent when they're due, on one core."""

from __future__ import annotations

from bench import Figure, Place, at_most
from bench.tools.clients import ours
from bench.tools.server import fast_server
from swarmtest.traffic.settings import Kind

SECONDS = 10.0
RATE = 2000.0


def measure(place: Place) -> list[Figure]:
    """Both sorts of arrivals, half of them on fresh connections."""
    found = []
    with fast_server(place) as address:
        for arrivals in ("even", "poisson"):
            kind = Kind(name="short", path="/work", rate=RATE, arrivals=arrivals)
            stopped = ours(place, address, kind, SECONDS).stopped
            missed, sent = stopped["missed"], stopped["sent"]
            found += [
                at_most(f"{arrivals}: 99 % of requests late by", float(stopped["late_ms_p99"]), 5.0, "ms"),
                Figure(f"{arrivals}: arrivals dropped", f"{missed:,} of {sent + missed:,}", "none", missed == 0),
                Figure(f"{arrivals}: processor time of the client", f"{stopped['cpu_share']:.0%} of one core"),
            ]
    return found
