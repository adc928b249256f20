"""The HTML report of a million requests on 60 instances: seconds to make it, its size, and the memory it takes.

python -m bench.html_report [REQUESTS]

The aim: under 10 seconds and 8 MB. It's made of what judging leaves: the document, the seconds, the sealed requests.
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from swarmtest.judge.seconds import ready_spans
from swarmtest.losses.seconds import Seconds, second_by_second
from swarmtest.reports.html import Run, render
from tests.reports.html.made_up import made_up

REPLICAS, REQUESTS, LOST = 60, 1_000_000, 3_000
MOST_SECONDS, MOST_MEGABYTES = 10.0, 8.0


def main(requests: int = REQUESTS) -> int:
    """Makes the report once; 1 where it took too long, or is too large."""
    with TemporaryDirectory() as folder:
        run = made_up(REPLICAS, requests, LOST, Path(folder) / "requests.parquet")
        began = time.perf_counter()
        counted = _count(run)
        between = time.perf_counter()
        page = Path(folder) / "report.html"
        with page.open("w", encoding="utf-8") as out:
            render(Run(run.document, counted, run.requests), out)
        took, size = time.perf_counter() - began, page.stat().st_size / 1e6
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    sys.stdout.write(
        f"html report, {requests:,} requests, {2 * REPLICAS} instances: {took:.1f} s"
        f" ({between - began:.1f} s of it the seconds), {size:.1f} MB, {most:.0f} MB of memory at most\n"
    )
    return int(took > MOST_SECONDS or size > MOST_MEGABYTES)


def _count(run: Run) -> Seconds:
    lost = ((one.id, one.loss) for one in run.document.loss_events)
    with duckdb.connect() as base:
        return second_by_second(base, str(run.requests), lost, ready_spans(run.document))


if __name__ == "__main__":
    raise SystemExit(main(*map(int, sys.argv[1:])))
