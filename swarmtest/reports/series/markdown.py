"""The report of a series for a pull request's comment: a row for each run, the checklist, the rest folded away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TextIO

from swarmtest.reports import Document, wording
from swarmtest.reports.markdown import code, evidence, folded, plain, table
from swarmtest.reports.series import Member, Series, tables
from swarmtest.reports.series.stop_modes import render_stop_modes


def render(series: Series, documents: Sequence[Document | None], out: TextIO) -> None:
    """Writes Markdown as GitHub and GitLab read it."""
    parts = [*_head(series), *_runs(series), *_figures(series), *_checks(series, documents), *_checklist(series)]
    out.write("\n\n".join(parts) + "\n\n")
    render_stop_modes(documents, out)


def _head(series: Series) -> Iterator[str]:
    outcome = wording.outcome_words(series.outcome)
    ended = f", {series.ended}" if series.ended not in (None, "finished") else ""
    yield f"### swarmtest series {plain(series.asked)}, {code(series.stack)}: {outcome}{ended}"
    yield plain(f"{tables.sum_sentence(series)} Exit code {series.exit_code}, seed {series.seed}.")
    if series.notes:
        yield "\n".join(f"- {plain(note)}" for note in series.notes)


def _runs(series: Series) -> Iterator[str]:
    rows = []
    for member in series.members:
        name, words, *cells = tables.run_cells(member, series)
        words = words if words == "passed" else f"**{words}**"
        rows.append((_linked(name, member), words, *(plain(cell) for cell in cells)))
    yield table(tables.RUN_COLUMNS, rows)


def _linked(name: str, member: Member) -> str:
    return plain(name) if member.folder is None else f"[{plain(name)}](./{member.folder}/report.md)"


def _figures(series: Series) -> Iterator[str]:
    if tables.is_compared(series):
        rows = [(plain(name), *map(plain, cells)) for name, cells in tables.figure_rows(series.spread)]
        title = "Side by side: median (least–most)" if series.repeat > 1 else "Side by side"
        parts = [table(("", *(plain(spread.scenario) for spread in series.spread)), rows)]
        parts += ["\n".join(f"- {plain(line)}" for line in tables.proofs(series.spread))] if series.repeat > 1 else []
        yield folded(title, parts)


def _checks(series: Series, documents: Sequence[Document | None]) -> Iterator[str]:
    """What isn't passed, run by run."""
    rows, parts = [], []
    for member, document in zip(series.members, documents, strict=True):
        checks = [check for check in document.checks if check.outcome != "passed"] if document is not None else []
        checks.sort(key=lambda check: check.outcome != "failed")
        name = plain(tables.run_name(member, series))
        for check in checks:
            rows.append((name, f"**{wording.outcome_words(check.outcome)}**", code(check.name), plain(check.sentence)))
        if checks:
            parts.append("\n".join([f"- {name}", *("  " + evidence(check).replace("\n", "\n  ") for check in checks)]))
    if rows:
        yield table(("run", "verdict", "check", "what was found"), rows)
        yield folded("Evidence", parts)


def _checklist(series: Series) -> Iterator[str]:
    if not tables.has_checklist(series):
        return
    yield f"**Checklist:** {plain(tables.checklist_sentence(series))}"
    rows = []
    for line in series.checklist:
        words = wording.outcome_words(line.outcome)
        words = words if line.outcome == "passed" else f"**{words}**"
        rows.append((str(line.number), words, plain(line.text), plain(line.sentence)))
    yield table(("", "verdict", "line", "what it rests on"), rows)
