"""The table of `stop-modes`: four ways of stopping an instance, run by run and taken together.

Its columns are those of the experiment that it repeats (docs/stop-modes.md). Classes are by the
instances' records, not by what the client was told; that stands in a column of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TextIO

from swarmtest.reports import Document
from swarmtest.reports.wording import loss_groups

WAYS = {
    "stop-by-kill": "kill",
    "stop-by-term": "term",
    "withdraw-then-term": "withdraw-term",
    "withdraw-then-term-1s": "withdraw-term-1s",
}
"""The scenarios, in the order of the table, and what the table calls them."""

NO_HANDLER = ("refused", "unserved", "gateway")
"""Classes of which no handler ever saw the request: the connection to the instance was all that failed."""

COUNTS = ("sent", "ok", "refused", "cut", "and finished")
TIMES = ("p50 ms", "p99 ms", "stopped after ms")
FINE = 100
"""Below it a median that lies between two counts shows its half."""
OTHERS, SAW = "other", "what clients saw"


@dataclass(frozen=True, slots=True)
class Tried:
    """One run.

    Attributes:
        number: which of its way's runs it is, from 1.
        refused: lost, and no handler saw it.
        cut: a handler had started, and no whole answer came; ``finished`` of them it brought to its end.
        others: lost in any other way, or not known how.
        stopped_ms: from the first thing that was done to an instance to its exit, for each that was stopped.
        saw: how many of the lost got which answer, or none in which way.
    """

    way: str
    number: int
    sent: int
    ok: int
    refused: int
    cut: int
    finished: int
    others: int
    p50_ms: float | None
    p99_ms: float | None
    stopped_ms: tuple[float, ...]
    saw: Mapping[str, int]


def tried(documents: Iterable[Document | None]) -> list[Tried]:
    """The runs of the four ways, in the order of the table; other scenarios and unjudged runs aren't in it."""
    found = []
    for scenario, way in WAYS.items():
        some = [one for one in documents if one is not None and one.scenario.replace("_", "-") == scenario]
        found += [_tried(document, way, number) for number, document in enumerate(some, start=1)]
    return found


def _tried(document: Document, way: str, number: int) -> Tried:
    losses = document.losses
    sent, ok, finished = losses.get("sent", 0), losses.get("ok", 0), losses.get("cut_finished", 0)
    refused, cut = sum(losses.get(name, 0) for name in NO_HANDLER), losses.get("cut", 0) + finished
    return Tried(
        way=way,
        number=number,
        sent=sent,
        ok=ok,
        refused=refused,
        cut=cut,
        finished=finished,
        others=sent - ok - refused - cut,
        p50_ms=document.figures.p50_ms,
        p99_ms=document.figures.p99_ms,
        stopped_ms=stopped_ms(document),
        saw=_saw(document),
    )


def _saw(document: Document) -> Counter[str]:
    counts: Counter[str] = Counter()
    for group in loss_groups(document):
        counts[group.saw or "nothing that's known"] += group.count
    return counts


def stopped_ms(document: Document) -> tuple[float, ...]:
    """Milliseconds from the first thing that was done to an instance to its exit, for each in the order of time."""
    found = []
    for instance in document.instances:
        exited = instance.marks.get("exited")
        if instance.hurts and exited is not None:
            began = instance.hurts[0].began
            found.append((began, (exited.at - began) * 1000))
    return tuple(took for _, took in sorted(found))


@dataclass(frozen=True, slots=True)
class Table:
    """A table as text; ``counts`` of its columns come first, then times and what's in words."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    counts: int


def run_table(runs: Sequence[Tried]) -> Table:
    """Each run."""
    counts = (*COUNTS, *_others(runs))
    rows = []
    for run in runs:
        saw = ", ".join(f"{count} × {name.replace('_', ' ')}" for name, count in sorted(run.saw.items()))
        times = (_milliseconds(run.p50_ms), _milliseconds(run.p99_ms), " + ".join(map(_milliseconds, run.stopped_ms)))
        numbers = (run.number, *_counts(run)[: len(counts)])
        rows.append((run.way, *map(str, numbers), *(text or "-" for text in (*times, saw))))
    return Table(("way", "run", *counts, *TIMES, SAW), tuple(rows), 2 + len(counts))


def way_table(runs: Sequence[Tried]) -> Table:
    """Each way: the median of its runs, with least and most in brackets where they differ."""
    counts = (*COUNTS, *_others(runs))
    rows = []
    for way in dict.fromkeys(run.way for run in runs):
        some = [run for run in runs if run.way == way]
        columns: list[list[float]] = [[_counts(run)[n] for run in some] for n in range(len(counts))]
        columns += [_known(run.p50_ms for run in some), _known(run.p99_ms for run in some)]
        columns.append([took for run in some for took in run.stopped_ms])
        rows.append((way, str(len(some)), *map(_spread, columns)))
    return Table(("way", "runs", *counts, *TIMES), tuple(rows), 2 + len(counts))


def _others(runs: Iterable[Tried]) -> tuple[str, ...]:
    return (OTHERS,) if any(run.others for run in runs) else ()


def _counts(run: Tried) -> tuple[int, ...]:
    return run.sent, run.ok, run.refused, run.cut, run.finished, run.others


def render_stop_modes(documents: Iterable[Document | None], out: TextIO) -> None:
    """Writes both tables as Markdown; nothing where none of the four ways was run."""
    runs = tried(list(documents))
    if not runs:
        return
    out.write("### Four ways of stopping\n\n")
    out.write(_markdown(way_table(runs)))
    out.write("\nMedian of the runs, least and most in brackets.\n\n")
    out.write(_markdown(run_table(runs)))


def _markdown(table: Table) -> str:
    lines = (table.head, ("---",) * len(table.head), *table.rows)
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _spread(values: Sequence[float]) -> str:
    if not values:
        return "-"
    least, most = min(values), max(values)
    middle = f"{median(values):,.1f}" if most < FINE else f"{median(values):,.0f}"
    middle = middle.removesuffix(".0")
    return middle if least == most else f"{middle} ({least:,.0f}–{most:,.0f})"


def _milliseconds(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}"
