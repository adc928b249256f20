"""Puts what was found into the verdict document, which is all that reports ever see."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from signal import Signals
from typing import Any

from msgspec.structs import replace

from swarmtest.checks import Judged, Outcome
from swarmtest.judge.advice import first_advice
from swarmtest.judge.figures import NO_TIMES, figures, time_figures
from swarmtest.judge.notes import notes_on
from swarmtest.judge.policies import first_requests, retry_entries
from swarmtest.judge.proof import proof
from swarmtest.judge.story import acts_of, front_door_of, hurt_of, update_of
from swarmtest.judge.streams import stream_events, stream_rows
from swarmtest.losses import Accounted, Charge, Loss
from swarmtest.reports import (
    DOCUMENT_VERSION,
    MARKS,
    CheckEntry,
    Document,
    InstanceEntry,
    LossEvent,
    LossGroup,
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
    "kind",
    "steps",
    "deployed_with",
    "guards",
    "versions",
)
"""Parts of the plan that a verdict is worth nothing without."""

MOST_EVENTS = 10_000
"""Lost requests that are in the document one by one, a few megabytes; all of them can be asked for by ``query``."""


def compose(
    judged: Judged, entries: Sequence[CheckEntry], outcome: Outcome, exit_code: int, reasons: Sequence[str]
) -> Document:
    """The document of a judged run."""
    promises, timeline, losses = judged.promises, judged.timeline, judged.losses
    ended = max((one.request.ended for one in losses.telling), default=None)
    first = first_requests(judged)
    lost = losses.lost
    events = [_event(one) for one in _listed(lost)]
    return Document(
        version=DOCUMENT_VERSION,
        run=promises.run,
        outcome=outcome.value,
        exit_code=exit_code,
        scenario=promises.scenario,
        stack=promises.stack.file or promises.stack.name,
        engine=promises.engine,
        settings=_settings(promises.raw),
        checks=list(entries),
        losses={"sent": losses.sent, **losses.counts(), "duplicates": len(losses.duplicates)},
        instances=[replace(_instance(life, judged), first=first.get(life.task)) for life in timeline.lifespans],
        start=timeline.t0 if timeline.t0 is not None else timeline.began,
        seconds=round(ended - timeline.began, 3) if ended is not None and timeline.began is not None else None,
        loss_rows=_rows(judged),
        loss_events=events,
        loss_events_left_out=len(lost) - len(events),
        loss_groups=loss_groups(lost),
        proof=proof(judged),
        figures=figures(judged),
        advice=first_advice(entries),
        notes=_notes(reasons, notes_on(judged)),
        kind=promises.kind or "orderly",
        acts=acts_of(timeline),
        update=update_of(judged),
        front_door=front_door_of(judged),
        guard=timeline.stopped_by_guard,
        retries=retry_entries(judged),
        stream_rows=stream_rows(judged),
        stream_events=stream_events(judged),
    )


def _notes(reasons: Sequence[str], notes: Sequence[str]) -> list[str]:
    """What keeps the run from a pass, then what else is to be known; what a note says in full isn't said before."""
    return [*(one for one in dict.fromkeys(reasons) if not any(note.startswith(one) for note in notes)), *notes]


def _settings(plan: Mapping[str, Any]) -> dict[str, Any]:
    """What the verdict rests on, with the version that made the run in a place of its own."""
    settings = {name: plan[name] for name in SETTINGS if name in plan}
    made_by = plan.get("swarmtest") or (plan.get("versions") or {}).get("swarmtest")
    return settings | ({"swarmtest": made_by} if made_by else {})


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
        grace_seconds=life.grace_seconds,
        lost=sum(1 for one in judged.losses.seen if one.life is not None and one.life.task == life.task),
        hurts=[hurt_of(victim, life, judged) for victim in judged.timeline.hurts(life)],
        image=life.image,
        called=sorted({*judged.aliases.names_of(life), *life.addresses}),
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
        unproved=one.unproved,
        saw=one.request.saw,
    )


def _listed(lost: Sequence[Accounted]) -> Sequence[Accounted]:
    """Of each class the first ones, so that what's rare isn't crowded out by what's frequent."""
    if len(lost) <= MOST_EVENTS:
        return lost
    ranks: Counter[Loss] = Counter()
    ranked = []
    for place, one in enumerate(lost):
        ranks[one.loss] += 1
        ranked.append((ranks[one.loss], place))
    return [lost[place] for place in sorted(place for _, place in sorted(ranked)[:MOST_EVENTS])]


def loss_groups(lost: Sequence[Accounted]) -> list[LossGroup]:
    """All of them in groups, the largest first."""
    charges = ((one, (one.charge or Charge.UNPLACED).value) for one in lost)
    counts = Counter((one.loss.value, charge, one.unproved, one.request.saw) for one, charge in charges)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], *map(str, item[0])))
    return [LossGroup(*key, count=count) for key, count in ordered]


def _rows(judged: Judged) -> list[LossRow]:
    """What became of each kind on kept and on fresh connections."""
    counts: defaultdict[tuple[str, bool], Counter[str]] = defaultdict(Counter)
    unproved: Counter[tuple[str, bool]] = Counter()
    for one in judged.losses.telling:
        key = one.request.kind, one.request.reused
        counts[key][one.loss.value] += 1
        unproved[key] += one.unproved or one.broken_off
    for group in judged.losses.groups:
        counts[group.kind, group.reused][Loss.OK.value] += group.count
    times = time_figures(judged.requests, "kind, reused")
    rows = []
    for key in sorted(counts, key=lambda key: (key[0], key[1])):
        (kind, reused), classes = key, dict(sorted(counts[key].items()))
        sent, connection = sum(classes.values()), "kept" if reused else "fresh"
        rows.append(LossRow(kind, connection, sent, classes, unproved=unproved[key], **times.get(key, NO_TIMES)))
    return rows
