"""Runs of any size, made up: so many instances that are replaced one after the other, so many requests in DuckDB.

python -m tests.reports.html.made_up 60 1000000 /tmp/page.html [losses]
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import duckdb

from swarmtest.judge.seconds import ready_spans
from swarmtest.losses.seconds import second_by_second
from swarmtest.losses.table import Told
from swarmtest.reports import (
    ActEntry,
    CheckEntry,
    Document,
    Figures,
    InstanceEntry,
    LossEvent,
    LossRow,
    Mark,
    StreamEvent,
    StreamRow,
)
from swarmtest.reports.html import Run, render
from tests.reports.conftest import SENTENCES

T0 = 1_796_163_331.25
STOP_SECONDS = 6.0
CLASSES = ("cut", "cut_finished", "refused", "gateway", "unknown")
"""What is lost at a stop, in turn."""


def made_up(replicas: int, requests: int, lost: int, file: Path) -> Run:
    """A rollout of so many instances, with so many requests in a Parquet file."""
    each = max(1.0, min(12.0, 240.0 / replicas))
    seconds = each * replicas + 25.0
    old = [_old(n, 5.0 + each * n) for n in range(replicas)]
    new = [_new(n, each * n) for n in range(replicas)]
    events = [_event(n, old[n * replicas // lost]) for n in range(lost)]
    _write(file, (replicas, requests, each, seconds), events)
    document = Document(
        version=1, run="20261201T221440Z-rolling-made-up", outcome="failed" if lost else "passed",
        exit_code=1 if lost else 0, scenario="rolling", stack="made-up.yml", engine={"version": "26.1.5", "nodes": 5},
        settings={"stack": {"replicas": replicas, "grace_seconds": 30.0}, "swarmtest": "0.1.0"},
        checks=[CheckEntry(name, "passed", text) for name, text in SENTENCES.items()],
        losses={"sent": requests + lost, "ok": requests, **Counter(event.loss for event in events)},
        instances=old + new, start=T0, seconds=seconds,
        loss_rows=[LossRow("short", "kept", requests + lost, {"ok": requests, "cut": lost}, 161.0, 299.0)],
        loss_events=events,
        proof={"sent": requests + lost, "lost": lost, "stops": replicas, "stops_with_loss": min(lost, replicas)},
        figures=Figures(replicas, 161.0, 4900.0, seconds - 25.0),
        acts=[ActEntry(1, "update", "api", "ok", T0, T0 + 0.02)],
        stream_rows=[StreamRow("feed", "websocket", 9, 3 * replicas, 3 * replicas, 2 * replicas, min(lost, replicas))],
        stream_events=[_stream(n, old[n]) for n in range(min(lost, replicas))],
    )  # fmt: skip
    requests = Told(duckdb.connect(), f"read_parquet('{file}')")
    return Run(document, second_by_second(requests, ready_spans(document)), requests)


def mark(at: float, error: float = 0.01) -> Mark:
    return Mark(T0 + at, error, "made up")


def _old(n: int, at: float) -> InstanceEntry:
    marks = {
        "started": mark(-40.0 - n % 7), "healthy": mark(-34.0 - n % 7), "warm": mark(-35.0),
        "first_served": mark(-10.0),
        "announced": mark(at, 0.1), "signalled": mark(at + 2.0), "unready": mark(at + 2.01), "closed": mark(at + 4.0),
        "last_new": mark(at + 0.6), "last_done": mark(at + 5.5), "exited": mark(at + STOP_SECONDS),
    }  # fmt: skip
    return _entry(n, "old", marks)


def _new(n: int, at: float) -> InstanceEntry:
    marks = {"started": mark(at), "healthy": mark(at + 4.0), "warm": mark(at + 3.0), "first_served": mark(at + 4.4)}
    return _entry(n, "new", marks)


def _entry(n: int, generation: str, marks: dict[str, Mark]) -> InstanceEntry:
    task = f"{generation}{n:03}".ljust(25, "x")
    return InstanceEntry(
        task, f"st_api.{n + 1}.{task}", n + 1, f"node-{n % 5}", generation, 0 if generation == "old" else None,
        None, 500, {**marks}, "stopped as asked" if generation == "old" else None, called=[task],
    )  # fmt: skip


def _event(n: int, on: InstanceEntry) -> LossEvent:
    gone = on.marks["exited"]
    assert gone is not None
    done = gone.at - (n % 50) / 25
    return LossEvent(
        f"lost-{n}", CLASSES[n % len(CLASSES)], "long" if n % 3 else "short", n % 2 == 0, done - (n % 17) / 4, done,
        None if n % 11 == 0 else on.id, "shutdown", "a handler had started; neither commit nor finish was recorded",
        saw="502",
    )  # fmt: skip


def _stream(n: int, on: InstanceEntry) -> StreamEvent:
    gone = on.marks["exited"]
    assert gone is not None
    return StreamEvent(f"s-{n}", "feed", f"session-{n}", on.id, T0 - 5, gone.at - 0.1, "cut without a close frame", 3)


def _write(file: Path, shape: tuple[int, int, float, float], events: Sequence[LossEvent]) -> None:
    """Requests spread over the run, each on an instance that lives at the time; then those that are lost."""
    replicas, requests, each, seconds = shape
    names = ("id", "kind", "instance", "sent", "done", "loss")
    lost = [[getattr(event, name) for event in events] for name in names]
    with duckdb.connect() as base:
        base.execute("SET threads = 1")  # so that the random numbers are the same each time
        base.execute("SELECT setseed(0.42)")
        base.execute(
            f"""
            COPY (
                SELECT 'ok-' || i AS id, if(i % 8 = 0, 'long', 'short') AS kind, 1 AS attempt, sent AS planned, sent,
                       sent + if(i % 8 = 0, 4 + 2 * random(), 0.02 + 0.28 * random()) AS done,
                       rpad(if(sent - {T0} < 5 + {each} * slot, 'old', 'new') || lpad(slot::VARCHAR, 3, '0'), 25, 'x')
                           AS instance, instance AS place
                FROM (SELECT i, {T0} - 10 + i * {seconds} / {requests} AS sent,
                             floor(random() * {replicas})::INTEGER AS slot
                      FROM range({requests}) t(i))
                UNION ALL BY NAME
                SELECT * EXCLUDE (loss), instance AS place, loss AS class, 1 AS attempt, sent AS planned
                FROM (SELECT {", ".join(f"unnest(?) AS {name}" for name in names)})
            ) TO '{file}' (FORMAT parquet, COMPRESSION zstd)
            """,
            lost,
        )


if __name__ == "__main__":
    replicas, requests, out = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    run = made_up(replicas, requests, int(sys.argv[4]) if len(sys.argv) > 4 else 40, out.with_suffix(".parquet"))
    with out.open("w", encoding="utf-8") as page:
        render(run, page)
    sys.stdout.write(f"{run.document.losses}, {out.stat().st_size} bytes\n")
