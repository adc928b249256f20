"""How many instances were ready when, and how many there should have been.

An instance counts from the later of healthy and warm to the earliest of unready, announced and exited. A
task that Swarm wants gone and that runs on is no capacity, whatever it still serves.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

from swarmtest.evidence.promises import SWARM_PAUSE_SECONDS, Promises
from swarmtest.timeline.acts import began, end_of, healed_at
from swarmtest.timeline.endings import AS_ASKED, END_OF_GRACE
from swarmtest.timeline.lifespan import Lifespan, Timeline
from swarmtest.timeline.updates import course_of

SHORT_SECONDS = 0.05
"""A dip shorter than this is the order in which two things were noticed."""

COUNTING = ("scale", "make_room")
"""Acts that change how many instances there should be, by their setting ``by``."""

Spans = list[tuple[float, float]]


def spans_of(lives: Iterable[Lifespan], *, surely: bool = False) -> Spans:
    """From when until when each was ready, at the most that the error bars allow, or at the least."""
    sign = -1 if surely else 1
    spans = []
    for life in lives:
        ready, until = life.ready_from, life.ready_until
        if ready is not None:
            last = float("inf") if until is None else until.at + sign * until.error
            if surely and life.cause in (AS_ASKED, END_OF_GRACE, None):
                last = min(last, _silently(life))
            spans.append((ready.at - sign * ready.error, last))
    return spans


def ready_at(spans: Spans, t: float) -> int:
    """How many were ready at a time."""
    return sum(1 for first, last in spans if first <= t < last)


def last_to_go(lives: Iterable[Lifespan], t: float) -> Lifespan | None:
    """Which instance was the last that stopped being ready before a time."""
    gone = [(until.at, life) for life in lives if (until := life.ready_until) is not None and until.at <= t]
    return max(gone, key=lambda one: one[0])[1] if gone else None


def dips(spans: Spans, first: float, last: float, promised: int) -> list[tuple[float, float, int]]:
    """(began, ended, ready) of each time in which fewer were ready than promised."""
    found: list[tuple[float, float, int]] = []
    for began_at, ended in pairwise(_edges(spans, first, last)):
        ready = ready_at(spans, (began_at + ended) / 2)
        if ready >= promised:
            continue
        if found and found[-1][1] == began_at and found[-1][2] == ready:
            found[-1] = (found[-1][0], ended, ready)
        else:
            found.append((began_at, ended, ready))
    return [dip for dip in found if dip[1] - dip[0] > SHORT_SECONDS]


def least(spans: Spans, first: float, last: float) -> int:
    """The fewest that were ready at once."""
    counts = [ready_at(spans, (a + b) / 2) for a, b in pairwise(_edges(spans, first, last)) if b - a > SHORT_SECONDS]
    return min(counts, default=ready_at(spans, first))


def fewest_by_second(spans: Spans, first: float, last: float) -> list[int]:
    """The fewest that were ready at once in each second that a stretch of time touches.

    What's outside of the stretch doesn't count. From one edge to the next the count is the same, so it's written
    once into the seconds between them.
    """
    start, length = int(first), int(last) - int(first) + 1
    edges = sorted({first, *(t for span in spans for t in span if first < t <= last)})
    fewest: list[int | None] = [None] * length
    for edge, until in zip(edges, [*edges[1:], math.nextafter(last, math.inf)], strict=True):
        ready = ready_at(spans, edge)
        for second in range(int(edge) - start, max(int(edge) + 1, -int(-until // 1)) - start):
            before = fewest[second]
            fewest[second] = ready if before is None else min(before, ready)
    return [count or 0 for count in fewest]


def reached_at(spans: Spans, wanted: int, first: float) -> float | None:
    """The first time from ``first`` on at which so many were ready; None where they never were."""
    edges = sorted({first, *(began_at for began_at, _ in spans if began_at > first)})
    return next((t for t in edges if ready_at(spans, t) >= wanted), None)


def wanted_at(promises: Promises, timeline: Timeline, t: float) -> int:
    """How many instances there should be: the file's replicas, and what acts have made of them by then."""
    wanted = promises.replicas
    for act in began(timeline.acts, t):
        healed = healed_at(timeline.acts, act.get("id"))
        if act.get("name") in COUNTING and (healed is None or healed > t):
            end = end_of(timeline.acts, act.get("id"))
            done = end is None or end.get("outcome") != "failed"
            wanted += int((act.get("settings") or {}).get("by") or 0) if done else 0
    return max(0, wanted)


def promised(promises: Promises, timeline: Timeline) -> int:
    """How many instances must be ready at any time, from T0 on.

    The least that there should be, less those that a stop-first update takes at a time, or a stop-first rollback
    where the update was rolled back, and less those that one act ends by hand.
    """
    if timeline.t0 is None:
        return max(1, promises.replicas)
    times = [timeline.t0, *(act.t + 1e-3 for act in began(timeline.acts) if act.t >= timeline.t0)]
    least_wanted = min(wanted_at(promises, timeline, t) for t in times)
    taken = promises.taken
    course = course_of(timeline)
    if course is not None and course.turned_at is not None:
        taken = max(taken, promises.taken_back)
    return max(1, least_wanted - taken - _ended_at_once(timeline))


def _ended_at_once(timeline: Timeline) -> int:
    """The most instances that one act ended, or took out of service."""
    counts: dict[int, int] = {}
    for victim in timeline.victims:
        if not victim.in_stop and victim.outcome != "failed" and victim.name in ("kill", "stop", "signal", "freeze"):
            counts[victim.act] = counts.get(victim.act, 0) + 1
    return max(counts.values(), default=0)


def _silently(life: Lifespan) -> float:
    """When it was taken out of DNS at the latest, where that wasn't seen and its signal was."""
    signalled = life.mark("signalled")
    if signalled is None or life.mark("announced") is not None:
        return float("inf")
    return signalled.at - signalled.error - SWARM_PAUSE_SECONDS


def _edges(spans: Sequence[tuple[float, float]], first: float, last: float) -> list[float]:
    return sorted({first, last, *(t for span in spans for t in span if first < t < last)})
