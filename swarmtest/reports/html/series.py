"""A series as one page: the verdict, the checklist, a row for each run with a link to its own report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TextIO

from swarmtest.reports import CheckEntry, Document, wording
from swarmtest.reports.html.page import fill
from swarmtest.reports.html.sections import by_outcome
from swarmtest.reports.html.tables import Table
from swarmtest.reports.series import Member, Series, tables


def render(series: Series, documents: Sequence[Document | None], out: TextIO) -> None:
    """Writes the page."""
    values = {
        "series": series,
        "outcome": wording.outcome_words(series.outcome),
        "sum": tables.sum_sentence(series),
        "columns": tables.RUN_COLUMNS,
        "runs": [_run(member, series) for member in series.members],
        "checklist": _checklist(series),
        "checklist_sentence": tables.checklist_sentence(series),
        "figures": _figures(series),
        "proofs": tables.proofs(series.spread),
        "findings": list(_findings(series, documents)),
        "outcome_words": wording.outcome_words,
    }
    out.write(fill("series.html.jinja", values))


def _run(member: Member, series: Series) -> dict[str, object]:
    name, words, *cells = tables.run_cells(member, series)
    return {"name": name, "folder": member.folder, "outcome": tables.verdict(member)[0], "words": words, "cells": cells}


def _checklist(series: Series) -> list[tuple[int, str, CheckEntry]]:
    """The lines in the shape of checks, each with its number and what it asks."""
    if not tables.has_checklist(series):
        return []
    return [
        (line.number, line.text, CheckEntry(line.text, line.outcome, line.sentence, line.evidence))
        for line in series.checklist
    ]


def _figures(series: Series) -> Table | None:
    if not tables.is_compared(series):
        return None
    columns = ("", *(spread.scenario for spread in series.spread))
    rows = [(name, *cells) for name, cells in tables.figure_rows(series.spread)]
    return Table(columns, rows, frozenset(range(1, len(columns))))


def _findings(series: Series, documents: Sequence[Document | None]) -> Iterator[tuple[str, list[CheckEntry]]]:
    """What isn't passed, run by run."""
    for member, document in zip(series.members, documents, strict=True):
        checks = [check for check in document.checks if check.outcome != "passed"] if document is not None else []
        if checks:
            yield tables.run_name(member, series), by_outcome(checks)
