"""What became of the sessions' streams: who was dropped, by which instance, and when each was back.

A stream that ends is no lost request: it's open for as long as its instance lives, so each stop ends
some. What counts is whether its client was told, when it was back, and whether a message went missing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from swarmtest.evidence.stream import Stream
from swarmtest.timeline import Aliases, Lifespan

JUST_SECONDS = 0.3
"""Two things this close together are one."""


@dataclass(frozen=True, slots=True)
class Drop:
    """A session that lost its stream.

    Attributes:
        stream: what it lost.
        life: the instance that it was on; None where nobody knows.
        back: its next stream on an instance that wasn't already told to stop; None where there was none.
        tries: how many it made until then, or in all.
    """

    stream: Stream
    life: Lifespan | None
    back: Stream | None
    tries: int

    @property
    def seconds(self) -> float | None:
        """How long it was without a stream that lasts; None where it never came back."""
        if self.back is None or self.back.opened is None or self.stream.closed is None:
            return None
        return max(0.0, self.back.opened - self.stream.closed)


def instance_of(stream: Stream, aliases: Aliases) -> Lifespan | None:
    """The instance that held a stream, by its own word; None where it doesn't name itself."""
    if stream.opened is None:
        return None
    return aliases.of_header(stream.instance, stream.opened)


def by_session(streams: Iterable[Stream]) -> Mapping[str, Sequence[Stream]]:
    """Each session's streams in their order."""
    found: defaultdict[str, list[Stream]] = defaultdict(list)
    for stream in streams:
        found[stream.session].append(stream)
    return {name: sorted(some, key=lambda one: one.attempt) for name, some in sorted(found.items())}


def drops(streams: Iterable[Stream], aliases: Aliases) -> list[Drop]:
    """Every stream that was lost, in the order of time."""
    found = []
    for some in by_session(streams).values():
        for place, stream in enumerate(some):
            if stream.dropped:
                later = some[place + 1 :]
                back = next((one for one in later if one.opened is not None and _lasts(one, aliases)), None)
                tries = len(later) if back is None else later.index(back) + 1
                found.append(Drop(stream, instance_of(stream, aliases), back, tries))
    return sorted(found, key=lambda drop: (drop.stream.closed or 0.0, drop.stream.id))


def _lasts(stream: Stream, aliases: Aliases) -> bool:
    """Whether a stream was opened on an instance that nobody had told to stop by then."""
    life = instance_of(stream, aliases)
    signalled = life.mark("signalled") if life is not None else None
    return signalled is None or stream.opened is None or stream.opened < signalled.at - signalled.error


def open_at_stop(streams: Iterable[Stream], life: Lifespan, aliases: Aliases) -> list[Stream]:
    """Streams that an instance held when it began to go."""
    going = life.stopping
    if going is None:
        return []
    found = (one for one in streams if one.opened is not None and instance_of(one, aliases) == life)
    return [one for one in found if one.opened is not None and (one.closed is None or one.closed > going.at)]


def held_until_killed(streams: Iterable[Stream], life: Lifespan, aliases: Aliases) -> list[Stream]:
    """Streams that were still open when an instance was killed."""
    killed = life.mark("killed")
    if killed is None:
        return []
    earliest = killed.at - killed.error - JUST_SECONDS
    return [
        one
        for one in open_at_stop(streams, life, aliases)
        if not one.told and (one.closed is None or one.closed >= earliest)
    ]
