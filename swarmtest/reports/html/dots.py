"""The requests of a run as dots: counted in DuckDB, so that a million of them fit into a page.

Those that are ok are drawn together where they'd lie on each other anyway: same row, same moment, about the same
time to answer. Those that aren't are all drawn; where there are too many to tell about one by one, some that lie
on each other are one dot that says how many it is.
"""

from __future__ import annotations

import math
import sys
from array import array
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from swarmtest.reports import CLASSES, LossEvent

if TYPE_CHECKING:
    import duckdb

MOST_BINS = 100_000
"""Dots of what is ok; a browser draws so many in a blink."""

MOST_TOLD = 3_000
"""Lost requests that each have a dot of their own, and a text; more are counted together."""

GRAINS = (0.001, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 60.0, 600.0)
"""Seconds that one dot may stand for, each a multiple of the one before."""

FINE_LEVELS, COARSE_LEVELS, MANY_ROWS = 24, 6, 24
"""Into how many steps of height times to answer are sorted, with few rows and with many; from 1 ms to 60 s."""

LONGEST_DECADE = 4.8
"""The decimal logarithm of the longest time that's told apart, in milliseconds."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where dots lie.

    Attributes:
        zero: epoch seconds that the picture counts from.
        since: epoch seconds before which there's no request.
        rows: how many rows there are; the row of this number is for requests that no instance is known of.
        by_instance: task ID → row.
        by_header: what an answer calls its instance → row.
    """

    zero: float
    since: float
    rows: int
    by_instance: Mapping[str, int]
    by_header: Mapping[str, int]

    @property
    def levels(self) -> int:
        """Steps of height in a row."""
        return FINE_LEVELS if self.rows <= MANY_ROWS else COARSE_LEVELS

    def level(self, seconds: float) -> int:
        """The step of height of a time to answer."""
        share = math.log10(max(seconds * 1000, 1.0)) / LONGEST_DECADE
        return min(self.levels - 1, int(share * self.levels))


def ok_dots(base: duckdb.DuckDBPyConnection, requests: str, lost: Iterable[str], places: Places) -> dict[str, Any]:
    """The dots of what is ok, as columns.

    Arguments:
        requests: a table or table function with the columns of the store.
        lost: IDs of all that isn't.
    """
    _prepare(base, requests, lost, places)
    grain = GRAINS[0]
    for coarser in GRAINS[1:]:
        if _bins(base) <= MOST_BINS:
            break
        base.execute(_COARSER.format(grain=round(coarser / GRAINS[0])))
        grain = coarser
    rows = base.execute("SELECT t, place, level, n FROM fine ORDER BY t, place, level").fetchall()
    columns = [*zip(*rows, strict=True)] or [(), (), (), ()]
    return {
        "since": round(places.since - places.zero, 3),
        "unit": GRAINS[0],
        "grain": grain,
        "levels": places.levels,
        "t": packed("I", columns[0]),
        "row": packed("H", columns[1]),
        "level": packed("B", columns[2]),
        "n": packed("I", columns[3]),
        "count": sum(columns[3]),
    }


def _bins(base: duckdb.DuckDBPyConnection) -> int:
    row = base.execute("SELECT count(*) FROM fine").fetchone()
    return int(row[0]) if row else 0


def _prepare(base: duckdb.DuckDBPyConnection, requests: str, lost: Iterable[str], places: Places) -> None:
    base.execute("CREATE OR REPLACE TEMP TABLE not_ok AS SELECT unnest(?::VARCHAR[]) AS id", [[*lost]])
    base.execute(
        "CREATE OR REPLACE TEMP TABLE places AS SELECT unnest(?::VARCHAR[]) AS instance, unnest(?::INTEGER[]) AS place",
        [[*places.by_header], [*places.by_header.values()]],
    )
    base.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE fine AS
        SELECT floor((done - $since) / {GRAINS[0]})::UINTEGER AS t, coalesce(place, $rows)::USMALLINT AS place,
               least({places.levels - 1}, floor(log10(greatest((done - coalesce(sent, planned)) * 1000, 1.0))
                     / {LONGEST_DECADE} * {places.levels}))::UTINYINT AS level, count(*)::UINTEGER AS n
        FROM {requests} ANTI JOIN not_ok USING (id) LEFT JOIN places USING (instance)
        WHERE done >= $since AND done < $since + 1e6 AND coalesce(sent, planned) IS NOT NULL
        GROUP BY ALL
        """,
        {"since": places.since, "rows": places.rows},
    )


_COARSER = """
    CREATE OR REPLACE TEMP TABLE fine AS
    SELECT (t // {grain} * {grain})::UINTEGER AS t, place, level, sum(n)::UINTEGER AS n FROM fine GROUP BY ALL
"""


def lost_dots(events: Sequence[LossEvent], places: Places) -> dict[str, Any]:
    """The dots of what isn't ok, and what there is to say of each; or counted together, where there are too many."""
    known = [event for event in events if event.sent is not None or event.done is not None]
    if len(known) > MOST_TOLD:
        return _crowd(known, places)
    texts: dict[str, int] = {}
    rows = []
    for event in sorted(known, key=_end):
        began = event.sent if event.sent is not None else _end(event)
        told = (event.kind, "kept" if event.reused else "fresh", event.charge, event.saw or "", event.why)
        words = [texts.setdefault(text, len(texts)) for text in told]
        place = _place(event, places)
        rows.append([round(began - places.zero, 3), round(_end(event) - places.zero, 3), place,
                     places.level(_end(event) - began), class_number(event.loss), event.id, *words])  # fmt: skip
    return {"told": rows, "texts": [*texts], "untimed": len(events) - len(known)}


def _crowd(events: Sequence[LossEvent], places: Places) -> dict[str, Any]:
    """Counted by moment, row, height and class, at the finest grain that gives few enough."""
    counts: _Counts = Counter()
    for event in events:
        end = _end(event)
        took = 0.0 if event.sent is None else end - event.sent
        moment = math.floor((end - places.zero) / GRAINS[0])
        counts[moment, _place(event, places), places.level(took), class_number(event.loss)] += 1
    grain = GRAINS[0]
    for coarser in GRAINS[1:]:
        if len(counts) <= MOST_BINS // 4:
            break
        counts, grain = _coarser(counts, round(coarser / GRAINS[0])), coarser
    rows = [[round(moment * GRAINS[0], 3), *where, n] for (moment, *where), n in sorted(counts.items())]
    return {"crowd": rows, "grain": grain, "count": len(events)}


_Counts = Counter[tuple[int, int, int, int]]


def _coarser(counts: _Counts, units: int) -> _Counts:
    found: _Counts = Counter()
    for (moment, *where), n in counts.items():
        found[moment // units * units, where[0], where[1], where[2]] += n
    return found


def class_number(loss: str) -> int:
    """A class's number in :data:`CLASSES`; one that isn't known is drawn as unknown."""
    return CLASSES.index(loss) if loss in CLASSES else CLASSES.index("unknown")


def _end(event: LossEvent) -> float:
    return event.done if event.done is not None else (event.sent or 0.0)


def _place(event: LossEvent, places: Places) -> int:
    name = event.instance or ""
    return places.by_instance.get(name, places.by_header.get(name, places.rows))


def packed(kind: str, values: Iterable[int]) -> str:
    """Numbers as a browser's typed arrays read them: little-endian, in base64."""
    numbers = array(kind, values)
    if sys.byteorder == "big":
        numbers.byteswap()
    return b64encode(numbers.tobytes()).decode("ascii")
