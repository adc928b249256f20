"""How quick the answers were while a burst lasted, beside those of before it, by kind."""

from __future__ import annotations

from swarmtest.checks import Judged
from swarmtest.judge.figures import FROM_DUE


def burst_notes(judged: Judged) -> list[str]:
    """A sentence about each burst: all that was sent while it lasted, the steady traffic included."""
    bursts = judged.requests.rows(
        "SELECT min(began), max(began) FROM accounted WHERE burst IS NOT NULL GROUP BY burst ORDER BY ALL"
    )
    notes = []
    for number, (began, ended) in enumerate(bursts, start=1):
        before = _p99(judged, "began < $began", {"began": began})
        during = _p99(judged, "began BETWEEN $began AND $ended", {"began": began, "ended": ended})
        each = [
            f"{kind} {during[kind]:,.0f} ms" + (f" ({before[kind]:,.0f} before)" if kind in before else "")
            for kind in sorted(during)
        ]
        name = "the burst" if len(bursts) == 1 else f"burst {number}"
        quick = f"99 % of good answers within: {', '.join(each)}" if each else "no good answer"
        notes.append(f"in the {ended - began:.1f} s of {name}, {quick}")
    return notes


def _p99(judged: Judged, where: str, values: dict[str, float]) -> dict[str, float]:
    rows = judged.requests.rows(
        f"SELECT kind, quantile_disc(({FROM_DUE}) * 1000, 0.99) FROM accounted WHERE loss = 'ok' AND {where}"
        " GROUP BY kind",
        values,
    )
    return {str(kind): round(value, 3) for kind, value in rows}
