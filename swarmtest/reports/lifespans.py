"""Marks and durations of an instance as text: seconds from T0, each with its error bar where that matters.

Not a report: it has no ``render``. The durations are those of the glossary: propagation delay is T2 - T1
(from *announced*, never from the signal), drain time T3 - signal, stop time T4 - signal, slack is what's
left of the grace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from swarmtest.reports import Document, InstanceEntry, Mark

UNSEEN = "-"
SMALLEST_ERROR_SHOWN = 0.05

STOP_MARKS = (
    ("announced", "T1 announced"),
    ("unready", "T1 unready"),
    ("signalled", "signalled"),
    ("closed", "closed listener"),
    ("last_new", "T2 last new"),
    ("last_done", "T3 last done"),
    ("killed", "killed"),
    ("exited", "T4 exited"),
)
START_MARKS = (
    ("started", "started"),
    ("healthy", "healthy"),
    ("warm", "warm"),
    ("first_served", "first served"),
)
GOING = ("announced", "unready", "signalled", "closed", "killed", "exited")
"""Marks of an instance that's on its way out."""

ONLY_WHERE_SEEN = frozenset({"killed", "closed", "warm"})


@dataclass(frozen=True, slots=True)
class Span:
    """A length of time in seconds, plus or minus ``error``."""

    seconds: float
    error: float

    def __str__(self) -> str:
        return with_error(self.seconds, self.error)


@dataclass(frozen=True, slots=True)
class Durations:
    """What follows from the marks of one stop; null where a mark is."""

    propagation: Span | None
    drain: Span | None
    stop: Span | None
    slack: Span | None


def with_error(seconds: float, error: float) -> str:
    """``12.34 ±0.10``; an error below 0.05 s is left out."""
    text = f"{seconds + 0.0:.2f}"
    text = "0.00" if text == "-0.00" else text
    return f"{text} ±{error:.2f}" if error >= SMALLEST_ERROR_SHOWN else text


def zero(document: Document) -> float:
    """What times are counted from: T0, or the first mark where a run got to no T0."""
    if document.start is not None:
        return document.start
    marks = [mark.at for instance in document.instances for mark in instance.marks.values() if mark]
    return min(marks, default=0.0)


def mark_text(mark: Mark | None, start: float) -> str:
    """A mark in seconds from ``start``."""
    return UNSEEN if mark is None else with_error(mark.at - start, mark.error)


def span_text(span: Span | None) -> str:
    """A duration, or the sign for one that wasn't seen."""
    return UNSEEN if span is None else str(span)


def durations(instance: InstanceEntry, grace_seconds: float | None) -> Durations:
    """The four durations of a stop; their error is the sum of their marks' errors.

    Arguments:
        grace_seconds: of the service, for an instance that doesn't say with which one it was made.
    """
    grace_seconds = grace_seconds if instance.grace_seconds is None else instance.grace_seconds
    stop = _between(instance.marks.get("signalled"), instance.marks.get("exited"))
    slack = None if stop is None or grace_seconds is None else Span(grace_seconds - stop.seconds, stop.error)
    return Durations(
        propagation=_between(instance.marks.get("announced"), instance.marks.get("last_new")),
        drain=_between(instance.marks.get("signalled"), instance.marks.get("last_done")),
        stop=stop,
        slack=slack,
    )


def _between(first: Mark | None, last: Mark | None) -> Span | None:
    return None if first is None or last is None else Span(last.at - first.at, first.error + last.error)


def grace_seconds(document: Document) -> float | None:
    """The grace from the settings, wherever they keep it."""
    stack = document.settings.get("stack")
    for place in (document.settings, stack if isinstance(stack, dict) else {}):
        value = place.get("grace_seconds")
        if isinstance(value, int | float):
            return float(value)
    return None


def labels(instances: Sequence[InstanceEntry]) -> dict[str, str]:
    """A short name for each instance's ID: ``api.1``, with a bit of the ID where two share it."""
    short = {instance.id: _short_name(instance) for instance in instances}
    seen = Counter((instance.generation, short[instance.id]) for instance in instances)
    return {
        instance.id: short[instance.id]
        if seen[instance.generation, short[instance.id]] == 1
        else f"{short[instance.id]} {instance.id[:4]}"
        for instance in instances
    }


def _short_name(instance: InstanceEntry) -> str:
    service, *rest = instance.name.rsplit("_", 1)[-1].split(".")
    place = rest[0] if rest else instance.slot
    return service if place is None else f"{service}.{str(place)[:8]}"


def told_apart(instances: Sequence[InstanceEntry], document: Document) -> dict[str, str]:
    """Labels for some instances side by side: with the generation where two of them would be called alike."""
    short = labels(document.instances)
    seen = Counter(short[instance.id] for instance in instances)
    return {
        one.id: short[one.id] if seen[short[one.id]] == 1 else f"{one.generation} {short[one.id]}" for one in instances
    }


def full_label(instance_id: str | None, document: Document) -> str:
    """``api.1 (old)``; the ID as it is where no such instance is known."""
    if instance_id is None:
        return "no instance"
    for instance in document.instances:
        if instance.id == instance_id:
            label = labels(document.instances)[instance_id]
            return label if instance.generation == "only" else f"{label} ({instance.generation})"
    return instance_id


def stopped(document: Document) -> list[InstanceEntry]:
    """The instances whose end is worth a column: each that was told or made to stop, and each old one that should have.

    An old one that stays is no news where nobody meant to replace it, or where Swarm took the update back.
    """
    update = document.update
    all_old = not document.acts or (update is not None and update.end == "completed")
    return [
        instance
        for instance in document.instances
        if (all_old and instance.generation == "old") or any(instance.marks.get(mark) for mark in GOING)
    ]


def begun(document: Document) -> list[InstanceEntry]:
    """The instances whose start is worth a column: the new ones, and in a run without a rollout all."""
    return [instance for instance in document.instances if instance.generation != "old"]
