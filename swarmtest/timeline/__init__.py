"""From the trace to one life per instance, with marks that each point at who saw them.

It's pure, and never invents: a mark that nobody saw is missing, and a stream that broke is said.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from swarmtest.events import Event
from swarmtest.evidence.database import Database
from swarmtest.evidence.facts import find_facts
from swarmtest.evidence.lines import containers, count_lines, names_said, settle
from swarmtest.evidence.promises import Promises
from swarmtest.timeline.acts import skipped, stopped_by_guard, t0_of
from swarmtest.timeline.aliases import Aliases, read_aliases
from swarmtest.timeline.client import read_client
from swarmtest.timeline.clock import Clock, read_clock
from swarmtest.timeline.endings import cause_of, exit_code
from swarmtest.timeline.facts import UNPLACED_STATES, TaskFacts, collect
from swarmtest.timeline.lifespan import Lifespan, Mark, Timeline, Victim
from swarmtest.timeline.lines import sound
from swarmtest.timeline.machine import full_stretches
from swarmtest.timeline.marks import announced, app_marks, engine_marks, listed, signal_sent
from swarmtest.timeline.neighbours import read_neighbours
from swarmtest.timeline.partition import Group, Partition
from swarmtest.timeline.traffic import with_traffic
from swarmtest.timeline.victims import read_victims, to_stop
from swarmtest.timeline.witness import Proxied, Step, Stream, Trail, Witness, of_others, read_streams

__all__ = [
    "Aliases",
    "Group",
    "Lifespan",
    "Mark",
    "Partition",
    "Proxied",
    "Step",
    "Stream",
    "Timeline",
    "Trail",
    "Victim",
    "Witness",
    "read_aliases",
    "read_clock",
    "read_timeline",
]


def read_timeline(
    events: Sequence[Event], database: Database, promises: Promises, *, plain: bool = True
) -> tuple[Timeline, Witness, Aliases, Partition]:
    """The timeline of a trace, what the instances said, how to find an instance by any name, and the requests.

    Arguments:
        events: all but the lines about requests, which are in the database.
        plain: false looks at every request by itself, which takes memory and shows the same.
    """
    events, clock = read_clock(events).settle(map(sound, events))
    said, last_line = _settle_lines(events, database, promises.stack.service, clock)
    counts = count_lines(database)
    phases = _phases(events)
    acts = tuple(event for event in events if event.kind == "act")
    until = phases.get("remove", (float("inf"), None))[0]
    t0, broken = t0_of(acts, until), _broken(events, until)
    streams = read_streams(events, promises.stack.service, counts)
    errors = {name: clock.error_of(name) for name in counts}
    starts, finishes = any(s.starts for s in streams.values()), any(s.finishes for s in streams.values())
    whole = find_facts(database, starts=starts, finishes=finishes, plain=plain)
    partition = Partition.begin(database, errors, whole)
    tasks = collect(events, promises.stack.service, until)
    names = sorted((e for e in events if e.kind == "names" and e.t < until), key=lambda e: e.t)
    lives = [
        _lifespan(facts, _Surroundings(clock, promises, streams, names, acts, t0, until, tasks, whole=not broken))
        for facts in tasks.values()
        if facts.container_id is not None
    ]
    lives = lives if t0 is None else [_settled(life, lives, t0) for life in lives]
    heard = partition.heard(said)
    aliases = read_aliases(lives, heard)
    ended = min(until, max([event.t for event in events] + last_line, default=until))
    partition.find_telling(lives, aliases, t0 if t0 is not None else ended)
    witness = _witness(partition, streams, errors)
    lives = sorted(with_traffic(lives, witness, partition, aliases), key=lambda one: (one.created, one.task))
    victims = read_victims(acts, lives, until)
    last_sent = whole.last_began if whole.last_began is not None else until
    timeline = Timeline(
        lifespans=tuple(lives),
        t0=t0,
        began=whole.began,
        ended=ended,
        phases=phases,
        acts=acts,
        update_status=tuple(e for e in events if e.kind == "update_status" and e.t < until),
        broken=broken,
        failed_tasks=_failed(tasks, {one.task for one in victims if not one.orderly and one.outcome != "failed"}),
        waiting=_waiting(tasks),
        neighbours=read_neighbours(events, promises.stack.service, until),
        traffic=read_client(events),
        full=full_stretches(events),
        outcome=next((event.get("outcome") for event in reversed(events) if event.kind == "ended"), None),
        outcome_error=next((event.get("error") for event in reversed(events) if event.kind == "ended"), None),
        victims=victims,
        skipped=skipped(acts),
        stopped_by_guard=stopped_by_guard(events),
        to_stop=to_stop(promises, lives, acts, victims, last_sent) if t0 is not None else frozenset(),
    )
    # The names point at the lifespans as they were before traffic added its marks.
    return timeline, witness, read_aliases(lives, heard), partition


def _settle_lines(
    events: Sequence[Event], database: Database, service: str, clock: Clock
) -> tuple[list[tuple[str, str]], list[float]]:
    """Puts the lines about requests in order; gives the names that instances bear in them, and the last line's time."""
    said = names_said(database)
    shifts = {name: clock.shift_of(name) for name in containers(database)} if clock.shifts else {}
    settle(database, (), {name: shift for name, shift in shifts.items() if shift})
    last = database.value("SELECT max(t) FROM lines")
    settle(database, of_others(events, service), {})
    return said, [] if last is None else [float(last)]


