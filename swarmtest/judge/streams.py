"""The streams of a run in the document: their counts by kind, and each that ended badly."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from swarmtest.checks import Judged
from swarmtest.evidence.stream import Stream
from swarmtest.losses.streams import Drop, drops, instance_of
from swarmtest.reports import StreamEvent, StreamRow

MOST_EVENTS = 1000
"""Streams that are listed one by one; all of them are in the run's folder."""


def stream_rows(judged: Judged) -> list[StreamRow]:
    """Counts of each kind of stream, in the order of their names."""
    lost = drops(judged.streams, judged.aliases)
    kinds = sorted({one.kind for one in judged.streams})
    return [
        _row([one for one in judged.streams if one.kind == kind], [drop for drop in lost if drop.stream.kind == kind])
        for kind in kinds
    ]


def _row(streams: Sequence[Stream], lost: Sequence[Drop]) -> StreamRow:
    times = [drop.seconds for drop in lost if drop.seconds is not None]
    dropped = [one for one in streams if one.dropped]
    return StreamRow(
        kind=streams[0].kind,
        protocol=streams[0].protocol,
        sessions=len({one.session for one in streams}),
        tries=len(streams),
        opened=sum(1 for one in streams if one.opened is not None),
        told=sum(1 for one in dropped if one.told),
        cut=sum(1 for one in dropped if not one.told and not one.untold),
        untold=sum(1 for one in dropped if one.untold),
        sent=sum(one.sent for one in streams),
        received=sum(one.received for one in streams),
        lost=sum(one.lost for one in streams),
        repeated=sum(one.repeated for one in streams),
        resent=sum(one.resent for one in streams),
        back=len(times),
        back_median_seconds=round(median(times), 3) if times else None,
        back_longest_seconds=round(max(times), 3) if times else None,
    )


def stream_events(judged: Judged) -> list[StreamEvent]:
    """Streams that ended badly or miss a message, in the order of time."""
    bad = [one for one in judged.streams if (one.dropped and not one.told) or one.lost or one.repeated]
    bad.sort(key=lambda one: (one.closed or 0.0, one.id))
    return [_event(one, judged) for one in bad[:MOST_EVENTS]]


def _event(stream: Stream, judged: Judged) -> StreamEvent:
    life = instance_of(stream, judged.aliases)
    return StreamEvent(
        id=stream.id,
        kind=stream.kind,
        session=stream.session,
        instance=life.task if life is not None else stream.instance,
        opened=stream.opened,
        closed=stream.closed,
        ending=stream.ending,
        lost=stream.lost,
        repeated=stream.repeated,
        error=stream.error,
    )
