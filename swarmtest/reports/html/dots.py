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
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from swarmtest.losses.table import Told
from swarmtest.reports import CLASSES, Document, LossEvent

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
        rows_by_name: task ID, or what an answer calls its instance → row.
    """

    zero: float
    since: float
    rows: int
    rows_by_name: Mapping[str, int]

    @property
    def levels(self) -> int:
        """Steps of height in a row."""
        return FINE_LEVELS if self.rows <= MANY_ROWS else COARSE_LEVELS

    def level(self, seconds: float) -> int:
        """The step of height of a time to answer."""
        share = math.log10(max(seconds * 1000, 1.0)) / LONGEST_DECADE
        return min(self.levels - 1, int(share * self.levels))


def ok_dots(requests: Told, places: Places) -> dict[str, Any]:
    """The dots of what is ok, as columns."""
    _prepare(requests, places)
    grain = _coarse_enough(requests, MOST_BINS)
    rows = requests.base.execute("SELECT t, row, level, n FROM fine ORDER BY t, row, level").fetchall()
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


def _coarse_enough(requests: Told, most: int) -> float:
    """Puts dots together at the finest grain that gives few enough; says which."""
    grain = GRAINS[0]
    for coarser in GRAINS[1:]:
        found = requests.base.execute("SELECT count(*) FROM fine").fetchone()
        if found is None or found[0] <= most:
            break
        requests.base.execute(_COARSER.format(grain=round(coarser / GRAINS[0])))
        grain = coarser
    return grain


def _prepare(requests: Told, places: Places, *, lost: bool = False) -> None:
    """Counts in ``fine``, by moment, row, height and class, what's ok or what's lost."""
    requests.base.execute(
        "CREATE OR REPLACE TEMP TABLE rows AS SELECT unnest(?::VARCHAR[]) AS place, unnest(?::INTEGER[]) AS row",
        [[*places.rows_by_name], [*places.rows_by_name.values()]],
    )
    done, sent, which = "done", "coalesce(sent, planned)", "class IS NULL AND coalesce(sent, planned) IS NOT NULL"
    if lost:
        done, sent, which = "coalesce(done, sent)", "coalesce(sent, done)", "class IS NOT NULL"
    requests.base.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE fine AS
        SELECT floor(({done} - $since) / {GRAINS[0]})::BIGINT AS t, coalesce(row, $rows)::USMALLINT AS row,
               least({places.levels - 1}, floor(log10(greatest(({done} - {sent}) * 1000, 1.0))
                     / {LONGEST_DECADE} * {places.levels}))::UTINYINT AS level,
               coalesce(class, 'ok') AS class, count(*)::UINTEGER AS n
        FROM {requests.source} LEFT JOIN rows USING (place)
        WHERE {which} AND {done} >= $since AND {done} < $since + 1e6
        GROUP BY ALL
        """,
        {"since": places.since, "rows": places.rows},
    )


_COARSER = """
    CREATE OR REPLACE TEMP TABLE fine AS
    SELECT t // {grain} * {grain} AS t, row, level, class, sum(n)::UINTEGER AS n FROM fine GROUP BY ALL
"""


def lost_dots(document: Document, requests: Told | None, places: Places) -> dict[str, Any]:
    """The dots of what isn't ok, and what there is to say of each; or counted together, where there are too many."""
    everything = len(document.loss_events) + document.loss_events_left_out
    if requests is not None and everything > MOST_TOLD:
        return _crowd(requests, places, everything)
    known = [event for event in document.loss_events if event.sent is not None or event.done is not None]
    texts: dict[str, int] = {}
    rows = []
    for event in sorted(known, key=_end):
        began = event.sent if event.sent is not None else _end(event)
        told = (event.kind, "kept" if event.reused else "fresh", event.charge, event.saw or "", event.why)
        words = [texts.setdefault(text, len(texts)) for text in told]
        place = _place(event, places)
        rows.append([round(began - places.zero, 3), round(_end(event) - places.zero, 3), place,
                     places.level(_end(event) - began), class_number(event.loss), event.id, *words])  # fmt: skip
    return {"told": rows, "texts": [*texts], "untimed": everything - len(known)}


def _crowd(requests: Told, places: Places, everything: int) -> dict[str, Any]:
    """Counted by moment, row, height and class, at the finest grain that gives few enough."""
    _prepare(requests, places, lost=True)
    grain = _coarse_enough(requests, MOST_BINS // 4)
    shift = places.since - places.zero
    found = requests.base.execute("SELECT t, row, level, class, n FROM fine ORDER BY ALL").fetchall()
    rows = [
        [round(moment * GRAINS[0] + shift, 3), row, level, class_number(loss), n]
        for moment, row, level, loss, n in found
    ]
    count = sum(n for *_, n in rows)
    return {"crowd": rows, "grain": grain, "count": count, "untimed": everything - count}


def class_number(loss: str) -> int:
    """A class's number in :data:`CLASSES`; one that isn't known is drawn as unknown."""
    return CLASSES.index(loss) if loss in CLASSES else CLASSES.index("unknown")


def _end(event: LossEvent) -> float:
    return event.done if event.done is not None else (event.sent or 0.0)


def _place(event: LossEvent, places: Places) -> int:
    return places.rows_by_name.get(event.instance or "", places.rows)


def packed(kind: str, values: Iterable[int]) -> str:
    """Numbers as a browser's typed arrays read them: little-endian, in base64."""
    numbers = array(kind, values)
    if sys.byteorder == "big":
        numbers.byteswap()
    return b64encode(numbers.tobytes()).decode("ascii")
