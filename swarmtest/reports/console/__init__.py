"""The report that a person reads at the end of a run, in a terminal, a CI log or a pipe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from swarmtest.reports import CheckEntry, Document, LossEvent, streams, wording
from swarmtest.reports.acts import act_rows, kind_sentence, policy_lines, story_lines
from swarmtest.reports.console.lives import starts, stops
from swarmtest.reports.console.parts import bullet, check_text, heading, verdict_word, write
from swarmtest.reports.lifespans import full_label, grace_seconds, with_error, zero

IDS_SHOWN = 3


def render(
    document: Document, out: TextIO, *, folder: Path | str | None = None, width: int | None = None, ended: str = ""
) -> None:
    """Writes the report to ``out``.

    Arguments:
        ended: what's said instead of the document's exit code, where the command ends with another one.
        folder: the run's folder as the person can type it; by default the run's ID.
        width: columns; by default the terminal's, or 80.
    """

    def draw(console: Console) -> None:
        for part in _parts(document, console.width):
            console.print(part)
        console.print(_verdict(document, str(folder or document.run), ended), soft_wrap=True)

    write(draw, out, width)


def _parts(document: Document, width: int) -> Iterator[RenderableType]:
    """What one looks up first, what one must know last: a terminal shows the end."""
    yield from _head(document)
    origin = "T0" if document.start is not None else "the first mark"
    if document.acts:
        yield heading(f"What was done, in seconds from {origin}")
        yield _acts(document)
    yield from (bullet("·", line) for line in story_lines(document))
    for title, tables in (("stopped", [*stops(document, width)]), ("started", [*starts(document, width)])):
        if tables:
            yield heading(f"How instances {title}, in seconds from {origin}")
            yield from tables
    yield heading("Requests")
    yield from _requests(document)
    if document.stream_rows:
        yield heading("Streams")
        yield from _streams(document)
    if document.notes:
        yield heading("Notes")
        yield from (bullet("·", note) for note in document.notes)
    yield heading("Checks")
    yield _checklist(document.checks)
    if document.advice:
        yield heading("Change first")
        yield from (bullet(f"{index}.", text, "bold") for index, text in enumerate(document.advice, start=1))
    yield heading(None)
    proof = wording.proof_sentence(document)
    yield Text(proof if len(proof) <= width else proof.replace("; ", ";\n", 1))


def _head(document: Document) -> Iterator[RenderableType]:
    engine = wording.engine_sentence(document)
    line = Text.assemble(("swarmtest ", ""), (document.scenario, "bold"), " on ", (document.stack, "bold"))
    yield line.append(f", {engine}" if engine else "")
    facts = [f"T0 is {wording.clock_time(document.start)}" if document.start is not None else ""]
    facts.append(f"{document.seconds:.1f} s under traffic" if document.seconds is not None else "")
    grace = grace_seconds(document)
    facts.append(f"grace {grace:g} s" if grace is not None else "")
    facts.append(f"seed {document.settings['seed']}" if "seed" in document.settings else "")
    yield Text(" · ".join(fact for fact in facts if fact))
    yield from (Text(line) for line in policy_lines(document))
    yield Text(kind_sentence(document))


def _acts(document: Document) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right")
    for row in act_rows(document):
        table.add_row(row.at, row.name, row.whom, Text(row.result, style="" if row.good else "bold red"))
    return table


def _checklist(checks: Sequence[CheckEntry]) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column()
    said: set[str] = set()
    for check in checks:
        table.add_row(verdict_word(check.outcome), check_text(check, said))
    return table if checks else Text("No check was judged.")


def _requests(document: Document) -> Iterator[RenderableType]:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in ("kind", "connection"):
        table.add_column(column)
    unproved = sum(row.unproved for row in document.loss_rows)
    for column in ("sent", "ok", *(["unproved"] if unproved else []), "lost", "p50 ms", "p99 ms (as sent)"):
        table.add_column(column, justify="right")
    for row in document.loss_rows:
        ok = row.counts.get("ok", 0)
        doubt = [row.unproved] if unproved else []
        times = wording.answer_times(row)
        counts = _counts(row.sent, ok, *doubt, row.sent - ok - row.unproved)
        table.add_row(row.kind, row.connection, *counts, *times)
    sent, ok = document.losses.get("sent", 0), document.losses.get("ok", 0)
    doubt = [unproved] if unproved else []
    table.add_row("all", "", *_counts(sent, ok, *doubt, wording.lost_count(document) - unproved), style="bold")
    yield table
    if wording.present_classes(document):
        yield Text()
    for loss in wording.present_classes(document):
        yield from _one_class(document, loss)
    if document.losses.get("duplicates"):
        yield Text(f"duplicates {document.losses['duplicates']}: request IDs that were handled twice", style="bold red")


def _streams(document: Document) -> Iterator[RenderableType]:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in streams.HEADER:
        table.add_column(column, justify="left" if column == "kind" else "right")
    for row in document.stream_rows:
        table.add_row(*streams.cells(row), style="bold red" if row.cut or row.lost or row.repeated else "")
    yield table
    yield from (bullet("·", line) for line in streams.lines(document))


def _counts(*counts: int) -> list[Text]:
    """Cells of counts, of which the last one should be 0."""
    cells = [Text(wording.number(value)) for value in counts]
    if counts[-1]:
        cells[-1].stylize("bold red")
    return cells


def _one_class(document: Document, loss: str) -> Iterator[RenderableType]:
    events = [event for event in document.loss_events if event.loss == loss]
    head = Text.assemble((f"{loss} {wording.number(document.losses[loss])}", "bold red"))
    yield head.append(f": {wording.meaning(document, loss)}")
    groups = (group for group in wording.loss_groups(document) if group.loss == loss)
    charged = wording.charged_to(group for group in groups if not group.unproved)
    where = wording.where_lost(document, loss)
    summary = "; ".join(part for part in (where, f"charged to {charged}" if charged else "") if part)
    lines = [Text(summary)] if summary else []
    shown = events[:IDS_SHOWN]
    if len(reasons := {event.why for event in shown}) == 1 and len(shown) > 1:
        lines += [Text(f"{reasons.pop()}:"), *(_event(document, event, why=False) for event in shown)]
    else:
        lines += [_event(document, event) for event in shown]
    rest = document.losses[loss] - min(len(events), IDS_SHOWN)
    if events and rest > 0:
        lines.append(Text(wording.more(document, rest)))
    yield Padding(Group(*lines), (0, 0, 0, 2))


def _event(document: Document, event: LossEvent, *, why: bool = True) -> Text:
    at = "" if event.sent is None else f" sent at {with_error(event.sent - zero(document), 0)} s"
    return Text(f"{event.id}{at}, {full_label(event.instance, document)}" + (f": {event.why}" if why else ""))


def _verdict(document: Document, folder: str, ended: str) -> Text:
    passed = sum(check.outcome == "passed" for check in document.checks)
    word = verdict_word(document.outcome)
    ended = ended or f"exit code {document.exit_code}"
    return word.append(f" · {ended} · {passed} of {len(document.checks)} passed · {folder}")
