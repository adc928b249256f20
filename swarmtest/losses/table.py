"""What became of each request as tables of the database, for those who count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from swarmtest.evidence.requests import Requests
from swarmtest.losses import Accounted
from swarmtest.timeline import Partition

if TYPE_CHECKING:
    import duckdb

_CLASSES = """
CREATE TABLE classes AS SELECT unnest($numbers::BIGINT[]) AS n, unnest($losses::VARCHAR[]) AS loss,
    unnest($charges::VARCHAR[]) AS charge, unnest($unproved::BOOLEAN[]) AS unproved, unnest($tasks::VARCHAR[]) AS task
"""

_ACCOUNTED = """
CREATE {how} accounted AS
SELECT p.n, p.kind, p.protocol, p.reused, p.burst, CASE WHEN c.n IS NULL THEN l.task ELSE c.task END AS task,
    p.planned, p.first_byte, p.began, p.connected, p.ended, p.started, p.finished, p.status, p.attempt,
    c.n IS NULL AS plain, coalesce(c.loss, 'ok') AS loss, c.charge, coalesce(c.unproved, false) AS unproved
FROM placed p LEFT JOIN classes c ON c.n = p.n LEFT JOIN lives l ON l.life = p.life
"""


_TOLD = """(
SELECT r.*, nullif(a.loss, 'ok') AS class, coalesce(a.task, r.instance) AS place
FROM requests r JOIN accounted a ON a.n = r.n
)"""


@dataclass(frozen=True, slots=True)
class Told:
    """Every request with what became of it, as long as its database is open.

    Attributes:
        source: a table, or what DuckDB takes for one: the columns of the store, and ``class`` (null where it's ok) and
            ``place`` (the instance's task, or what the answer calls it).
    """

    base: duckdb.DuckDBPyConnection
    source: str


def told(requests: Requests) -> Told:
    """The requests of a run that's accounted for."""
    return Told(requests.database.connection, _TOLD)


def tabulate(partition: Partition, telling: Sequence[Accounted]) -> Requests:
    """Makes the table ``accounted`` of all requests.

    Arguments:
        telling: what became of those that were looked at one by one, in the partition's order.
    """
    partition.database.run(
        _CLASSES,
        {
            "numbers": partition.numbers,
            "losses": [one.loss.value for one in telling],
            "charges": [one.charge.value if one.charge is not None else None for one in telling],
            "unproved": [one.unproved for one in telling],
            "tasks": [one.life.task if one.life is not None else None for one in telling],
        },
    )
    partition.database.run(_ACCOUNTED.format(how="TABLE" if partition.database.small else "VIEW"))
    return Requests(partition.database)
