"""Which of the plain requests tell something by themselves, so that they're looked at one by one.

What ran at a mark of its instance, came after its close or before it was ready; the first and the last of each
instance and of each burst, and the longest. All others are only ever counted, by DuckDB.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from swarmtest.evidence.database import Database
from swarmtest.timeline.aliases import Aliases
from swarmtest.timeline.lifespan import Lifespan

MARKS = ("signalled", "killed", "exited")
"""Marks at which it matters what an instance was doing."""

AROUND_SECONDS = 0.1
"""Beyond the error of a close: what's on its way when a listener closes isn't new any more."""

FIRST = 12
"""How many of the first requests of a run are looked at."""

_NAMES = """
CREATE TABLE names AS SELECT unnest($told::VARCHAR[]) AS told, hash(unnest($names::VARCHAR[])) AS name,
    unnest($since::DOUBLE[]) AS since, unnest($until::DOUBLE[]) AS until, unnest($lives::INTEGER[]) AS life
"""
"""Which instance bore a name, by the number that stands for it in ``facts``; a container's is its own for ever."""

_PLACED = """
CREATE TABLE placed AS
SELECT f.* EXCLUDE (called, box, target, server),
    CASE WHEN f.sure THEN coalesce(b.life, h.life) END AS life, d.life AS dialled
FROM facts f
LEFT JOIN names b ON b.told = 'container' AND b.name = f.box
LEFT JOIN names h ON h.told = 'header' AND h.name = f.called AND f.began >= h.since AND f.began < h.until
LEFT JOIN names d ON d.told = 'server' AND d.name = f.server AND f.began >= d.since AND f.began < d.until
"""

_EDGES = """
CREATE TABLE edges AS
SELECT life, min(began) AS b0, max(began) AS b1, min(ended) AS e0, max(ended) AS e1,
    min(started) AS s0, max(started) AS s1, max(finished) AS f1,
    max(began) FILTER (NOT reused) AS fresh, max(began) FILTER (proxied) AS sent,
    max(started) FILTER (NOT reused) AS fresh_started,
    arg_max(n, finished - started) AS ran, arg_max(n, ended - connected) AS took
FROM placed WHERE sure GROUP BY life
"""

_ODD = f"""
CREATE TABLE odd AS SELECT DISTINCT n FROM (
    SELECT n FROM placed WHERE NOT sure OR life IS NULL
    UNION ALL
    SELECT p.n FROM placed p JOIN instants i ON i.life = p.life
    WHERE p.sure AND least(p.began, p.started) <= i.until AND greatest(p.ended, p.finished) >= i.since
    UNION ALL
    SELECT p.n FROM placed p JOIN edges e ON e.life = p.life
    WHERE p.sure AND (p.began IN (e.b0, e.b1) OR p.ended IN (e.e0, e.e1) OR p.started IN (e.s0, e.s1)
        OR p.finished = e.f1 OR (NOT p.reused AND (p.began = e.fresh OR p.started = e.fresh_started))
        OR (p.proxied AND p.began = e.sent) OR p.n = e.ran
        OR p.n = e.took)
    UNION ALL
    SELECT n FROM placed
    WHERE began <= (SELECT max(began) FROM (SELECT began FROM placed ORDER BY began LIMIT {FIRST}))
    UNION ALL
    SELECT unnest([arg_min(n, began), arg_max(n, began), arg_min(n, coalesce(planned, began)),
        arg_max(n, coalesce(planned, began))]) FROM placed GROUP BY burst
    UNION ALL
    SELECT arg_max(n, began) FROM placed WHERE dialled IS NOT NULL GROUP BY dialled
)
"""


def find_telling(database: Database, lives: Sequence[Lifespan], aliases: Aliases) -> None:
    """Makes the tables ``placed``, with the number of each request's instance, and ``odd``, those to look at."""
    number = {life.task: k for k, life in enumerate(lives)}
    called = [str(name) for (name,) in database.rows("SELECT DISTINCT instance FROM requests WHERE instance <> ''")]
    servers = [str(name) for (name,) in database.rows("SELECT DISTINCT server FROM lines WHERE server <> ''")]
    names = [
        *(("container", name, 0.0, 0.0, life) for name, life in aliases.by_container.items()),
        *(("header", name, *span) for name in called for span in aliases.spans_of_header(name)),
        *(("server", name, *span) for name in servers for span in aliases.spans_of_address(name)),
    ]
    rows = [(*which, number[life.task]) for *which, life in names]
    database.run(_NAMES, dict(zip(("told", "names", "since", "until", "lives"), _columns(rows, 5), strict=True)))
    database.run(_PLACED)
    database.run(
        "CREATE TABLE lives AS SELECT unnest($tasks::VARCHAR[]) AS task, unnest($lives::INTEGER[]) AS life",
        {"tasks": list(number), "lives": list(number.values())},
    )
    instants = [(number[life.task], *edge) for life in lives for edge in _instants(life)]
    database.run(
        "CREATE TABLE instants AS SELECT unnest($lives::INTEGER[]) AS life,"
        " unnest($since::DOUBLE[]) AS since, unnest($until::DOUBLE[]) AS until",
        dict(zip(("lives", "since", "until"), _columns(instants, 3), strict=True)),
    )
    database.run(_EDGES)
    database.run(_ODD)


def _columns(rows: Sequence[tuple[object, ...]], count: int) -> list[list[object]]:
    return [[row[place] for row in rows] for place in range(count)]


def _instants(life: Lifespan) -> Iterable[tuple[float, float]]:
    """When it matters what an instance was doing."""
    for name in MARKS:
        if (mark := life.mark(name)) is not None:
            yield mark.at - mark.error, mark.at + mark.error
    if (closed := life.mark("closed")) is not None:
        yield closed.at - closed.error - AROUND_SECONDS, float("inf")
    ready = life.mark("warm") or life.mark("healthy")
    if ready is not None and life.generation == "new":
        yield float("-inf"), ready.at + ready.error + AROUND_SECONDS
