"""What became of each request, where, and what it's charged to; the classes add up to *sent*."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from swarmtest.evidence.promises import Promises
from swarmtest.evidence.request import Request
from swarmtest.losses.charge import Charge, broken_off, charge
from swarmtest.losses.classify import Found, Known, Loss, classify
from swarmtest.losses.content import held_to_content
from swarmtest.losses.deadlines import by_deadline, deadlines_of
from swarmtest.losses.proof import upper_bound
from swarmtest.losses.reach import Reach, read_faults
from swarmtest.losses.records import Records, read_records
from swarmtest.timeline import Aliases, Group, Lifespan, Partition, Proxied, Timeline, Trail, Witness

__all__ = [
    "Accounted",
    "Charge",
    "Found",
    "Known",
    "Loss",
    "Losses",
    "Reach",
    "Records",
    "account",
    "classify",
    "upper_bound",
]


@dataclass(frozen=True, slots=True)
class Accounted:
    """One request with its class.

    Attributes:
        life: where it ran, or what was dialled with it.
        charge: what the loss belongs to; None for a request that's ok, or not known to be lost.
        unproved: its answer was complete, and only the proof of it is missing.
        fault: the hurt that it belongs to, where that's its charge.
        broken_off: the run itself was broken off while it was open, so that nothing else is known to have lost it.
    """

    request: Request
    loss: Loss
    why: str
    life: Lifespan | None
    trail: Trail | None
    proxied: Proxied | None
    charge: Charge | None
    unproved: bool = False
    fault: Reach | None = None
    broken_off: bool = False


@dataclass(frozen=True, slots=True)
class Losses:
    """All requests of a run, accounted for.

    Attributes:
        telling: those that are looked at one by one: every one that's lost or in doubt, and of the plain ones those
            that tell something by themselves. The first and the last of any kind are among them; how many there
            are of something that's ok is not to be counted here.
        groups: the plain rest, all of it ok, as counts.
        duplicates: request IDs that were started more than once, with the containers.
        names_itself: whether any answer names its instance.
        echoes: whether any answer echoes its request's ID.
        different: how many request IDs the client used.
        everything: all requests as objects; what it takes grows with the run.
    """

    telling: tuple[Accounted, ...]
    groups: tuple[Group, ...]
    duplicates: tuple[tuple[str, tuple[str, ...]], ...]
    records: Records
    names_itself: bool
    echoes: bool
    different: int
    everything: Callable[[], tuple[Accounted, ...]]

    @property
    def accounted(self) -> tuple[Accounted, ...]:
        """All requests as objects. What can be counted by ``Judged.requests`` shouldn't need it."""
        return self.everything() if self.groups else self.telling

    @property
    def plain(self) -> int:
        """Those that are only counted: all of them ok."""
        return sum(group.count for group in self.groups)

    @property
    def sent(self) -> int:
        """All requests, of whatever class."""
        return len(self.telling) + self.plain

    @property
    def lost(self) -> tuple[Accounted, ...]:
        """Every request that isn't ok."""
        return tuple(one for one in self.telling if one.loss is not Loss.OK)

    @property
    def seen(self) -> tuple[Accounted, ...]:
        """Those of the lost that are known to be, and not only unproved to be answered, or broken off by us."""
        return tuple(one for one in self.lost if not (one.unproved or one.broken_off))

    @property
    def kept(self) -> int:
        """How many were sent on a connection that had carried another one before."""
        plain = sum(group.count for group in self.groups if group.reused)
        return plain + sum(1 for one in self.telling if one.request.reused)

    def by_kind(self) -> Counter[str]:
        """How many were sent of each kind."""
        found = Counter(one.request.kind for one in self.telling)
        for group in self.groups:
            found[group.kind] += group.count
        return found

    def counts(self) -> dict[str, int]:
        """Requests of each class, those with none included."""
        counted = Counter(one.loss for one in self.telling)
        counted[Loss.OK] += self.plain
        return {loss.value: counted.get(loss, 0) for loss in Loss}