def _witness(partition: Partition, streams: Mapping[str, Stream], errors: Mapping[str, float]) -> Witness:
    proxied = partition.database.value("SELECT count(*) FROM lines WHERE kind = 'proxied' AND request_id <> ''")
    return Witness(
        partition.trails,
        streams,
        partition.proxied,
        handled=partition.whole.handled,
        strangers=partition.strangers,
        errors=errors,
        logs_proxied=proxied > 0,
        named=partition.named,
    )


class _Surroundings:
    """What one life is read against."""

    def __init__(  # noqa: PLR0913, PLR0917 - a value made in one place
        self,
        clock: Clock,
        promises: Promises,
        streams: Mapping[str, Stream],
        names: Sequence[Event],
        acts: Sequence[Event],
        t0: float | None,
        until: float,
        tasks: Mapping[str, TaskFacts],
        *,
        whole: bool,
    ) -> None:
        self.clock, self.promises, self.streams = clock, promises, streams
        service = promises.stack.service
        self.names = [e for e in names if str(e.get("name", "")).split(".", 1)[-1] == service or len(names) == 1]
        self.acts, self.t0, self.until, self.whole = acts, t0, until, whole
        self._claims: defaultdict[str, list[float]] = defaultdict(list)
        for facts in tasks.values():
            for address in facts.addresses:
                self._claims[address].append(facts.first_seen(clock))

    def next_claim(self, facts: TaskFacts) -> float:
        """When another task takes one of its addresses; infinity where none does."""
        made = facts.first_seen(self.clock)
        later = [t for address in facts.addresses for t in self._claims[address] if t > made]
        return min([*later, self.until])


def _lifespan(facts: TaskFacts, around: _Surroundings) -> Lifespan:
    stack = around.promises.stack
    container = facts.container_id
    engine = engine_marks(facts, around.clock, around.promises.stop_signal, stack.healthcheck is not None)
    app = app_marks(around.streams.get(container or ""), around.clock, around.until)
    marks = {**app, **engine}
    gone, desired = announced(facts, around.names, around.next_claim(facts), engine, around.clock)
    if gone is not None:
        marks["announced"] = gone
    grace = facts.last("grace_seconds")
    grace_seconds = float(int(float(str(grace)))) if grace is not None else around.promises.grace_seconds
    made = facts.first_seen(around.clock)
    sent = signal_sent(facts, around.promises.stop_signal)
    errors = [str(e.get("error")) for e in facts.states if e.get("error")]
    return Lifespan(
        task=facts.task,
        service=stack.service,
        slot=_int(facts.last("slot")),
        node=_text(facts.last("node")),
        container=container,
        container_name=_text(facts.last("name")),
        generation=_generation(
            made, facts.doubt(around.clock), {**marks, **({"desired": desired} if desired else {})}, around.t0
        ),
        created=made,
        marks=marks,
        desired_stop=desired,
        addresses=facts.addresses,
        host_ports=facts.host_ports,
        grace_seconds=grace_seconds,
        state=str(facts.states[-1].get("state")) if facts.states else "unknown",
        problem=errors[-1] if errors else None,
        exit_code=exit_code(facts) if "exited" in marks else None,
        signal=_int(sent.get("signal")) if sent is not None else None,
        cause=cause_of(facts, marks, desired, grace_seconds, around.acts),
        ran="started" in marks or any(event.get("state") == "running" for event in facts.states),
        cpu_max=facts.cpu,
        memory_max=facts.memory,
        image=_text(facts.last("image")),
        force_update=_int(facts.last("force_update")),
        never_ready=around.whole and stack.healthcheck is not None and "healthy" not in marks and bool(facts.states),
        listed=listed(facts, around.names, around.next_claim(facts)),
    )


