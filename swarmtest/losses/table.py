"""What became of each request as a table of the database, for those who count."""

from __future__ import annotations

from collections.abc import Sequence

from swarmtest.evidence.requests import Requests
from swarmtest.losses import Accounted
from swarmtest.timeline import Partition

_CLASSES = """
CREATE TABLE classes AS SELECT unnest($numbers::BIGINT[]) AS n, unnest($losses::VARCHAR[]) AS loss,
    unnest($charges::VARCHAR[]) AS charge, unnest($unproved::BOOLEAN[]) AS unproved, unnest($tasks::VARCHAR[]) AS task
"""

_ACCOUNTED = """
CREATE VIEW accounted AS
SELECT p.n, p.kind, p.protocol, p.reused, p.burst, CASE WHEN c.n IS NULL THEN l.task ELSE c.task END AS task,
    p.planned, p.first_byte, p.began, p.connected, p.ended, p.started, p.finished, p.status, p.attempt,
    c.n IS NULL AS plain, coalesce(c.loss, 'ok') AS loss, c.charge, coalesce(c.unproved, false) AS unproved
FROM placed p LEFT JOIN classes c ON c.n = p.n LEFT JOIN lives l ON l.life = p.life
"""


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
    partition.database.run(_ACCOUNTED)
    return Requests(partition.database)
