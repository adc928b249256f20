"""Puts what was found into the verdict document, which is all that reports ever see."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from signal import Signals
from typing import Any

from swarmtest.checks import Judged, Outcome
from swarmtest.losses import Accounted, Charge, Loss, upper_bound
from swarmtest.losses.wording import label
from swarmtest.reports import (
    DOCUMENT_VERSION,
    MARKS,
    CheckEntry,
    Document,
    InstanceEntry,
    LossEvent,
    LossRow,
    Mark,
)
from swarmtest.timeline import Lifespan

SETTINGS = (
    "stack",
    "images",
    "front_door",
    "url",
    "instance_header",
    "request_id_header",
    "traffic",
    "seed",
    "swarmtest",
    "steps",
    "versions",
)
"""Parts of the plan that a verdict is worth nothing without."""

TELLING = (
    "replaced_every_instance",
    "answered_every_request",
    "exited_within_grace",
    "new_served_only_when_ready",
    "drained_before_exit",
    "kept_capacity",
    "nothing_arrived_after_close",
    "front_door_let_go_in_time",
    "handled_each_request_once",
)
"""Checks whose advice mends causes, before those whose advice mends what follows from them."""

MOST_ADVICE = 2


def compose(
    judged: Judged, entries: Sequence[CheckEntry], outcome: Outcome, exit_code: int, reasons: Sequence[str]
) -> Document:
    """The document of a judged run."""
    promises, timeline, losses = judged.promises, judged.timeline, judged.losses
    ended = max((one.request.ended for one in losses.accounted), default=None)
    return Document(
        version=DOCUMENT_VERSION,
        run=promises.run,
        outcome=outcome.value,
        exit_code=exit_code,
        scenario=promises.scenario,
        stack=promises.stack.file or promises.stack.name,
        engine=promises.engine,
        settings={name: promises.raw[name] for name in SETTINGS if name in promises.raw},
        checks=list(entries),
        losses={"sent": losses.sent, **losses.counts(), "duplicates": len(losses.duplicates)},
        instances=[_instance(life, judged) for life in timeline.lifespans],
        start=timeline.t0 if timeline.t0 is not None else timeline.began,
        seconds=round(ended - timeline.began, 3) if ended is not None and timeline.began is not None else None,
        loss_rows=_rows(losses.accounted),
        loss_events=[_event(one) for one in losses.lost],
        proof=_proof(judged),
        advice=_advice(entries),
        notes=[*dict.fromkeys(reasons), *_notes(judged)],
    )


def _instance(life: Lifespan, judged: Judged) -> InstanceEntry:
    marks = {name: _mark(life, name) for name in MARKS}
    return InstanceEntry(
        id=life.task,
        name=life.name,
        slot=life.slot,
        node=life.node,
        generation=life.generation,
        exit_code=life.exit_code,
        signal=_signal_name(life.signal),
        served=life.served,
        marks=marks,
        cause=life.cause,
        cpu_max=life.cpu_max,
        memory_max=life.memory_max,
        lost=sum(1 for one in judged.losses.lost if one.life is not None and one.life.task == life.task),
    )


def _mark(life: Lifespan, name: str) -> Mark | None:
    mark = life.mark(name)
    return None if mark is None else Mark(round(mark.at, 6), round(mark.error, 6), mark.source)


def _signal_name(number: int | None) -> str | None:
    if number is None:
        return None
    try:
        return Signals(number).name
    except ValueError:
        return str(number)


def _event(one: Accounted) -> LossEvent:
    return LossEvent(
        id=one.request.id,
        loss=one.loss.value,
        kind=one.request.kind,
        reused=one.request.reused,
        sent=one.request.sent,
        done=one.request.done,
        instance=one.life.task if one.life is not None else one.request.instance,
        charge=(one.charge or Charge.UNPLACED).value,
        why=one.why,
    )


def _rows(accounted: Sequence[Accounted]) -> list[LossRow]:
    groups: defaultdict[tuple[str, str], list[Accounted]] = defaultdict(list)
    for one in accounted:
        groups[one.request.kind, "kept" if one.request.reused else "fresh"].append(one)
    rows = []
    for (kind, connection), some in sorted(groups.items()):
        times = sorted(_milliseconds(one) for one in some if one.loss is Loss.OK)
        counts = Counter(one.loss.value for one in some)
        row_counts = {name: counts[name] for name in sorted(counts)}
        rows.append(LossRow(kind, connection, len(some), row_counts, _share(times, 0.5), _share(times, 0.99)))
    return rows


def _milliseconds(one: Accounted) -> float:
    return (one.request.ended - one.request.began) * 1000


def _share(ordered: Sequence[float], share: float) -> float | None:
    """The value below which a share of the ordered values lies, by the nearest rank."""
    if not ordered:
        return None
    return round(ordered[max(0, -int(-share * len(ordered) // 1) - 1)], 3)


def _proof(judged: Judged) -> dict[str, Any]:
    losses, stops = judged.losses, judged.timeline.stops
    hurt = {task for one in losses.lost if one.charge in _STOPS and (task := _stop_of(one, stops)) is not None}
    lost = len(losses.lost)
    bound, stop_bound = upper_bound(lost, losses.sent), upper_bound(len(hurt), len(stops))
    return {
        "sent": losses.sent,
        "lost": lost,
        "confidence": 0.95,
        "upper_bound": _rounded(bound),
        "stops": len(stops),
        "stops_with_loss": len(hurt),
        "stop_upper_bound": _rounded(stop_bound),
        "answers": _answers_level(judged),
        "commits": _commits_level(judged),
        "records": losses.records.reason or "whole, and reconciled with the client's in the baseline",
    }


def _stop_of(one: Accounted, stops: Sequence[Lifespan]) -> str | None:
    """The stop that a loss belongs to; where no instance is known, the one that had begun last."""
    if one.life is not None:
        return one.life.task
    begun = [(mark.at, life.task) for life in stops if (mark := life.stopping) and mark.at <= one.request.ended]
    return max(begun, default=(0.0, None))[1]


_STOPS = (Charge.SHUTDOWN, Charge.FRONT_DOOR)


def _answers_level(judged: Judged) -> str:
    if not judged.losses.names_itself:
        return "no answer names its instance: nothing is proved to be answered by the stack"
    return "instance header, full length" + (
        ", echoed request ID" if judged.losses.echoes else "; no answer echoes its request ID"
    )


def _commits_level(judged: Judged) -> str:
    if not judged.witness.logs_starts:
        return "no log lines: cut and unserved can't be told apart"
    if judged.witness.logs_intents:
        return "start, intent, commit and finish lines: a cut request had not begun its commit"
    return "no intent lines: a commit just before a cut may have gone unrecorded"


def _advice(entries: Sequence[CheckEntry]) -> list[str]:
    """The first advices, of failed checks before unproved ones, causes before what follows from them."""
    for outcome in (Outcome.FAILED, Outcome.NOT_PROVED):
        some = [entry for entry in entries if entry.outcome == outcome.value and entry.advice]
        if some:
            ordered = sorted(some, key=lambda e: TELLING.index(e.name) if e.name in TELLING else len(TELLING))
            return list(dict.fromkeys(entry.advice for entry in ordered if entry.advice))[:MOST_ADVICE]
    return []


def _notes(judged: Judged) -> list[str]:
    notes = []
    background = [one for one in judged.losses.lost if one.charge is Charge.BACKGROUND]
    if background:
        notes.append(f"{len(background)} requests were lost with no lifecycle event nearby: they aren't the rollout's")
    if judged.losses.records.unrecorded:
        some = judged.losses.records.unrecorded
        notes.append(f"{len(some)} whole answers have no start record, so the instances' records can't be trusted")
    killed = [life for life in judged.timeline.lifespans if life.cause == "out of memory"]
    notes += [f"{label(life)} was killed for memory" for life in killed]
    return notes


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 9)
