"""The events of a trace, sorted by the task that they're about, before anything is made of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from swarmtest.events import Event
from swarmtest.timeline.clock import Clock

ENDED_STATES = ("complete", "shutdown", "failed", "rejected", "orphaned")
"""Task states after which no container runs; a task that is only desired to stop isn't in one."""

UNPLACED_STATES = ("new", "pending", "assigned", "accepted", "preparing")
"""Task states before there's a container; one that stays in them is no failure to Swarm."""


@dataclass(slots=True)
class TaskFacts:
    """All events about one task, each list in the order of time."""

    task: str
    states: list[Event] = field(default_factory=list)
    container: list[Event] = field(default_factory=list)
    cpu: float | None = None
    memory: int | None = None

    def last(self, name: str) -> object:
        """The last value of a field that isn't null, of container events first."""
        for event in (*reversed(self.container), *reversed(self.states)):
            if event.get(name) is not None:
                return event.get(name)
        return None

    @property
    def container_id(self) -> str | None:
        found = self.last("container")
        return str(found) if found else None

    @property
    def addresses(self) -> tuple[str, ...]:
        """All addresses that it ever had, without the width of their networks."""
        found = [str(a).split("/")[0] for event in self.states for a in event.get("addresses") or ()]
        return tuple(dict.fromkeys(found))

    @property
    def host_ports(self) -> tuple[int, ...]:
        """Ports of the host that lead to it."""
        ports = [int(port) for event in self.states for port in (event.get("host_ports") or {}).values() if port]
        return tuple(dict.fromkeys(ports))

    @property
    def is_leftover(self) -> bool:
        """Whether only its end was seen and Swarm lists no such task: an earlier stack of this name had it."""
        begun = any(event.get("action") in ("create", "start") for event in self.container)
        return not self.states and not begun

    def doubt(self, clock: Clock) -> float:
        """The error of :meth:`first_seen`: another clock's, and never more than the time between two polls."""
        error = max((clock.of(event)[1] for event in self.container), default=0.0)
        if not self.states:
            return error
        first = min(self.states, key=lambda event: event.t)
        return min(error, first.t - float(first.get("since", first.t) or first.t))

    def first_seen(self, clock: Clock) -> float:
        """When it was made, or first seen where nobody says when.

        The engine says when by its own clock, so its word counts only within our own two polls: the last
        one that didn't show the task, and the first one that did.
        """
        created = [float(event.get("created")) for event in self.states if event.get("created")]
        if not created:
            return min([event.t for event in self.states] + [clock.of(event)[0] for event in self.container])
        first = min(self.states, key=lambda event: event.t)
        since = first.get("since")
        return min(max(min(created), float(since) if since is not None else 0.0), first.t)


def collect(events: Iterable[Event], service: str, until: float) -> dict[str, TaskFacts]:
    """Facts by task ID, of the service under test, up to the removal of the stack at ``until``.

    What happens while the stack is removed is swarmtest's own doing and says nothing of the stack.
    """
    tasks: dict[str, TaskFacts] = {}
    owner: dict[str, str] = {}
    samples: list[Event] = []
    for event in sorted(events, key=lambda e: e.t):
        if event.t >= until:
            continue
        task = event.get("task")
        match event.kind:
            case "task" if event.get("service") == service and task:
                tasks.setdefault(task, TaskFacts(task)).states.append(event)
            case "container" if event.get("service") == service:
                task = task or owner.get(event.get("container") or "") or event.get("container")
                tasks.setdefault(task, TaskFacts(task)).container.append(event)
            case "sample":
                samples.append(event)
                continue
            case _:
                continue
        if event.get("container"):
            owner[event.get("container")] = task
    for event in samples:
        if (task := owner.get(event.get("container") or "")) is not None:
            _take_sample(tasks[task], event)
    return {name: facts for name, facts in tasks.items() if not facts.is_leftover}


def _take_sample(facts: TaskFacts, event: Event) -> None:
    if event.get("cpu") is not None:
        facts.cpu = max(facts.cpu or 0.0, float(event.get("cpu")))
    if event.get("memory") is not None:
        facts.memory = max(facts.memory or 0, int(event.get("memory")))
