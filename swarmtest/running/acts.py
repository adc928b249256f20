"""Hurts and heals, each written down as a pair of its own: intent first, then what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from swarmtest.engine.client import Refused
from swarmtest.errors import SwarmtestError, UsageError
from swarmtest.events import TraceWriter
from swarmtest.faults import Aim, Fault
from swarmtest.interrupts import deferred
from swarmtest.running import Run


@dataclass(frozen=True, slots=True)
class Hurt:
    """Something that was done and may have to be undone.

    Attributes:
        number: the act's ID in the trace.
        before: what healing has to know.
    """

    number: int
    fault: Fault
    aim: Aim
    before: Mapping[str, Any]


@contextmanager
def act(trace: TraceWriter, **fields: Any) -> Iterator[None]:
    """Writes both ends of an act. It failed where it was refused; otherwise nobody knows how far it came."""
    trace.add("act", edge="began", **fields)
    try:
        yield
    except BaseException as error:
        outcome = "failed" if isinstance(error, (Refused, UsageError)) else "unknown"
        trace.add("act", edge="ended", **fields, outcome=outcome, error=str(error))
        raise
    trace.add("act", edge="ended", **fields, outcome="ok", error=None)


def begin(work: Run, fault: Fault, aim: Aim) -> Hurt:
    """What's about to be done, with what its healing has to know; nothing is done by it."""
    work.acts += 1
    return Hurt(work.acts, fault, aim, fault.before(work.deployment, aim))


def carry_out(work: Run, done: Hurt, *, prepares: bool) -> None:
    """Does what :func:`begin` said."""
    with _named(f"it was to {_words(done)}"), act(work.trace, **fields_of(done, prepares=prepares)):
        done.fault.hurt(work.deployment, done.aim)
    work.hurt_instances += len(done.aim.instances)


def hurt(work: Run, fault: Fault, aim: Aim, *, prepares: bool = False) -> Hurt:
    """Both at once, for what doesn't last."""
    done = begin(work, fault, aim)
    carry_out(work, done, prepares=prepares)
    return done


def heal(work: Run, done: Hurt) -> None:
    """Undoes an act, and writes that down as an act of its own."""
    work.acts += 1
    fields = fields_of(done, prepares=False) | {"id": work.acts, "name": "heal", "heals": done.number, "lasting": False}
    with deferred(), _named(f"it was to undo: {_words(done)}"), act(work.trace, **fields):
        done.fault.heal(work.deployment, done.aim, done.before)


@contextmanager
def _named(doing: str) -> Iterator[None]:
    """Says with an error of the engine's what was being done; its own words know only of a request."""
    try:
        yield
    except SwarmtestError as error:
        error.add_note(doing)
        raise


def _words(done: Hurt) -> str:
    """``freeze api.2``."""
    whom = [f"{task.service}.{task.slot}" if task.slot else task.service for task in done.aim.instances]
    return f"{done.fault.name.replace('_', ' ')} {' and '.join(whom) or done.aim.service}"


def skip(work: Run, fault: Fault, service: str, reason: str) -> None:
    """Writes down that a guard rail forbade a step; nothing was done."""
    work.acts += 1
    work.trace.add(
        "act", edge="skipped", id=work.acts, name=fault.name, target=service, settings=fault.settings(), reason=reason
    )


def fields_of(done: Hurt, *, prepares: bool) -> dict[str, Any]:
    """The fields of both ends of an act."""
    return {
        "id": done.number,
        "name": done.fault.name,
        "target": done.aim.service,
        "settings": done.fault.settings(),
        "instances": [
            {"task": task.id, "container": task.container, "slot": task.slot, "node": task.node}
            for task in done.aim.instances
        ],
        "before": dict(done.before),
        "prepares": prepares,
        "lasting": done.fault.lasting,
    }
