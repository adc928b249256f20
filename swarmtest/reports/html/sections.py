"""The parts of the page that are text: headline, checks, tables; all of it can be read without a script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from swarmtest.reports import CheckEntry, Document, InstanceEntry, streams, wording
from swarmtest.reports.acts import act_rows, kind_sentence, policy_lines, story_lines
from swarmtest.reports.html.picture import in_rows
from swarmtest.reports.lifespans import (
    ONLY_WHERE_SEEN,
    START_MARKS,
    STOP_MARKS,
    UNSEEN,
    durations,
    full_label,
    grace_seconds,
    mark_text,
    span_text,
    with_error,
    zero,
)

MOST_LISTED = 500
"""Lost requests in the table; all of them are in ``verdicts.json``."""

GROUNDS = ("answers", "commits", "records")
"""What the document says in words of what its counts rest on."""

ORDER = ("failed", "not_proved", "passed")


@dataclass(frozen=True, slots=True)
class Table:
    """A table of text: ``numbers`` are the columns that are set to the right."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: frozenset[int] = frozenset()


def sections(document: Document) -> dict[str, Any]:
    """What the template shows."""
    return {
        "document": document,
        "outcome": wording.outcome_words(document.outcome),
        "kind": kind_sentence(document),
        "proof": wording.proof_sentence(document),
        "facts": list(_facts(document)),
        "figures": list(_figures(document)),
        "checks": sorted(document.checks, key=lambda check: _rank(check.outcome)),
        "checks_sentence": wording.checks_sentence(document),
        "outcome_words": wording.outcome_words,
        "stories": story_lines(document),
        "losses": _losses(document),
        "classes": [(name, wording.meaning(document, name)) for name in wording.present_classes(document)],
        "events": _events(document),
        "grounds": [(name, document.proof[name]) for name in GROUNDS if document.proof.get(name)],
        "unlisted": max(0, len(document.loss_events) - MOST_LISTED),
        "streams": _streams(document),
        "stream_events": _stream_events(document),
        "retries": _retries(document),
        "acts": _acts(document),
        "lives": _lives(document),
        "policies": policy_lines(document),
        "settings": _settings(document),
    }


def by_outcome(checks: Sequence[CheckEntry]) -> list[CheckEntry]:
    """What failed first, then what isn't proved."""
    return sorted(checks, key=lambda check: _rank(check.outcome))


def _rank(outcome: str) -> int:
    return ORDER.index(outcome) if outcome in ORDER else len(ORDER)


def _facts(document: Document) -> Iterator[tuple[str, str]]:
    yield "run", document.run
    if document.start is not None:
        yield "T0" if document.acts else "began", wording.clock_time(document.start)
    if document.seconds is not None:
        yield "under traffic", f"{document.seconds:.1f} s"
    if engine := wording.engine_sentence(document):
        yield "engine", engine
    version = document.settings.get("swarmtest")
    if version:
        yield "swarmtest", str(version)
    yield "exit code", str(document.exit_code)


def _figures(document: Document) -> Iterator[tuple[str, str, str]]:
    """The numbers below the headline: what it is, how much, and what it means."""
    sent, lost = document.losses.get("sent", 0), wording.lost_count(document)
    unproved = int(document.proof.get("unproved") or 0)
    yield "requests", wording.number(sent), "sent, each once"
    yield "lost", wording.number(lost - unproved), _by_class(document)
    if unproved:
        yield "not proved", wording.number(unproved), "answered, without a proof"
    if twice := document.losses.get("duplicates", 0):
        yield "duplicates", wording.number(twice), "handled more than once"
    stops = int(document.proof.get("stops") or 0)
    yield "stops", wording.number(stops), f"{document.proof.get('stops_with_loss') or 0} with a loss"
    figures = document.figures
    if figures.lowest_ready is not None:
        yield "lowest ready", wording.number(figures.lowest_ready), "instances at once"
    if figures.p50_ms is not None and figures.p99_ms is not None:
        yield "p99", f"{figures.p99_ms:,.0f} ms", f"half within {figures.p50_ms:,.0f} ms"
    if figures.acted_seconds is not None:
        yield "took", f"{figures.acted_seconds:.1f} s", "from T0 to the last step's end"


def _by_class(document: Document) -> str:
    parts = [
        f"{wording.number(document.losses[name])} {name.replace('_', ' ')}"
        for name in wording.present_classes(document)
    ]
    return ", ".join(parts) or "of all that was sent"


def _losses(document: Document) -> Table:
    classes = wording.present_classes(document)
    rows = [
        (
            row.kind,
            row.connection,
            wording.number(row.sent),
            *(wording.number(row.counts.get(name, 0)) for name in ("ok", *classes)),
            *(UNSEEN if time is None else f"{time:,.0f}" for time in (row.p50_ms, row.p99_ms, row.p99_sent_ms)),
        )
        for row in document.loss_rows
    ]
    times = ("p50 ms", "p99 ms", "p99 ms from sending")
    columns = ("kind", "connection", "sent", "ok", *(name.replace("_", " ") for name in classes), *times)
    return Table(columns, rows, frozenset(range(2, len(columns))))


