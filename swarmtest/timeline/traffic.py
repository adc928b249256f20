"""The marks that only traffic shows: the first request served, the last new one, the last one done."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from swarmtest.evidence.request import Request
from swarmtest.timeline.aliases import Aliases
from swarmtest.timeline.lifespan import Lifespan, Mark
from swarmtest.timeline.partition import Partition
from swarmtest.timeline.witness import Witness


@dataclass(slots=True)
class _Seen:
    """Earliest and latest of what was seen of one instance's requests."""

    first_start: Mark | None = None
    last_start: Mark | None = None
    last_finish: Mark | None = None
    first_answer: Mark | None = None
    last_sent: Mark | None = None
    last_dialled: Mark | None = None
    last_answer: Mark | None = None
    served: int = 0


def with_traffic(
    lifespans: Iterable[Lifespan], witness: Witness, partition: Partition, aliases: Aliases
) -> tuple[Lifespan, ...]:
    """The lifespans with the marks that records and requests prove, the instance's word first."""
    seen: defaultdict[str, _Seen] = defaultdict(_Seen)
    for stream in witness.streams.values():
        life, counts, error = aliases.of_container(stream.container), stream.counts, witness.error_of(stream.container)
        if life is None:
            continue
        mine = seen[life.task]
        if counts.first_start is not None and counts.last_start is not None:
            mine.first_start = Mark(counts.first_start, error, "the instance's start record")
            mine.last_start = Mark(counts.last_start, error, "the instance's start record")
        if counts.last_finish is not None:
            mine.last_finish = Mark(counts.last_finish, error, "the instance's finish record")
    for request in partition.requests:
        _take(request, witness, aliases, seen)
    plain: Counter[str] = Counter()
    for group in partition.groups:
        plain[group.task] += group.count
    return tuple(_marked(life, seen[life.task], plain[life.task]) for life in lifespans)


def _take(request: Request, witness: Witness, aliases: Aliases, seen: defaultdict[str, _Seen]) -> None:
    for line in witness.proxied.get(request.id, ()):
        dialled = aliases.of_address(line.server, request.began)
        if dialled is not None and line.connected is not False:
            mark = Mark(request.began, line.duration, "the proxy's line, dated by the client")
            seen[dialled.task].last_dialled = _later(seen[dialled.task].last_dialled, mark)
    trail = witness.trails.get(request.id)
    ran = aliases.of_container(trail.container if trail is not None else None)
    named = request.instance is not None or ran is not None
    ran = ran or aliases.of_header(request.instance, request.began)
    if ran is None:
        return
    life = seen[ran.task]
    life.last_sent = _later(life.last_sent, Mark(request.began, 0.0, "client's record of the request"))
    if not request.answered or request.done is None or not named:
        return
    answer = Mark(request.done, 0.0, "client's record of the answer")
    life.first_answer, life.last_answer = _earlier(life.first_answer, answer), _later(life.last_answer, answer)
    if request.status is not None and 200 <= request.status < 300:
        life.served += 1


def _marked(life: Lifespan, seen: _Seen, plain: int) -> Lifespan:
    last_done = seen.last_finish
    if seen.last_answer is not None:
        last_done = _later(last_done, seen.last_answer)
    found = {
        "first_served": seen.first_start or seen.first_answer,
        "last_new": seen.last_start or seen.last_dialled or seen.last_sent,
        "last_done": last_done,
    }
    marks = {**life.marks, **{name: mark for name, mark in found.items() if mark is not None}}
    return replace(life, marks=marks, served=seen.served + plain)


def _earlier(one: Mark | None, other: Mark) -> Mark:
    return other if one is None or other.at < one.at else one


def _later(one: Mark | None, other: Mark) -> Mark:
    return other if one is None or other.at > one.at else one
