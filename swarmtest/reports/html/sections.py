"""The parts of the page that are text: headline, figures, checks, tables; it can all be read without a script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from swarmtest.reports import CheckEntry, Document, wording
from swarmtest.reports.acts import kind_sentence, policy_lines, story_lines
from swarmtest.reports.html import tables

GROUNDS = ("answers", "commits", "records")
"""What the document says in words of what its counts rest on."""

ORDER = ("failed", "not_proved", "passed")


def sections(document: Document) -> dict[str, Any]:
    """What the template shows."""
    return {
        "document": document,
        "outcome": wording.outcome_words(document.outcome),
        "kind": kind_sentence(document),
        "proof": wording.proof_sentence(document),
        "facts": list(_facts(document)),
        "figures": list(_figures(document)),
        "checks": by_outcome(document.checks),
        "checks_sentence": wording.checks_sentence(document),
        "outcome_words": wording.outcome_words,
        "stories": story_lines(document),
        "losses": tables.losses_table(document),
        "classes": [(name, wording.meaning(document, name)) for name in wording.present_classes(document)],
        "events": tables.events_table(document),
        "grounds": [(name, document.proof[name]) for name in GROUNDS if document.proof.get(name)],
        "unlisted": max(0, len(document.loss_events) + document.loss_events_left_out - tables.MOST_LISTED),
        "left_out": document.loss_events_left_out,
        "streams": tables.streams_table(document),
        "stream_events": tables.stream_events_table(document),
        "retries": tables.retries_table(document),
        "acts": tables.acts_table(document),
        "lives": tables.lives_table(document),
        "policies": policy_lines(document),
        "settings": tables.settings_table(document),
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
    unproved = wording.unproved_count(document)
    sent, lost = document.losses.get("sent", 0), wording.lost_count(document) - unproved
    yield "requests", wording.number(sent), "sent, with later tries" if document.retries else "sent, each once"
    yield "lost", wording.number(lost), _by_class(document) if lost else "of all that was sent"
    if unproved:
        yield "not proved", wording.number(unproved), "to be answered"
    if twice := document.losses.get("duplicates", 0):
        yield "duplicates", wording.number(twice), "handled more than once"
    if document.stream_rows:
        opened = sum(row.opened for row in document.stream_rows)
        yield "streams", wording.number(opened), f"{sum(row.cut + row.untold for row in document.stream_rows)} cut"
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
    """The classes of what's lost, without what only lacks its proof."""
    known = (
        (name, document.losses[name] - wording.only_unproved(document, name))
        for name in wording.present_classes(document)
    )
    parts = [f"{wording.number(count)} {name.replace('_', ' ')}" for name, count in known if count]
    return ", ".join(parts) or "of all that was sent"