def account(partition: Partition, promises: Promises, timeline: Timeline, witness: Witness, aliases: Aliases) -> Losses:
    """Accounts for every request of a run, the plain ones without a look at each."""
    whole = partition.whole
    records = read_records(timeline, witness, partition, aliases)
    faults = read_faults(promises, timeline)
    logs_stored = witness.logs_stored
    accounted = []
    for request in partition.requests:
        lines = witness.proxied.get(request.id, ())
        proxied = lines[-1] if lines else None
        trail = witness.trails.get(request.id)
        dialled = _dialled(request, proxied, promises, aliases)
        gap = None if _said_so(request, promises) else records.gap_for(request, dialled)
        unheard = records.unheard(trail, witness)
        known = Known(request, trail, gap, proxied, whole.names_itself, whole.echoes, unheard)
        found = held_to_content(known, classify(known), logs_stored=logs_stored)
        life = _ran(request, trail, aliases) or dialled
        owed, fault, off = None, None, broken_off(request, found.loss, timeline)
        if found.loss is not Loss.OK and not found.unproved and not off:
            fault = faults.of(request, found.loss, life)
            mode = promises.front_door.mode
            owed = Charge.FAULT if fault is not None else charge(request, found.loss, life, timeline, mode)
        why = f"{found.why}; the run was broken off meanwhile" if off else found.why
        accounted.append(Accounted(request, found.loss, why, life, trail, proxied, owed, found.unproved, fault, off))
    if timeline.t0 is not None:
        usual, deadlines = _usual(accounted, partition.groups, timeline.t0), deadlines_of(accounted)
        accounted = [
            replace(one, charge=Charge.BACKGROUND, fault=None)
            if one.charge and (_key(one) in usual or by_deadline(one, deadlines))
            else one
            for one in accounted
        ]
    everything = cache(lambda: _everything(partition, promises, timeline, witness, aliases))
    groups, twice = partition.groups, _duplicates(witness)
    return Losses(
        tuple(accounted), groups, twice, records, whole.names_itself, whole.echoes, whole.different, everything
    )


def _everything(
    partition: Partition, promises: Promises, timeline: Timeline, witness: Witness, aliases: Aliases
) -> tuple[Accounted, ...]:
    """All requests as objects."""
    entire = partition.entire()
    heard = replace(witness, trails=entire.trails, proxied=entire.proxied)
    return account(entire, promises, timeline, heard, aliases).telling


_Key = tuple[str, Loss, int | None]


def _key(one: Accounted) -> _Key:
    return one.request.kind, one.loss, one.request.status


def _usual(accounted: Sequence[Accounted], groups: Sequence[Group], t0: float) -> set[_Key]:
    """Answers other than a success that a kind of request mostly got before anything was done.

    A path that the app doesn't know is answered with 404 before, during and after a rollout, which has
    nothing to do with it, whichever instance was going at the time.
    """
    before = [one for one in accounted if one.request.ended < t0]
    kinds = Counter(one.request.kind for one in before)
    for group in groups:
        kinds[group.kind] += group.count if group.before else 0
    told = (Loss.UNEXPECTED, Loss.ERROR, Loss.SHED)
    got = Counter(_key(one) for one in before if one.loss in told)
    return {key for key, count in got.items() if 2 * count > kinds[key[0]]}


def _ran(request: Request, trail: Trail | None, aliases: Aliases) -> Lifespan | None:
    ran = aliases.of_container(trail.container) if trail is not None else None
    return ran or aliases.of_header(request.instance, request.began)


def _said_so(request: Request, promises: Promises) -> bool:
    """Whether the instance itself says that no handler saw it. A proxy says so of what it had passed on, too."""
    return request.client_outcome == "refused_stream" and promises.front_door.mode != "proxy"


def _dialled(request: Request, proxied: Proxied | None, promises: Promises, aliases: Aliases) -> Lifespan | None:
    if promises.direct:
        return aliases.of_target(request.target, request.began)
    return aliases.of_address(proxied.server, request.began) if proxied is not None else None


def _duplicates(witness: Witness) -> tuple[tuple[str, tuple[str, ...]], ...]:
    twice = ((name, tuple(trail.containers)) for name, trail in witness.trails.items() if len(trail.start) > 1)
    return tuple(sorted(twice))
