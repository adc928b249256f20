"""Folders of runs of any size, made of numbers: a rollout of three instances that loses nothing."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb

from swarmtest.events import Event, encode_event
from tests.judge.builder import T0, Rollout

RATE = 2000.0
"""Requests per second, a tenth of them of 4.5 s, the others of 20 to 100 ms."""

STEPS = {"start": "sent + 0.002", "finish": "done - 0.002"}
"""The lines that an instance writes of each request, and when."""

_MADE = f"""
CREATE TABLE made AS
WITH taken AS (
    SELECT n, CASE WHEN n % 10 = 0 THEN 'long' ELSE 'short' END AS kind, n / {RATE} - 8 AS moment,
        CASE WHEN n % 10 = 0 THEN 4.5 + (hash(n) % 1000) / 1e6 ELSE 0.02 + (hash(n) % 1000) / 12500 END AS took,
        (hash(n * 7) % 3)::INTEGER AS place
    FROM range($requests) numbers(n)
), given AS (
    SELECT *, list_filter(candidates, lambda life: life.since <= moment AND moment < life.until) AS takers
    FROM taken, (SELECT list(lives) AS candidates FROM lives)
)
SELECT n, 'ab12-' || kind || '-4242-' || n AS id, kind, {T0} + moment AS sent, {T0} + moment + took AS done,
    takers[1 + place % len(takers)].task AS task, takers[1 + place % len(takers)].container AS container
FROM given
"""

_REQUESTS = """
COPY (SELECT id, kind, 'POST' AS method, '/work' AS path, 'c' || (n % 64) AS connection, n % 2 = 0 AS reused,
    '127.0.0.1:8080' AS target, sent AS planned, sent, done AS first_byte, done, 200 AS status, 100 AS bytes_sent,
    20 AS bytes_received, task AS instance, true AS echoed, 'length' AS framing, false AS retry_after,
    'complete' AS client_outcome, NULL AS error, 1 AS attempt FROM made ORDER BY n) TO '{path}' (FORMAT json)
"""

_LINES = """
COPY (SELECT t, 'record' AS kind, event, request_id, task AS instance,
        row_number() OVER (PARTITION BY container ORDER BY t) AS seq, container
    FROM ({said} UNION ALL SELECT t, event, NULL, task, container FROM own) ORDER BY t) TO '{path}' (FORMAT json)
"""


def make_run(folder: Path, requests: int, *, recorded: bool) -> None:
    """Makes a run's folder as it is when the traffic has ended.

    Arguments:
        recorded: whether instances wrote a line at the start and at the finish of each request.
    """
    rollout = _rollout(requests / RATE)
    events = rollout.events()
    (folder / "requests").mkdir(parents=True)
    rollout.plan["traffic"]["kinds"] = [
        {"name": "short", "rate": RATE * 0.9, "milliseconds": [20, 100]},
        {"name": "long", "rate": RATE * 0.1, "milliseconds": [4500, 4500]},
    ]
    (folder / "plan.json").write_text(json.dumps(rollout.plan))
    with duckdb.connect() as base:
        base.execute(
            "CREATE TABLE lives AS SELECT unnest($tasks) AS task, unnest($containers) AS container,"
            " unnest($since::DOUBLE[]) AS since, unnest($until::DOUBLE[]) AS until",
            {
                "tasks": [life.task for life in rollout.lives],
                "containers": [life.container for life in rollout.lives],
                "since": [max(life.healthy or 0.0, life.warm or 0.0) + 0.2 for life in rollout.lives],
                "until": [life.announced + 0.15 if life.announced is not None else 1e9 for life in rollout.lives],
            },
        )
        base.execute(_MADE, {"requests": requests})
        base.execute(_REQUESTS.format(path=folder / "requests" / "requests-1.jsonl"))
        if recorded:
            _write_lines(base, folder / "lines.part", [event for event in events if event.kind == "record"])
    _write_trace(folder, events, requests, recorded)


def _rollout(seconds: float) -> Rollout:
    """A rollout in the middle of so many seconds, without any traffic."""
    rollout, later = Rollout(), seconds / 2
    for life in rollout.lives:
        for name in ("announced", "desired", "signalled", "unready", "closed", "exited"):
            if (t := getattr(life, name)) is not None:
                setattr(life, name, t + later)
    for life in rollout.new:
        for name in ("created", "started", "healthy", "warm"):
            setattr(life, name, getattr(life, name) + later)
    rollout.rates, rollout.ends = {"short": 0.0, "long": 0.0}, seconds - 8.0
    rollout.status = [(later + 0.2, "updating"), (later + 25.0, "completed")]
    return rollout


def _write_lines(base: duckdb.DuckDBPyConnection, path: Path, own: list[Event]) -> None:
    base.execute(
        "CREATE TABLE own AS SELECT unnest($t::DOUBLE[]) AS t, unnest($events::VARCHAR[]) AS event,"
        " unnest($tasks::VARCHAR[]) AS task, unnest($containers::VARCHAR[]) AS container",
        {
            "t": [event.t for event in own],
            "events": [event.get("event") for event in own],
            "tasks": [event.get("instance") for event in own],
            "containers": [event.get("container") for event in own],
        },
    )
    said = " UNION ALL ".join(
        f"SELECT round({at}, 6) AS t, '{step}' AS event, id AS request_id, task, container FROM made"
        for step, at in STEPS.items()
    )
    base.execute(_LINES.format(said=said, path=path))


def _write_trace(folder: Path, events: list[Event], requests: int, recorded: bool) -> None:
    lines, last = folder / "lines.part", max(event.t for event in events if event.kind == "phase") - 5.0
    told = [event for event in events if not (recorded and event.kind == "record")]
    told = [
        Event(event.t, event.kind, {**event.data, "sent": requests}) if event.get("event") == "stopped" else event
        for event in told
    ]
    with (folder / "events.jsonl").open("wb") as out:
        out.writelines(encode_event(event) for event in told if event.t < last)
        if recorded:
            with lines.open("rb") as some:
                while block := some.read(1 << 24):
                    out.write(block.replace(b',"request_id":null', b""))
            lines.unlink()
        out.writelines(encode_event(event) for event in told if event.t >= last)
