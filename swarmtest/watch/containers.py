"""What the engine's events have told of containers so far."""

from __future__ import annotations

from swarmtest.engine.streams import ContainerEvent


class Containers:
    """Keeps the newest word on each.

    Attributes:
        exited: those whose end was told.
        signalled: when each was sent a signal first.
        unhealthy: those whose health check has failed, which Swarm is about to end.
    """

    def __init__(self) -> None:
        self.exited: set[str] = set()
        self.signalled: dict[str, float] = {}
        self.unhealthy: set[str] = set()

    def take(self, event: ContainerEvent) -> None:
        """Takes note of one event."""
        name = event.fields["container"]
        match event.fields["action"], event.fields.get("health"):
            case "kill", _:
                self.signalled.setdefault(name, event.t)
            case "die", _:
                self.exited.add(name)
                self.unhealthy.discard(name)
            case "health_status", "unhealthy":
                self.unhealthy.add(name)
            case "health_status", _:
                self.unhealthy.discard(name)
