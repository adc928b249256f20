"""Second by second: what was sent, what became of it, how long answers took, who was ready.

DuckDB counts, so that memory doesn't grow with the trace. A request belongs to the second in which it ended,
since that's when somebody noticed; only ``sent`` goes by its beginning. Times of answers are rounded to three
digits before they're counted, which makes any percentile a matter of adding up.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from swarmtest.losses.table import Told
from swarmtest.timeline.capacity import Spans, fewest_by_second

SECONDS_VERSION = 1

MOST_SECONDS = 7 * 86_400
"""A run is shorter than a week; what lies further out is a clock that jumped."""

COLUMNS = {"id": "VARCHAR", "kind": "VARCHAR", "planned": "DOUBLE", "sent": "DOUBLE", "done": "DOUBLE",
           "attempt": "INTEGER", "class": "VARCHAR"}  # fmt: skip
"""What the table of requests must have: those of :data:`swarmtest.store.REQUEST_COLUMNS`, and what isn't ok."""


class Track(msgspec.Struct, frozen=True):
    """One kind of traffic, or all of it: each list has an entry for each second.

    Attributes:
        sent: requests that began in it.
        ok: of those that ended in it.
        lost: class → how many of those that ended in it; only classes that occurred.
        retries: of those that began in it, the tries that weren't the first.
        in_flight: begun and not ended when it was over.
        p50_ms, p99_ms: of what was ok, from when it was to be sent until it ended; null where nothing was ok.
        p50_sent_ms, p99_sent_ms: the same from when it was really sent, which leaves out the client's own delay.
    """

    sent: list[int] = []
    ok: list[int] = []
    lost: dict[str, list[int]] = {}
    retries: list[int] = []
    in_flight: list[int] = []
    p50_ms: list[float | None] = []
    p99_ms: list[float | None] = []
    p50_sent_ms: list[float | None] = []
    p99_sent_ms: list[float | None] = []

    def ended(self, second: int) -> int:
        """How many ended in the second of this number, ok or not."""
        return self.ok[second] + sum(counts[second] for counts in self.lost.values())


class Seconds(msgspec.Struct, frozen=True):
    """All seconds of a run: the public ``seconds.json``.

    Attributes:
        start: the first second, in epoch seconds; the second number ``i`` is the one from ``start + i`` on.
        ready: the fewest instances that were ready at once in each second.
        all: all kinds together.
        kinds: each kind by its name.
    """

    version: int = SECONDS_VERSION
    start: int = 0
    ready: list[int] = []
    all: Track = Track()
    kinds: dict[str, Track] = {}

    @property
    def length(self) -> int:
        """How many seconds there are."""
        return len(self.all.sent)


def second_by_second(requests: Told, spans: Spans) -> Seconds:
    """Counts all requests.

    Arguments:
        requests: with the columns :data:`COLUMNS` at least.
        spans: from when until when each instance was ready.
    """
    base = requests.base
    _count(requests)
    row = base.execute("SELECT min(first), max(last) FROM cells").fetchone()
    if row is None or row[0] is None:
        return Seconds()
    first, last = float(row[0]), min(float(row[1]), float(row[0]) + MOST_SECONDS - 1)
    start, length = int(first), int(last) - int(first) + 1
    kinds = [str(name) for (name,) in base.execute("SELECT DISTINCT kind FROM cells ORDER BY kind").fetchall()]
    tracks = _tracks(requests, start, length)
    return Seconds(
        start=start,
        ready=fewest_by_second(spans, first, last),
        all=_track(tracks.get(None, {}), length),
        kinds={name: _track(tracks.get(name, {}), length) for name in kinds},
    )


