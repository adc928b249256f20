"""What a run's trace says of it when nobody writes it any more: whether it ended, and what wasn't healed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from swarmtest.engine import TaskView
from swarmtest.events import Event, read_events
from swarmtest.faults import Aim


@dataclass(frozen=True, slots=True)
class Act:
    """An act as the trace has it, whatever of its fields a run of long ago or a cut line left out."""

    number: int
    name: str
    service: str
    settings: Mapping[str, Any]
    instances: tuple[Mapping[str, Any], ...]
    before: Mapping[str, Any]
    lasting: bool

    @property
    def aim(self) -> Aim:
        """Whom it hurt, as a fault wants to be told; of the instances only what names them is known."""
        return Aim(self.service, tuple(_instance(self.service, item) for item in self.instances))


@dataclass(frozen=True, slots=True)
class Leavings:
    """What a run left.

    Attributes:
        outcome: ``finished``, ``failed`` or ``interrupted``; None where the run was killed.
        error: what the end says of it.
        locked: its writer held a lock, so that nobody writes it now if there's none; else nobody can tell.
        recovered: ``swarmtest recover`` was here, and "removed" the stack, or "kept" it on purpose.
        acts: all that began, in order.
        unhealed: the lasting ones that nobody healed for certain, the newest first; they may have hurt or not.
        last: the highest number of an act.
    """

    outcome: str | None = None
    error: str | None = None
    locked: bool = False
    recovered: str | None = None
    acts: tuple[Act, ...] = ()
    unhealed: tuple[Act, ...] = ()
    last: int = 0

    @property
    def done(self) -> bool:
        """Nothing is left to do, as far as the trace can tell."""
        return self.outcome is not None and (not self.unhealed or self.recovered is not None)


def read_leavings(path: Path) -> Leavings:
    """What the trace says; an empty or missing one says that nothing was done."""
    return leavings_of(read_events(path)) if path.is_file() else Leavings(outcome="never begun")


@dataclass(slots=True)
class _Seen:
    outcome: str | None = None
    error: str | None = None
    locked: bool = False
    recovered: str | None = None
    acts: dict[int, Act] = field(default_factory=dict)
    healed: set[int] = field(default_factory=set)


def leavings_of(events: Iterable[Event]) -> Leavings:
    """What the events of a trace say."""
    seen, number = _Seen(), 0
    for number, event in enumerate(events, start=1):  # noqa: B007 - whether there was any is asked below
        if event.kind == "trace":
            seen.locked = bool(event.get("locked"))
        elif event.kind == "ended":
            seen.outcome, seen.error = str(event.get("outcome")), event.get("error")
            seen.recovered = event.get("recovered")
        elif event.kind == "act":
            _note(seen, event)
    if number == 0:
        return Leavings(outcome="never begun")
    hurts = [act for act in seen.acts.values() if act.name != "heal"]
    return Leavings(
        outcome=seen.outcome,
        error=seen.error,
        locked=seen.locked,
        recovered=seen.recovered,
        acts=tuple(hurts),
        unhealed=tuple(act for act in reversed(hurts) if act.lasting and act.number not in seen.healed),
        last=max(seen.acts, default=0),
    )


def _note(seen: _Seen, event: Event) -> None:
    try:
        number = int(event.get("id"))
    except (TypeError, ValueError):
        return
    match event.get("edge"):
        case "began":
            seen.acts[number] = _act(number, event)
        case "ended":
            if event.get("name") == "heal" and event.get("outcome") == "ok":
                seen.healed.add(event.get("heals"))


def _act(number: int, event: Event) -> Act:
    return Act(
        number=number,
        name=str(event.get("name")),
        service=str(event.get("target") or ""),
        settings=event.get("settings") or {},
        instances=tuple(item for item in event.get("instances") or () if isinstance(item, Mapping)),
        before=event.get("before") or {},
        lasting=bool(event.get("lasting")),
    )


def _instance(service: str, item: Mapping[str, Any]) -> TaskView:
    return TaskView(
        id=str(item.get("task") or ""),
        service=service,
        slot=item.get("slot"),
        node=str(item.get("node") or ""),
        container=item.get("container"),
        desired="",
        state="",
        message="",
        error=None,
        exit_code=None,
        addresses=(),
        host_ports={},
        grace_seconds=None,
        image="",
        created=0.0,
        force_update=0,
    )
