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

WAYS = {
    "stop-by-kill": "kill",
    "stop-by-term": "term",
    "withdraw-then-term": "withdraw, then term",
    "withdraw-then-term-1s": "withdraw, then term, 1 s",
}
"""The scenarios, in the order of the table, and what the table calls them."""

NO_HANDLER = ("refused", "unserved", "gateway")
"""Classes of which no handler ever saw the request: the connection to the instance was all that failed."""

RUN_COLUMNS = ("way", "run", "sent", "ok", "refused", "cut", "and finished", "p50 ms", "p99 ms", "stopped after ms")
WAY_COLUMNS = ("way", "runs", "sent", "ok", "refused", "cut", "and finished", "p50 ms", "p99 ms", "stopped after ms")
OTHERS, SAW = "otherwise lost", "what clients saw"


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
        saw=Counter(event.saw or "nothing that's known" for event in document.loss_events),
    )


def stopped_ms(document: Document) -> tuple[float, ...]:
    """Milliseconds from the first thing that was done to an instance to its exit, for each in the order of time."""
    found = []
    for instance in document.instances:
        exited = instance.marks.get("exited")
        if instance.hurts and exited is not None:
            began = instance.hurts[0].began
            found.append((began, (exited.at - began) * 1000))
    return tuple(took for _, took in sorted(found))


def run_rows(runs: Sequence[Tried]) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the table of single runs."""
    others = any(run.others for run in runs)
    head = [*RUN_COLUMNS, *([OTHERS] if others else []), SAW]
    rows = []
    for run in runs:
        counts = (run.number, run.sent, run.ok, run.refused, run.cut, run.finished)
        row = [run.way, *map(str, counts), _milliseconds(run.p50_ms), _milliseconds(run.p99_ms)]
        row.append(" + ".join(map(_milliseconds, run.stopped_ms)) or "-")
        row += [str(run.others)] if others else []
        row.append(", ".join(f"{count} × {_words(name)}" for name, count in sorted(run.saw.items())) or "-")
        rows.append(row)
    return head, rows


def way_rows(runs: Sequence[Tried]) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the table of ways: the median of the runs, and least and most in brackets."""
    others = any(run.others for run in runs)
    head = [*WAY_COLUMNS, *([OTHERS] if others else [])]
    rows = []
    for way in dict.fromkeys(run.way for run in runs):
        some = [run for run in runs if run.way == way]
        columns = [[float(run.sent) for run in some], [float(run.ok) for run in some]]
        columns += [[float(run.refused) for run in some], [float(run.cut) for run in some]]
        columns += [[float(run.finished) for run in some], _known(run.p50_ms for run in some)]
        columns += [_known(run.p99_ms for run in some), [took for run in some for took in run.stopped_ms]]
        columns += [[float(run.others) for run in some]] if others else []
        rows.append([way, str(len(some)), *map(_spread, columns)])
    return head, rows


def render_stop_modes(documents: Iterable[Document | None], out: TextIO) -> None:
    """Writes both tables as Markdown; nothing where none of the four ways was run."""
    runs = tried(list(documents))
    if not runs:
        return
    out.write("### Four ways of stopping\n\n")
    out.write(_markdown(*way_rows(runs)))
    out.write("\nMedian of the runs, least and most in brackets.\n\n")
    out.write(_markdown(*run_rows(runs)))


def _markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = (head, ["---"] * len(head), *rows)
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _spread(values: Sequence[float]) -> str:
    if not values:
        return "-"
    least, most = min(values), max(values)
    middle = f"{median(values):,.0f}"
    return middle if least == most else f"{middle} ({least:,.0f}–{most:,.0f})"


def _milliseconds(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}"


def _words(saw: str) -> str:
    return saw.replace("_", " ")