def _count(requests: Told) -> None:
    """Makes the table ``cells``, in one pass over the requests: how many of each kind and class in each second."""
    requests.base.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE cells AS
        SELECT CASE WHEN grouping(began) = 0 THEN 'began' WHEN grouping(class) = 0 THEN 'ended'
                    WHEN grouping(corrected) = 0 THEN 'corrected' ELSE 'uncorrected' END AS what,
               kind, if(grouping(began) = 0, began, ended) AS second, class,
               if(grouping(corrected) = 0, corrected, uncorrected) AS ms,
               count(*) AS n, count(*) FILTER (attempt > 1) AS retries,
               min(sent_at) AS first, max(ended_at) AS last
        FROM (
            SELECT coalesce(kind, '') AS kind, coalesce(class, 'ok') AS class, attempt,
                   coalesce(sent, planned) AS sent_at, floor(sent_at)::BIGINT AS began,
                   greatest(coalesce(done, sent_at), sent_at) AS ended_at, floor(ended_at)::BIGINT AS ended,
                   if(class IS NULL, {_rounded("done - coalesce(planned, sent)")}, NULL) AS corrected,
                   if(class IS NULL, {_rounded("done - coalesce(sent, planned)")}, NULL) AS uncorrected
            FROM {requests.source}
            WHERE coalesce(sent, planned) IS NOT NULL
        )
        GROUP BY GROUPING SETS (
            (kind, began), (kind, ended, class), (kind, ended, corrected), (kind, ended, uncorrected)
        )
        """
    )


def _rounded(seconds: str) -> str:
    """Milliseconds to three digits, and never finer than a thousandth."""
    milliseconds = f"greatest(({seconds}) * 1000, 0.001)"
    return f"round({milliseconds}, (2 - floor(log10({milliseconds})))::INTEGER)"


_Cells = dict[str, dict[int, Any]]


def _tracks(requests: Told, start: int, length: int) -> dict[str | None, _Cells]:
    """For each kind, and for None as all of them, the value of each column in each second that has one."""
    found: dict[str | None, _Cells] = {}
    base, scale = requests.base, {"start": start, "length": length}
    for kind, second, sent, retries in base.execute(_BEGAN, scale).fetchall():
        cells = found.setdefault(kind, {})
        cells.setdefault("sent", {})[second] = sent
        cells.setdefault("retries", {})[second] = retries
    for kind, second, loss, count in base.execute(_ENDED, scale).fetchall():
        found.setdefault(kind, {}).setdefault(loss, {})[second] = count
    for what, suffix in (("corrected", "ms"), ("uncorrected", "sent_ms")):
        for kind, second, p50, p99 in base.execute(_PERCENTILES, {**scale, "what": what}).fetchall():
            cells = found.setdefault(kind, {})
            cells.setdefault(f"p50_{suffix}", {})[second] = p50
            cells.setdefault(f"p99_{suffix}", {})[second] = p99
    return found


_BEGAN = """
    SELECT if(grouping(kind) = 1, NULL, kind), second - $start, sum(n), sum(retries)
    FROM cells WHERE what = 'began' AND second - $start BETWEEN 0 AND $length - 1
    GROUP BY GROUPING SETS ((kind, second), (second))
"""

_ENDED = """
    SELECT if(grouping(kind) = 1, NULL, kind), second - $start, class, sum(n)
    FROM cells WHERE what = 'ended' AND second - $start BETWEEN 0 AND $length - 1
    GROUP BY GROUPING SETS ((kind, second, class), (second, class))
"""

_PERCENTILES = """
    WITH counted AS (
        SELECT if(grouping(kind) = 1, NULL, kind) AS kind, second - $start AS second, ms, sum(n) AS n
        FROM cells WHERE what = $what AND ms IS NOT NULL AND second - $start BETWEEN 0 AND $length - 1
        GROUP BY GROUPING SETS ((kind, second, ms), (second, ms))
    ), ranked AS (
        SELECT *, sum(n) OVER (PARTITION BY kind, second ORDER BY ms) AS below,
               sum(n) OVER (PARTITION BY kind, second) AS whole
        FROM counted
    )
    SELECT kind, second, min(ms) FILTER (below >= 0.5 * whole), min(ms) FILTER (below >= 0.99 * whole)
    FROM ranked GROUP BY kind, second
"""


def _track(cells: Mapping[str, Mapping[int, Any]], length: int) -> Track:
    def times(name: str) -> list[float | None]:
        return [cells.get(name, {}).get(second) for second in range(length)]

    track = Track(
        sent=_dense(cells.get("sent", {}), length),
        ok=_dense(cells.get("ok", {}), length),
        lost={name: _dense(cells[name], length) for name in sorted(set(cells) - set(Track.__struct_fields__))},
        retries=_dense(cells.get("retries", {}), length),
        p50_ms=times("p50_ms"),
        p99_ms=times("p99_ms"),
        p50_sent_ms=times("p50_sent_ms"),
        p99_sent_ms=times("p99_sent_ms"),
    )
    return msgspec.structs.replace(track, in_flight=_in_flight(track))


def _dense(cells: Mapping[int, int], length: int) -> list[int]:
    return [cells.get(second, 0) for second in range(length)]


def _in_flight(track: Track) -> list[int]:
    flying, found = 0, []
    for second, sent in enumerate(track.sent):
        flying += sent - track.ended(second)
        found.append(flying)
    return found
