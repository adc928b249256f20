"""Whether the instances' records are whole, so that a missing start record proves something.

Three links, each of which must hold: the log of every instance that could have had the request was
read to its end without a gap; its sequence numbers run from 1 without one; and in the baseline,
where nothing is hurt, client and instance records match one to one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from swarmtest.evidence.request import Request
from swarmtest.timeline import Aliases, Lifespan, Partition, Timeline, Trail, Witness

AROUND_SECONDS = 1.0
"""An instance that ended or began this close to a request could still have had it."""


@dataclass(frozen=True, slots=True)
class Gap:
    """An instance whose word isn't whole, while it lived."""

    life: Lifespan
    began: float
    ended: float
    reason: str


@dataclass(frozen=True, slots=True)
class Records:
    """How far the instances' records can be trusted.

    Attributes:
        unreliable: why none of them proves anything; None where they can be trusted.
        contradicted: whether that's because they were found to be wrong, and not because nobody could look.
        gaps: the instances whose own record isn't whole.
        unrecorded: IDs of whole answers without a start record, though the records seem whole.
    """

    unreliable: str | None
    gaps: tuple[Gap, ...] = ()
    unrecorded: tuple[str, ...] = ()
    contradicted: bool = False

    @property
    def whole(self) -> bool:
        """Whether all of them are."""
        return self.unreliable is None and not self.gaps

    @property
    def reason(self) -> str | None:
        """Why they aren't whole."""
        if self.unreliable is not None:
            return self.unreliable
        return f"{_name(self.gaps[0].life)}: {self.gaps[0].reason}" if self.gaps else None

    def unheard(self, trail: Trail | None, witness: Witness) -> str | None:
        """Why a commit or finish of a request that had started may have gone unrecorded, or None."""
        if trail is None or not trail.seen:
            return None
        if self.contradicted:
            return self.unreliable
        if not witness.logs_ends:
            return "no instance writes a line commit or finish"
        stream = witness.streams.get(trail.container or "")
        steps = trail.start or trail.intent
        return "no log of it was read" if stream is None else stream.gap_after(steps[-1].seq if steps else None)

    def gap_for(self, request: Request, dialled: Lifespan | None) -> str | None:
        """Why no start record of this request proves nothing; None where it proves that none saw it.

        Arguments:
            dialled: the one instance that can have had it, where that's known.
        """
        if self.unreliable is not None:
            return self.unreliable
        for gap in self.gaps:
            if dialled is not None and gap.life.task != dialled.task:
                continue
            if gap.began - AROUND_SECONDS <= request.ended and request.began <= gap.ended + AROUND_SECONDS:
                return f"{_name(gap.life)}: {gap.reason}"
        return None


def read_records(timeline: Timeline, witness: Witness, partition: Partition, aliases: Aliases) -> Records:
    """How far the records of a run can be trusted.

    A plain request has its start record, where instances write any, so only the others are to be looked at.
    """
    requests = partition.requests
    gaps = []
    for life in timeline.lifespans:
        if not (life.ran or life.served or timeline.broken):
            continue  # Swarm gives no task an address before it runs
        stream = witness.streams.get(life.container or "")
        reason = "no log of it was read" if stream is None else stream.gap()
        if reason is not None:
            ended = life.at("exited")
            gaps.append(Gap(life, life.at("started") or life.created, ended or float("inf"), reason))
    if not witness.logs_starts:
        return Records("no instance logs the start of a request (app contract: the line `start`)", tuple(gaps))
    unrecorded = tuple(_unrecorded(requests, witness, gaps, aliases))
    calm = _calm(timeline, partition)
    plain = sum(group.count for group in partition.groups if group.before)
    if not calm and not plain:
        unknown = "no request was answered before the rollout, so client and instance records couldn't be reconciled"
        return Records(unknown, tuple(gaps), unrecorded)
    wrong = _contradiction(timeline, witness, calm, plain)
    return Records(wrong, tuple(gaps), unrecorded, contradicted=wrong is not None)


def _calm(timeline: Timeline, partition: Partition) -> list[Request]:
    """Whole answers of the baseline; where no answer of the run names its instance, those without a name."""
    until, names_itself = _baseline_end(timeline), partition.whole.names_itself
    return [one for one in partition.requests if _whole(one, names_itself) and (until is None or one.ended < until)]


def _baseline_end(timeline: Timeline) -> float | None:
    return timeline.t0 if timeline.t0 is not None else timeline.ended


def _contradiction(timeline: Timeline, witness: Witness, calm: Sequence[Request], plain: int) -> str | None:
    """Why client and instance records of the baseline don't match, or None where they do.

    Arguments:
        plain: how many more there are in the baseline that do match.
    """
    until = _baseline_end(timeline)
    missing = sum(1 for one in calm if (trail := witness.trails.get(one.id)) is None or not trail.start)
    if missing:
        return f"{missing} of {len(calm) + plain} answers of the baseline have no start record"
    trails = [trail for name in witness.strangers if (trail := witness.trails[name]).start]
    early = sum(1 for trail in trails if until is None or trail.start[0].t < until)
    if early:
        return f"{early} start records of the baseline bear IDs that the client has no record of"
    return None


def _unrecorded(requests: Iterable[Request], witness: Witness, gaps: Sequence[Gap], aliases: Aliases) -> Iterable[str]:
    spoilt = {gap.life.task for gap in gaps}
    for request in requests:
        if not _whole(request):
            continue
        trail = witness.trails.get(request.id)
        life = aliases.of_header(request.instance, request.began)
        if (trail is None or not trail.start) and (life is None or life.task not in spoilt):
            yield request.id


def _whole(request: Request, named: bool = True) -> bool:
    status = request.status or 0
    bears = request.instance is not None or not named
    return request.answered and bears and 200 <= status < 300


def _name(life: Lifespan) -> str:
    return f"{life.name} ({life.task[:8]})"
