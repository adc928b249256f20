"""One run that has begun: what it consists of, and how its phases are written down."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from swarmtest.engine import EngineInfo, TaskView
from swarmtest.engine.client import Client
from swarmtest.engine.swarm import SwarmDeployment
from swarmtest.events import TraceWriter
from swarmtest.running.guard import LossGuard
from swarmtest.running.limit_guard import LimitGuard
from swarmtest.running.order import Order
from swarmtest.store import RunFolder
from swarmtest.traffic.process import write_targets
from swarmtest.watch import Watch
from swarmtest.watch.addresses import targets_of


@dataclass(slots=True)
class Run:
    """What a run that has begun consists of.

    Attributes:
        acts: how many acts were begun, skipped ones included; the last one's ID.
        hurt_instances: how many instances were killed, stopped or frozen so far.
        bursts: how many bursts were made ready.
        guard: told what the traffic says; the default never trips.
        limits: reads what the traffic writes; the default never trips either.
        tickers: called in each round of waiting; one that raises ends the waiting.
    """

    order: Order
    info: EngineInfo
    client: Client
    folder: RunFolder
    trace: TraceWriter
    deployment: SwarmDeployment
    watch: Watch
    url: str | None
    acts: int = 0
    hurt_instances: int = 0
    bursts: int = 0
    guard: LossGuard = field(default_factory=lambda: LossGuard(None))
    limits: LimitGuard = field(default_factory=lambda: LimitGuard((), Path()))
    tickers: list[Callable[[], None]] = field(default_factory=list)

    @contextmanager
    def ticking(self, tick: Callable[[], None]) -> Iterator[None]:
        """Has ``tick`` called in each round of waiting."""
        self.tickers.append(tick)
        try:
            yield
        finally:
            self.tickers.remove(tick)


def phase(work: Run, name: str, body: Callable[[], None]) -> None:
    """Runs a part of the run, and writes down its beginning and, where it comes to one, its end."""
    work.trace.add("phase", name=name, edge="began")
    body()
    work.trace.add("phase", name=name, edge="ended")


def up(tasks: tuple[TaskView, ...], service: str) -> int:
    """How many tasks of a service are wanted and running."""
    return sum(task.service == service and task.up for task in tasks)


def list_targets(work: Run) -> list[str]:
    """Tells the client which instances there are, for the direct front door; gives their addresses."""
    targets = targets_of(work.watch.tasks(), work.order.subject.name, lambda _node: work.info.host)
    path = work.folder.path / "targets.json"
    write_targets(path, targets)
    return targets
