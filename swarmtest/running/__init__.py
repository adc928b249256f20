"""One run that has begun: what it consists of, and how its acts and phases are written down."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from swarmtest.engine import EngineInfo, TaskView
from swarmtest.engine.client import Client, Refused
from swarmtest.engine.swarm import SwarmDeployment
from swarmtest.errors import UsageError
from swarmtest.events import TraceWriter
from swarmtest.running.order import Order
from swarmtest.store import RunFolder
from swarmtest.traffic.process import write_targets
from swarmtest.watch import Watch, targets_of


@dataclass(slots=True)
class Run:
    """What a run that has begun consists of."""

    order: Order
    info: EngineInfo
    client: Client
    folder: RunFolder
    trace: TraceWriter
    deployment: SwarmDeployment
    watch: Watch
    url: str | None
    acts: int = 0


def phase(work: Run, name: str, body: Callable[[], None]) -> None:
    """Runs a part of the run, and writes down its beginning and, where it comes to one, its end."""
    work.trace.add("phase", name=name, edge="began")
    body()
    work.trace.add("phase", name=name, edge="ended")


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


def up(tasks: tuple[TaskView, ...], service: str) -> int:
    """How many tasks of a service are wanted and running."""
    return sum(task.service == service and task.up for task in tasks)


def list_targets(work: Run) -> list[str]:
    """Tells the client which instances there are, for the direct front door; gives their addresses."""
    targets = targets_of(work.watch.tasks(), work.order.subject.name, lambda _node: work.info.host)
    path = work.folder.path / "targets.json"
    write_targets(path, targets)
    return targets