def _generation(made: float, doubt: float, marks: Mapping[str, Mark], t0: float | None) -> str:
    if t0 is None or abs(made - t0) < doubt:
        return "only"
    if made >= t0:
        return "new"
    ends = [mark.at for name in ("exited", "announced", "desired") if (mark := marks.get(name))]
    return "only" if ends and min(ends) < t0 else "old"


def _settled(life: Lifespan, lives: Sequence[Lifespan], t0: float) -> Lifespan:
    """One that was made so close to T0 that the clocks can't tell before from after, by its place.

    Where the one before it in its place hadn't ended at T0, or where there was none, it's no restart of
    before, and what began at T0 made it.
    """
    if life.generation != "only" or _gone_before(life, t0):
        return life
    before = [one for one in lives if _place(one) == _place(life) and one.created < life.created]
    last = max(before, key=lambda one: one.created, default=None)
    return life if last is not None and _gone_before(last, t0) else replace(life, generation="new")


def _place(life: Lifespan) -> tuple[int | None, str | None]:
    return life.slot, life.node if life.slot is None else None


def _gone_before(life: Lifespan, t: float) -> bool:
    ends = (life.mark("exited"), life.mark("announced"), life.desired_stop)
    return any(mark is not None and mark.at < t for mark in ends)


def _phases(events: Sequence[Event]) -> dict[str, tuple[float, float | None]]:
    phases: dict[str, tuple[float, float | None]] = {}
    for event in events:
        if event.kind == "phase":
            name = str(event.get("name"))
            if event.get("edge") == "began":
                phases.setdefault(name, (event.t, None))
            elif name in phases:
                phases[name] = (phases[name][0], event.t)
    return phases


def _broken(events: Sequence[Event], until: float) -> tuple[str, ...]:
    found = [e for e in events if e.kind == "stream_broken" and e.t < until]
    return tuple(f"{e.get('what')}: {e.get('error')}" for e in found)


def _failed(tasks: Mapping[str, TaskFacts], hurt: Collection[str]) -> tuple[str, ...]:
    """Tasks that failed, in Swarm's words, but for those we ended: they're why a rollout is stuck or rolled back."""
    found = []
    for facts in tasks.values():
        if facts.task in hurt:
            continue
        last = facts.states[-1] if facts.states else None
        if last is not None and last.get("state") in ("failed", "rejected"):
            found.append(f"{facts.task[:12]} {last.get('state')}: {last.get('error') or last.get('message')}")
    return tuple(found)


def _waiting(tasks: Mapping[str, TaskFacts]) -> tuple[str, ...]:
    """Tasks that should run and have no container yet, with why Swarm says it can't place them."""
    found = []
    for facts in tasks.values():
        last = facts.states[-1] if facts.states else None
        wanted = last is not None and last.get("desired") not in ("shutdown", "remove")
        if last is not None and wanted and facts.container_id is None and last.get("state") in UNPLACED_STATES:
            found.append(f"{facts.task[:12]} {last.get('state')}: {last.get('error') or last.get('message')}")
    return tuple(found)


def _int(value: object) -> int | None:
    return int(str(value)) if value is not None else None


def _text(value: object) -> str | None:
    return str(value) if value is not None else None
