"""All requests of a run for those who count them: DuckDB answers, and nothing is made an object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from swarmtest.evidence.database import Database


class Requests:
    """Every request with what became of it: the table ``accounted``, and ``requests`` as the client wrote them.

    ``accounted`` has ``n`` (the number of the row, as in ``requests``), ``kind``, ``protocol``, ``reused``, ``burst``
    (null for the steady traffic), ``task`` (of its instance, null where nobody knows), ``planned``, ``began``,
    ``connected`` (the same as ``began`` on a kept connection), ``first_byte``, ``ended``; ``started`` and ``finished``
    (by the instance's own lines), ``status``, ``attempt``; ``loss``, ``charge``, ``unproved``, and ``plain``: whether
    it was only counted.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def database(self) -> Database:
        """The tables themselves."""
        return self._database

    def rows(self, sql: str, values: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """The rows of a statement; ``$name`` in it stands for a value."""
        return self._database.rows(sql, values)

    def count(self, where: str, values: Mapping[str, Any] | None = None) -> int:
        """How many requests fulfil a condition."""
        return int(self._database.value(f"SELECT count(*) FROM accounted WHERE {where}", values))

    def plain_times(self, where: str, values: Mapping[str, Any] | None = None) -> list[float]:
        """When the first plain request that fulfils a condition was begun by its instance, or was over; or nothing."""
        found = self._database.value(
            f"SELECT min(coalesce(started, ended)) FROM accounted WHERE plain AND {where}", values
        )
        return [] if found is None else [float(found)]

    def quantile(self, share: float, where: str, values: Mapping[str, Any] | None = None) -> float | None:
        """Milliseconds within which a share of the requests that fulfil a condition ended, by the nearest rank."""
        found = self._database.value(
            f"SELECT quantile_disc((ended - began) * 1000, {share!r}) FROM accounted WHERE {where}", values
        )
        return None if found is None else round(float(found), 3)
