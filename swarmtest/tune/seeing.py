"""What a run of a tune shows, read from its folder by the judging side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from swarmtest.checks import Judged
from swarmtest.checks.delivered_the_traffic import NEVER_KEPT, shortcomings
from swarmtest.events import read_events
from swarmtest.evidence.database import database_of_folder, is_about_a_request
from swarmtest.judge import see_folder
from swarmtest.losses.mechanisms import Mechanism, ending_of, most_telling
from swarmtest.reports import CheckEntry, Document
from swarmtest.store import open_run_folder
from swarmtest.timeline.machine import full_machine
from swarmtest.tune.stops import Stop, measured


@dataclass(frozen=True, slots=True)
class Seen:
    """A judged run, as far as a tune asks for it.

    Attributes:
        lost: requests that were lost; ``unproved`` ones, whose answers only lack their proof, are beside them.
        ways: how instances failed to end well, and how requests were lost.
        told: how many of its stops wrote that they had heard of the signal, or acted on it before their end.
        longest_seconds: the longest request that was answered, as its instance had it; 0 where none was.
        full: that nothing was left of the machine, so that stops took longer than they would elsewhere; None else.
        undelivered: why its traffic proves nothing; then none of its stops counts.
    """

    folder: str
    outcome: str
    sent: int
    lost: int
    unproved: int
    stops: tuple[Stop, ...]
    checks: Mapping[str, CheckEntry] = field(default_factory=dict)
    endings: tuple[Mechanism, ...] = ()
    ways: tuple[tuple[Mechanism, int], ...] = ()
    told: int = 0
    longest_seconds: float = 0.0
    ended: str | None = "finished"
    notes: tuple[str, ...] = ()
    undelivered: tuple[str, ...] = ()
    full: str | None = None


def see(document: Document, folder: Path, run: int, armed: float) -> Seen:
    """What a run's folder shows beside its document.

    Arguments:
        run: which run of the tune it is, from 1.
        armed: the grace that its instances were to be made with.
    """
    source = open_run_folder(folder)
    events = list(read_events(source.events, is_about_a_request))
    with closing(database_of_folder(source)) as database:
        return seen_of(see_folder(source, events, database), document, folder.name, (run, armed))


def seen_of(judged: Judged, document: Document, folder: str, place: tuple[int, float]) -> Seen:
    """The same of a run that has been judged.

    Arguments:
        place: which run of the tune it is, and the grace that its instances were to be made with.
    """
    going = judged.timeline.meant_to_stop
    endings = [found for life in going if (found := ending_of(life, judged.witness)) is not None]
    really = [one for one in judged.losses.lost if not one.unproved]
    by_task = Counter(one.life.task for one in really if one.life is not None)
    ways = most_telling(really, judged.timeline, judged.witness, judged.promises)
    streams = judged.witness.streams
    lines = [streams[life.container].lifecycle for life in going if life.container and life.container in streams]
    undelivered = tuple(reason for reason in shortcomings(judged) if reason != NEVER_KEPT)
    stops = measured(going, *place, by_task)
    if undelivered:
        stops = tuple(replace(stop, why_not=stop.why_not or undelivered[0]) for stop in stops)
    return Seen(
        folder=folder,
        outcome=document.outcome,
        sent=judged.losses.sent,
        lost=len(really),
        unproved=len(judged.losses.lost) - len(really),
        stops=stops,
        checks={check.name: check for check in document.checks},
        endings=tuple(endings),
        ways=tuple(ways),
        told=sum(1 for line in lines if line.keys() & _HEARD),
        longest_seconds=max(0.0, float(judged.requests.rows(_LONGEST)[0][0] or 0.0)),
        ended=judged.timeline.outcome,
        notes=tuple(document.notes),
        undelivered=undelivered,
        full=full_machine(judged.timeline, at_times=True),
    )


_HEARD = {"signal", "unready", "closed_listener", "drained", "exiting"}
"""Lines of an app that it writes only when it has heard of the stop signal."""

_LONGEST = "SELECT max(coalesce(finished - started, ended - connected)) FROM accounted WHERE loss = 'ok'"
"""A second that a connection took to be made is no work of the instance's (moby/moby #35082)."""
