"""The requests of one window and kind that were answered: DuckDB counts them, since they may be millions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from swarmtest.evidence.requests import Requests
from swarmtest.limits import Limit

DUE = "coalesce(a.planned, a.began)"
_TIMES = {DUE: f"(a.ended - {DUE}) * 1000", "a.began": "(a.ended - a.began) * 1000"}
BELONGS = f"(CASE WHEN a.loss = 'ok' THEN {DUE} ELSE a.ended END)"
"""An answered request belongs to when it was due, a lost one to when it was lost."""


@dataclass(frozen=True, slots=True)
class Times:
    """How quick the answers were.

    Attributes:
        above: how many aren't within the limit.
        corrected, uncorrected: the limit's percentile by the nearest rank, counted from when they were due and from
            when they were really sent.
    """

    count: int
    above: int
    corrected: float
    uncorrected: float


@dataclass(frozen=True, slots=True)
class Answers:
    """What was answered well.

    Attributes:
        values: ``begins`` and ``ends`` of the window, and ``kind``, null for all.
    """

    requests: Requests
    values: Mapping[str, Any]

    def count(self) -> int:
        """How many they are."""
        return int(self._rows("count(*)")[0][0])

    def times(self, limit: Limit) -> Times | None:
        """How quick they were, as a limit on a percentile asks for it; None where nothing was answered."""
        corrected, uncorrected = (f"quantile_disc({time}, {limit.share or 0!r})" for time in _TIMES.values())
        columns = f"count(*), count(*) FILTER (WHERE {_beyond(limit)}), {corrected}, {uncorrected}"
        count, above, *percentiles = self._rows(columns)[0]
        return Times(int(count), int(above), *map(float, percentiles)) if count else None

    def worst_second(self, limit: Limit) -> tuple[int, int, int]:
        """The second in which most of those were due that aren't within a limit: how many, and of how many."""
        columns = f"floor({DUE})::BIGINT AS second, count(*) FILTER (WHERE {_beyond(limit)}) AS above, count(*)"
        row = self._rows(columns, "GROUP BY second ORDER BY above DESC, second LIMIT 1")[0]
        return int(row[0]), int(row[1]), int(row[2])

    def slowest(self, limit: Limit, most: int) -> list[tuple[str, float]]:
        """IDs and milliseconds of the slowest ones that aren't within a limit."""
        time = _TIMES[DUE]
        rows = self._rows(f"r.id, {time} AS ms", f"AND {_beyond(limit)} ORDER BY ms DESC, r.id LIMIT {most}")
        return [(str(name), float(milliseconds)) for name, milliseconds in rows]

    def by_second(self) -> dict[int, int]:
        """How many ended in each second."""
        return {int(t): int(n) for t, n in self._rows("floor(a.ended)::BIGINT AS second, count(*)", "GROUP BY second")}

    def _rows(self, columns: str, more: str = "") -> list[tuple[Any, ...]]:
        source = "accounted a JOIN requests r USING (n)" if "r." in columns else "accounted a"
        where = f"a.loss = 'ok' AND {DUE} >= $begins AND {DUE} < $ends AND ($kind IS NULL OR a.kind = $kind)"
        return self.requests.rows(f"SELECT {columns} FROM {source} WHERE {where} {more}", self.values)


def _beyond(limit: Limit) -> str:
    """Whether an answer time isn't within a limit, with the same slack as :meth:`Limit.holds`."""
    slack = 1e-9 * max(1.0, abs(limit.value))
    strict = limit.sign == "<"
    return f"{_TIMES[DUE]} {'>=' if strict else '>'} {limit.value - slack if strict else limit.value + slack!r}"
