"""A tune as one page: the value and its proof, the histogram, the stops, a row for each run with a link to it."""

from __future__ import annotations

from typing import TextIO

from swarmtest.reports import wording
from swarmtest.reports.html.page import fill
from swarmtest.reports.html.tables import Table
from swarmtest.reports.tune import Tune, tables


def render(tune: Tune, out: TextIO) -> None:
    """Writes the page."""
    bars = tables.histogram(tables.measured_stops(tune))
    found = tune.recommendation
    values = {
        "tune": tune,
        "outcome": wording.outcome_words(tune.outcome),
        "sentence": tables.sentence(tune),
        "because": list(tables.because(found)) if found is not None else [],
        "settings": [(tables.setting_words(each), each) for each in found.settings] if found is not None else [],
        "edge": list(tables.edge_words(tune)),
        "run_columns": tables.RUN_COLUMNS,
        "runs": [(run, tables.run_cells(run, place)) for place, run in enumerate(tune.runs, 1)],
        "stops": Table(tables.STOP_COLUMNS, tables.stop_rows(tune), frozenset(range(2, 10))),
        "bars": bars,
        "most": max((bar.count for bar in bars), default=1),
    }
    out.write(fill("tune.html.jinja", values))