def _events(document: Document) -> Table:
    start = zero(document)
    rows = [
        (
            event.loss.replace("_", " "),
            event.kind,
            "kept" if event.reused else "fresh",
            UNSEEN if event.sent is None else with_error(event.sent - start, 0),
            UNSEEN if event.done is None else with_error(event.done - start, 0),
            full_label(event.instance, document),
            event.saw or UNSEEN,
            wording.CHARGE_WORDS.get(event.charge, event.charge),
            event.why,
            event.id,
        )
        for event in document.loss_events[:MOST_LISTED]
    ]
    columns = ("class", "kind", "connection", "sent", "ended", "instance", "client saw", "belongs to", "why", "request")
    return Table(columns, rows, frozenset({3, 4}))


def _streams(document: Document) -> Table:
    rows = [streams.cells(row) for row in document.stream_rows]
    return Table(streams.HEADER, rows, frozenset(range(1, len(streams.HEADER))))


def _stream_events(document: Document) -> Table:
    """Streams that ended badly; each is one row, whatever it lost."""
    start = zero(document)
    rows = [
        (
            event.ending,
            event.kind,
            *(UNSEEN if at is None else with_error(at - start, 0) for at in (event.opened, event.closed)),
            full_label(event.instance, document),
            wording.number(event.lost),
            wording.number(event.repeated),
            event.error or UNSEEN,
            event.id,
        )
        for event in document.stream_events[:MOST_LISTED]
    ]
    columns = ("how it ended", "kind", "opened", "closed", "instance", "lost", "twice", "the client's words", "stream")
    return Table(columns, rows, frozenset({2, 3, 5, 6}))


def _retries(document: Document) -> Table:
    rows = [
        (
            entry.kind,
            *(wording.number(count) for count in (entry.requests, entry.tries)),
            f"{entry.amplification:.3f}",
            *(wording.number(count) for count in (entry.lost_first, entry.saved, entry.unbudgeted)),
            f"{entry.budget:g}",
        )
        for entry in document.retries
    ]
    columns = (
        "kind",
        "requests",
        "tries",
        "amplification",
        "first try lost",
        "of these saved",
        "over budget",
        "budget",
    )
    return Table(columns, rows, frozenset(range(1, len(columns))))


def _acts(document: Document) -> Table:
    rows = [(row.at, row.name, row.whom, row.result) for row in act_rows(document)]
    return Table(("s from T0", "act", "whom", "what came of it"), rows, frozenset({0}))


def _lives(document: Document) -> Table:
    """Each instance a row, so that sixty of them still fit."""
    marks = [
        (name, words)
        for name, words in (*START_MARKS, *STOP_MARKS)
        if name not in ONLY_WHERE_SEEN or any(one.marks.get(name) for one in document.instances)
    ]
    spans = ("T2-T1", "T3-signal", "T4-signal", "slack")
    quick = ("first requests, usually, ms",) if any(one.first for one in document.instances) else ()
    columns = ("instance", *(words for _, words in marks), *spans, "ended by", "exit", "served", "lost", *quick)
    grace = grace_seconds(document)
    names = [name for name, _ in marks]
    rows = [(*_life(one, document, names, grace), *(_first(one) for _ in quick)) for one in in_rows(document.instances)]
    return Table(columns, rows, frozenset({*range(1, len(marks) + 5), *range(len(marks) + 6, len(columns))}))


def _first(one: InstanceEntry) -> str:
    """How quick a new instance's first requests were, beside later ones: half of them, and the slowest."""
    if one.first is None:
        return UNSEEN
    first = f"{one.first.first_ms:,.0f} to {one.first.first_most_ms:,.0f}"
    return f"{first}, {one.first.usual_ms:,.0f} to {one.first.usual_most_ms:,.0f} ({one.first.kind})"


def _life(one: InstanceEntry, document: Document, marks: Sequence[str], grace: float | None) -> tuple[str, ...]:
    span = durations(one, grace)
    return (
        full_label(one.id, document),
        *(mark_text(one.marks.get(name), zero(document)) for name in marks),
        *(span_text(each) for each in (span.propagation, span.drain, span.stop, span.slack)),
        one.cause or UNSEEN,
        UNSEEN if one.exit_code is None else str(one.exit_code),
        wording.number(one.served),
        wording.number(one.lost),
    )


def _settings(document: Document) -> Table:
    engine = [(f"engine.{name}", value) for name, value in wording.flat(document.engine).items()]
    return Table(("setting", "value"), [*wording.flat(document.settings).items(), *engine])
