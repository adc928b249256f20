"""Recorded HTTP/1.1 requests per second and core, beside other clients in the same run."""

from __future__ import annotations

from statistics import median

from bench import Figure, Place, at_least
from bench.tools.clients import CONNECTIONS, Speed, hey, locusts, ours
from bench.tools.server import fast_server
from swarmtest.traffic.settings import Kind

SECONDS = 4.0
ROUNDS = 3
LOOP = Kind(name="loop", path="/work", rate=1.0, lanes=CONNECTIONS)
TARGETS = {"FastHttpUser": 3.0, "HttpUser": 12.0, "hey": 0.7}


def measure(place: Place) -> list[Figure]:
    """Every client in turn, several times over; of each the middle one of its speeds counts."""
    speeds: dict[str, list[Speed]] = {"swarmtest": [], "FastHttpUser": [], "HttpUser": [], "hey": []}
    with fast_server(place) as address:
        for _ in range(ROUNDS):
            speeds["swarmtest"].append(ours(place, address, LOOP, SECONDS).speed)
            speeds["FastHttpUser"].append(locusts(place, address, "Fast", SECONDS))
            speeds["HttpUser"].append(locusts(place, address, "Plain", SECONDS))
            if (speed := hey(place, address, SECONDS)) is not None:
                speeds["hey"].append(speed)
    core = {name: median(speed.per_core for speed in some) for name, some in speeds.items() if some}
    passed = {name: median(speed.per_second for speed in some) for name, some in speeds.items() if some}
    found = [Figure(f"{name}, requests per second and core", f"{core[name]:,.0f}") for name in core]
    found += [Figure(f"{name}, requests per second that passed", f"{passed[name]:,.0f}") for name in core]
    for name, least in TARGETS.items():
        if name in core:
            found.append(at_least(f"swarmtest beside {name}", core["swarmtest"] / core[name], least))
        else:
            found.append(Figure(f"swarmtest beside {name}", f"{name} isn't installed", f"at least {least:g} ×"))
    return found
