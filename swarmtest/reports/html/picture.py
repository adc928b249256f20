"""What the page's scripts draw: rows of instances with their marks, acts, dots, and the run second by second.

Times are seconds from T0, as in every other report. Nothing here is markup; the page puts it in as data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from swarmtest.losses.seconds import Seconds, Track
from swarmtest.losses.table import Told
from swarmtest.reports import CLASSES, Document, InstanceEntry
from swarmtest.reports.acts import act_rows
from swarmtest.reports.html.dots import Places, lost_dots, ok_dots
from swarmtest.reports.lifespans import START_MARKS, STOP_MARKS, full_label, zero
from swarmtest.reports.wording import CLASS_MEANINGS

BEFORE_TRAFFIC = 15.0
"""Seconds before the first request from which on marks are in the picture."""

EDGE = 0.01
"""Share of the picture's width that's left free on both sides."""

MOST_STEPS = 7_200
"""Points of a curve; of a longer run, some seconds are put together."""

MARK_WORDS = dict((*START_MARKS, *STOP_MARKS))


@dataclass(frozen=True, slots=True)
class Run:
    """What a picture is made of.

    Attributes:
        requests: every request with what became of it; None where there are none at hand.
    """

    document: Document
    seconds: Seconds
    requests: Told | None


def picture(run: Run) -> dict[str, Any]:
    """All that the page draws."""
    document, start = run.document, zero(run.document)
    rows = in_rows(document.instances)
    since, until = _range(run, start)
    places = Places(
        zero=start,
        since=float(run.seconds.start) if run.seconds.length else start,
        rows=len(rows),
        rows_by_name={
            **{name: place for place, one in enumerate(rows) for name in one.called},
            **{one.id: place for place, one in enumerate(rows)},
        },
    )
    return {
        "since": since,
        "until": until,
        "t0": document.start is not None and bool(document.acts),
        "classes": [{"name": name, "meaning": CLASS_MEANINGS.get(name, "answered in full")} for name in CLASSES],
        "rows": [_row(one, document, start) for one in rows],
        "acts": list(_acts(document, start)),
        "ok": None if run.requests is None else ok_dots(run.requests, places),
        "lost": lost_dots(document, run.requests, places),
        "seconds": curves(run.seconds, start),
        "layers": list(_layers(document, places)),
        "limits": list(_limits(document)),
    }


def in_rows(instances: Sequence[InstanceEntry]) -> list[InstanceEntry]:
    """The instances slot by slot, whoever came first above who came after."""

    def place(one: InstanceEntry) -> tuple[bool, int, str, float, str]:
        first = min((mark.at for mark in one.marks.values() if mark), default=float("inf"))
        return one.slot is None, one.slot or 0, (one.node or "") if one.slot is None else "", first, one.id

    return sorted(instances, key=place)


def _range(run: Run, start: float) -> tuple[float, float]:
    """From when until when there's something to see, in seconds from T0."""
    marks = [mark.at for one in run.document.instances for mark in one.marks.values() if mark]
    seconds = run.seconds
    if not seconds.length:
        return (round(min(marks) - start, 3), round(max(marks) - start + 1, 3)) if marks else (0.0, 1.0)
    first, last = float(seconds.start), float(seconds.start + seconds.length)
    early = [at for at in marks if first - BEFORE_TRAFFIC <= at < first]
    late = [at for at in marks if last < at <= last + BEFORE_TRAFFIC]
    first, last = min([*early, first]), max([*late, last])
    edge = (last - first) * EDGE
    return round(first - edge - start, 3), round(last + edge - start, 3)


def _row(one: InstanceEntry, document: Document, start: float) -> dict[str, Any]:
    marks = [
        {"name": name, "words": MARK_WORDS.get(name, name), "at": round(mark.at - start, 3),
         "error": round(mark.error, 3), "source": mark.source}
        for name, mark in one.marks.items()
        if mark is not None
    ]  # fmt: skip
    hurts = [
        [hurt.name, round(hurt.began - start, 3), None if hurt.healed is None else round(hurt.healed - start, 3)]
        for hurt in one.hurts
    ]
    return {
        "label": full_label(one.id, document),
        "generation": one.generation,
        "slot": one.slot,
        "marks": marks,
        "hurts": hurts,
        "served": one.served,
        "lost": one.lost,
        "cause": one.cause,
        "exit": one.exit_code,
    }


def _acts(document: Document, start: float) -> Iterator[dict[str, Any]]:
    for act, row in zip(document.acts, act_rows(document), strict=True):
        if act.began is not None:
            ended = act.ended if act.ended is not None else act.began
            yield {
                "name": row.name,
                "whom": row.whom,
                "result": row.result,
                "began": round(act.began - start, 3),
                "ended": round(ended - start, 3),
                "until": _undone(act.id, document, start),
            }


def _undone(act: int, document: Document, start: float) -> float | None:
    """When an act was undone; None where nothing undid it."""
    ends = [one.ended or one.began for one in document.acts if one.heals == act and one.began is not None]
    return round(ends[0] - start, 3) if ends and ends[0] is not None else None


def _layers(document: Document, places: Places) -> Iterator[dict[str, Any]]:
    """Further signs, which are no requests: each a name, what it means, and points of moment, row, title and text."""
    points = [
        [
            round(event.closed - places.zero, 3),
            places.rows_by_name.get(event.instance or "", places.rows),
            f"stream · {event.kind}: {event.ending}",
            "; ".join(filter(None, (f"{event.lost} lost, {event.repeated} repeated", event.error, event.id))),
        ]
        for event in document.stream_events
        if event.closed is not None
    ]
    if points:
        yield {"name": "stream", "label": "streams that ended badly", "points": points}


def _limits(document: Document) -> Iterator[dict[str, Any]]:
    """Limits of answer times, which curves are drawn beside."""
    for check in document.checks:
        limit = check.limit
        if limit is not None and limit.unit == "ms" and limit.phase is None:
            yield {"name": f"limit of {limit.measure}", "kind": limit.kind or "", "value": limit.value}


def curves(seconds: Seconds, start: float) -> dict[str, Any]:
    """The run second by second, or in longer steps where it's long: counts added up, the worst of times, the fewest."""
    step = max(1, -(-seconds.length // MOST_STEPS))
    tracks = {"": seconds.all, **(seconds.kinds if len(seconds.kinds) > 1 else {})}
    return {
        "start": round(seconds.start - start, 3) if seconds.length else 0.0,
        "step": step,
        "ready": [min(some) for some in _steps(seconds.ready, step)],
        "tracks": [{"name": name, **_coarser(track, step)} for name, track in tracks.items()],
    }


def _coarser(track: Track, step: int) -> Mapping[str, Any]:
    columns: dict[str, Any] = msgspec.to_builtins(track)
    if step == 1:
        return columns
    for name, values in columns.items():
        if name == "lost":
            columns[name] = {loss: [sum(some) for some in _steps(counts, step)] for loss, counts in values.items()}
        elif name in ("sent", "ok", "retries"):
            columns[name] = [sum(some) for some in _steps(values, step)]
        elif name == "in_flight":
            columns[name] = [max(some) for some in _steps(values, step)]
        else:
            known = [[value for value in some if value is not None] for some in _steps(values, step)]
            columns[name] = [max(some, default=None) for some in known]
    return columns


def _steps(values: Sequence[Any], step: int) -> Iterator[Sequence[Any]]:
    return (values[first : first + step] for first in range(0, len(values), step))
