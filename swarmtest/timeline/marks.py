"""The marks of one instance's life that the engine, DNS and the instance itself show.

Each is the time of a fact that was seen, with the error of whoever saw it. What wasn't seen has no
mark: a signal is no proof of an announcement, and a signal sent is no exit.
"""

from __future__ import annotations

import signal as signals
from collections.abc import Iterable, Mapping, Sequence

from swarmtest.events import Event
from swarmtest.evidence.promises import SWARM_PAUSE_SECONDS
from swarmtest.timeline.clock import Clock
from swarmtest.timeline.facts import ENDED_STATES, TaskFacts
from swarmtest.timeline.lifespan import Mark
from swarmtest.timeline.witness import Stream

LINES = {"warm": "warm", "unready": "unready", "closed_listener": "closed"}
"""Lines of the app that are marks, and the marks' names."""


def engine_marks(facts: TaskFacts, clock: Clock, stop_signal: str | int | None, checked: bool) -> dict[str, Mark]:
    """Marks that the engine's events prove, with Swarm's word where the engine's is missing.

    Arguments:
        checked: whether the service has a health check; without one *running* says nothing of health.
    """
    found = {
        "started": _first(facts, clock, "start"),
        "healthy": _first(facts, clock, "health_status", health="healthy"),
        "unhealthy": _first(facts, clock, "health_status", health="unhealthy"),
        "paused": _first(facts, clock, "pause"),
        "unpaused": _first(facts, clock, "unpause"),
        "signalled": _signalled(facts, clock, stop_signal),
        "killed": _first(facts, clock, "kill", signal=9),
        "exited": _first(facts, clock, "die"),
    }
    # Swarm also calls one running whose container ended in good order before it ever got healthy.
    if found["healthy"] is None and found["unhealthy"] is None and checked:
        found["healthy"] = _state(facts, ("running",), "task state running, which waits for health")
    if found["exited"] is None:
        found["exited"] = _state(facts, ENDED_STATES, "task state; the engine's own event wasn't seen")
    return {name: mark for name, mark in found.items() if mark is not None}


def app_marks(stream: Stream | None, clock: Clock, until: float) -> dict[str, Mark]:
    """Marks that the instance itself logged."""
    found: dict[str, Mark] = {}
    for line, name in (*LINES.items(), ("signal", "signalled")):
        event = stream.lifecycle.get(line) if stream is not None else None
        if event is not None and event.t < until:
            at, error = clock.of(event)
            found[name] = Mark(at, error, f"the instance's own line {line}")
    return found


def announced(
    facts: TaskFacts, names: Sequence[Event], until: float, engine: Mapping[str, Mark], clock: Clock
) -> tuple[Mark | None, Mark | None]:
    """When Swarm took it out of DNS, and when Swarm decided to stop it.

    DNS is the truth, as it's what front doors read. Where it wasn't watched, the decision comes
    before it and the stop signal 2 s after it, so it lies between: the mark is the middle, and its
    error bar reaches both. An address that comes back wasn't gone; one that another task has from
    ``until`` on is looked at no longer.

    Arguments:
        engine: marks that the engine proves. An empty answer about an instance that isn't known to
            have exited is taken for a lookup that failed.
    """
    desired = _desired_stop(facts)
    left: Event | None = None
    present = False
    mine = set(facts.addresses)
    for event in names:
        if event.t >= until:
            break
        here = bool(mine & {str(address).split("/")[0] for address in event.get("addresses") or ()})
        if here:
            present, left = True, None
        elif present and left is None:
            left = event
    if left is None or (desired is None and "exited" not in engine):
        return _between(desired, engine), desired
    source = f"DNS: {', '.join(sorted(mine))} left {left.get('name')}"
    if desired is not None:
        source += f"; desired state {desired.source.rsplit(' ', 1)[-1]} seen {desired.at - left.t:+.2f} s"
    return Mark(left.t, _width(left) + clock.of(left)[1], source), desired


def listed(facts: TaskFacts, names: Sequence[Event], until: float) -> bool | None:
    """Whether DNS was seen to list one of its addresses before another task had it; None where nobody watched DNS."""
    seen = [{str(address).split("/")[0] for address in e.get("addresses") or ()} for e in names if e.t < until]
    return any(some & set(facts.addresses) for some in seen) if any(seen) else None


def _between(desired: Mark | None, engine: Mapping[str, Mark]) -> Mark | None:
    """The removal from DNS where nobody watched it: after the decision, and 2 s before the signal."""
    exited = engine.get("exited")
    if desired is None or (exited is not None and "signalled" not in engine and exited.at < desired.at - desired.error):
        return None  # it ended by itself, and Swarm only noted that
    first, signalled = desired.at - desired.error, engine.get("signalled")
    if signalled is None:
        last, until = desired.at + SWARM_PAUSE_SECONDS, "and 2 s later, as no signal was seen"
    else:
        last, until = signalled.at + signalled.error - SWARM_PAUSE_SECONDS, "and 2 s before the signal"
    last = max(last, desired.at)
    return Mark((first + last) / 2, (last - first) / 2, f"between {desired.source} {until}, as DNS wasn't watched")


def signal_number(name: str | int | None) -> int | None:
    """Number of a signal as Docker writes it: 15, ``SIGTERM``, ``TERM``; None for what isn't one."""
    if name is None:
        return None
    text = str(name).upper()
    if text.isdigit():
        return int(text)
    found = signals.Signals.__members__.get(text if text.startswith("SIG") else f"SIG{text}")
    return None if found is None else int(found)


def signal_sent(facts: TaskFacts, stop_signal: str | int | None) -> Event | None:
    """The event of the stop signal: the one asked for, else the first that isn't SIGKILL."""
    sent = [e for e in facts.container if e.get("action") == "kill" and e.get("signal") not in (None, 9)]
    wanted = signal_number(stop_signal) or int(signals.SIGTERM)
    return next((event for event in sent if event.get("signal") == wanted), sent[0] if sent else None)


def _signalled(facts: TaskFacts, clock: Clock, stop_signal: str | int | None) -> Mark | None:
    event = signal_sent(facts, stop_signal)
    return None if event is None else _mark(event, clock, f"engine: signal {event.get('signal')} sent")


def _first(facts: TaskFacts, clock: Clock, action: str, **wanted: object) -> Mark | None:
    for event in facts.container:
        if event.get("action") == action and all(event.get(key) == value for key, value in wanted.items()):
            said = " ".join([action, *(str(value) for value in wanted.values())])
            return _mark(event, clock, f"engine: {said}")
    return None


def _mark(event: Event, clock: Clock, source: str) -> Mark:
    at, error = clock.of(event)
    return Mark(at, error, source)


def _state(facts: TaskFacts, states: Iterable[str], source: str) -> Mark | None:
    wanted = tuple(states)
    for event in facts.states:
        if event.get("state") in wanted:
            return Mark(event.t, _width(event), source)
    return None


def _desired_stop(facts: TaskFacts) -> Mark | None:
    for event in facts.states:
        if event.get("desired") in ("shutdown", "remove"):
            return Mark(event.t, _width(event), f"desired state {event.get('desired')}")
    return None


def _width(event: Event) -> float:
    """How much earlier the fact may have happened than it was seen: one round of polling."""
    since = event.get("since")
    return max(0.0, event.t - float(since)) if since is not None else 0.0
