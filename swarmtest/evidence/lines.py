"""What the lines about requests add up to, without an object for any of them.

A log that was opened again repeats lines, which count once. Whether a sequence has gaps or repeats is told
by a bit for each number, so that it costs next to nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from swarmtest.evidence.database import STEPS, Database

_STEPS = ", ".join(f"'{step}'" for step in STEPS)

DENSE = 64
"""A sequence whose numbers reach further than so many times their count isn't told by bits."""

_COUNTS = f"""
SELECT container, count(*), count(seq), min(seq), max(seq),
    count(*) FILTER (event = 'start'), count(*) FILTER (event = 'intent'), count(*) FILTER (event = 'finish'),
    count(*) FILTER (event IN ({_STEPS}) AND coalesce(request_id, '') = ''),
    count(*) FILTER (event IN ('commit', 'finish') AND request_id <> ''),
    count(*) FILTER (event = 'commit' AND stored IS NOT NULL AND request_id <> ''),
    min(t) FILTER (event = 'start' AND request_id <> ''), max(t) FILTER (event = 'start' AND request_id <> ''),
    max(t) FILTER (event = 'finish' AND request_id <> '')
FROM lines WHERE kind = 'record' GROUP BY container
"""

_HOLES = """
SELECT seq + 1, next - 1 FROM (
    SELECT seq, lead(seq) OVER (ORDER BY seq) AS next FROM (
        SELECT DISTINCT seq FROM lines WHERE kind = 'record' AND container = $container AND seq IS NOT NULL))
WHERE next > seq + 1 ORDER BY seq
"""

_REPEATED = """
DELETE FROM lines WHERE kind = 'record' AND container IN (SELECT unnest($containers)) AND rowid NOT IN (
    SELECT min(rowid) FROM lines WHERE kind = 'record' AND container IN (SELECT unnest($containers))
    GROUP BY container, seq, event, request_id, t)
"""


@dataclass(frozen=True, slots=True)
class Counts:
    """What one container's lines add up to.

    Attributes:
        lines, numbered, distinct: all of them, those with a sequence number, and how many numbers those are.
        least, most: of the numbers.
        holes: the first and the last number of each gap between them.
        ended, stored: lines of a request that say how it ended, or how much of it is stored.
        first_start, last_start, last_finish: times.
    """

    lines: int = 0
    numbered: int = 0
    distinct: int = 0
    least: int | None = None
    most: int | None = None
    holes: tuple[tuple[int, int], ...] = ()
    starts: int = 0
    intents: int = 0
    finishes: int = 0
    nameless: int = 0
    ended: int = 0
    stored: int = 0
    first_start: float | None = None
    last_start: float | None = None
    last_finish: float | None = None


def names_said(database: Database) -> list[tuple[str, str]]:
    """What instances call themselves in their lines, with the container that does."""
    return [
        (str(name), str(container))
        for name, container in database.rows(
            "SELECT DISTINCT instance, container FROM lines WHERE kind = 'record' AND instance <> ''"
        )
    ]


def settle(database: Database, others: Collection[str], shifts: Mapping[str, float]) -> None:
    """Leaves lines of other services out, and turns each time into ours.

    Arguments:
        others: containers of other services, whose lines say nothing of a request.
        shifts: container to its clock minus ours, where that's to be taken off.
    """
    if others:
        database.run(
            "DELETE FROM lines WHERE kind = 'record' AND container IN (SELECT unnest($others))",
            {"others": sorted(others)},
        )
    for container, shift in shifts.items():
        database.run(
            "UPDATE lines SET t = t - $shift WHERE container = $container", {"shift": shift, "container": container}
        )


def containers(database: Database) -> list[str]:
    """All containers that wrote a line."""
    return [str(name) for (name,) in database.rows("SELECT DISTINCT container FROM lines ORDER BY ALL")]


def count_lines(database: Database) -> dict[str, Counts]:
    """The counts of each container, each line once."""
    rows = database.rows(_COUNTS)
    distinct = _distinct(database, rows)
    doubtful = [row[0] for row in rows if row[1] > row[2] or distinct.get(row[0], 0) < row[2]]
    if doubtful:
        database.run(_REPEATED, {"containers": doubtful})
        rows = database.rows(_COUNTS)
    found = {}
    for row in rows:
        container, lines, numbered, least, most, *more = row
        different = distinct.get(container, 0)
        gaps = different and most is not None and most - least + 1 > different
        holes = database.rows(_HOLES, {"container": container}) if gaps else []
        found[container] = Counts(lines, numbered, different, least, most, tuple(holes), *more)
    return found


def _distinct(database: Database, rows: list[tuple[Any, ...]]) -> dict[str, int]:
    """How many different sequence numbers each container wrote."""
    numbered = [row for row in rows if row[2]]
    if not numbered:
        return {}
    least, most = min(row[3] for row in numbered), max(row[4] for row in numbered)
    dense = most - least < DENSE * max(1024, *(row[2] for row in numbered))
    counted = f"bit_count(bitstring_agg(seq, {least}, {most}))" if dense else "count(DISTINCT seq)"
    found = database.rows(
        f"SELECT container, {counted} FROM lines WHERE kind = 'record' AND seq IS NOT NULL GROUP BY container"
    )
    return dict(found)
