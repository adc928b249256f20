"""The HTML report of a million requests on 60 instances that are replaced: seconds to make it, and its size.

It's made of what judging leaves: the document, the figures by second, and the sealed requests.
"""

from __future__ import annotations

import resource
import time

from bench import Figure, Place, at_most
from swarmtest.judge.seconds import ready_spans
from swarmtest.losses.seconds import Seconds, second_by_second
from swarmtest.reports.html import Run, render
from tests.reports.html.made_up import made_up

REPLICAS, REQUESTS, LOST = 60, 1_000_000, 3_000


def measure(place: Place) -> list[Figure]:
    """Makes the report once."""
    run = made_up(REPLICAS, REQUESTS, LOST, place.folder / "requests.parquet")
    page = place.folder / "report.html"
    began = time.perf_counter()
    counted = _count(run)
    between = time.perf_counter()
    with page.open("w", encoding="utf-8") as out:
        render(Run(run.document, counted, run.requests), out)
    ended = time.perf_counter()
    return [
        at_most("the report, its figures by second included", ended - began, 10.0, "s"),
        Figure("of it the figures by second", f"{between - began:.2f} s"),
        at_most("size of the page", page.stat().st_size / 1e6, 8.0, "MB"),
        Figure("memory of the process at most", f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB"),
    ]


def _count(run: Run) -> Seconds:
    assert run.requests is not None
    return second_by_second(run.requests, ready_spans(run.document))
