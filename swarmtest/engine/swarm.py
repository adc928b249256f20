"""A stack on a Swarm: look at it, roll it, hurt it and remove it.

All that belongs to a run carries the stack's own label, which Swarm puts on services, networks,
configs, secrets, volumes and containers alike; nothing without it is ever touched.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from swarmtest.engine import Pace, TaskView, UpdateView
from swarmtest.engine.client import Client, NotThere, parse_time
from swarmtest.engine.hurting import Containers, node_availability, set_node_availability
from swarmtest.engine.labels import STACK_LABEL
from swarmtest.engine.removal import Leftover, leftovers, remove
from swarmtest.engine.tasks import pace_of, task_view
from swarmtest.engine.updates import Change, Edit, forced, released, replicas_of, scaled


class SwarmDeployment:
    """One stack of ours on the engine; fits :class:`swarmtest.engine.Deployment`.

    Arguments:
        client: the connection.
        name: the stack's name.
        say: told what a person may want to know later, such as an update that had to be sent again.
        sleep, clock: monotonic waiting, arguments so that tests don't wait.
    """

    def __init__(
        self,
        client: Client,
        name: str,
        *,
        say: Callable[[str], object] = lambda _text: None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client, self._name, self._say, self._sleep, self._clock = client, name, say, sleep, clock
        self._containers = Containers(client, name)
        self._services: dict[str, str] = {}

    @property
    def name(self) -> str:
        """The stack's name."""
        return self._name

    def services(self) -> dict[str, str]:
        """Service ID by its name in the file; asked anew each time."""
        found = self._client.get("/services", filters={"label": [f"{STACK_LABEL}={self._name}"]})
        prefix = f"{self._name}_"
        self._services = {item["Spec"]["Name"].removeprefix(prefix): item["ID"] for item in found}
        return self._services

    def tasks(self) -> list[TaskView]:
        """All tasks of all services.

        Asked for by label: while a stack is deployed its services come one by one, and while it's removed
        the engine refuses a question after a service that's gone.
        """
        found = self._client.get("/tasks", filters={"label": [f"{STACK_LABEL}={self._name}"]})
        if not {item.get("ServiceID") for item in found} <= set(self._services.values()):
            self.services()
        names = {identity: name for name, identity in self._services.items()}
        return [task_view(item, names[item["ServiceID"]]) for item in found if item.get("ServiceID") in names]

    def update_status(self, service: str) -> UpdateView:
        """How the last update of a service went."""
        status = self._inspect(service).get("UpdateStatus") or {}
        return UpdateView(
            state=status.get("State") or None,
            started=parse_time(status.get("StartedAt")) or None,
            completed=parse_time(status.get("CompletedAt")) or None,
            message=str(status.get("Message", "")),
        )

    def _inspect(self, service: str) -> dict[str, Any]:
        identity = self._services.get(service) or self.services().get(service)
        if identity is None:
            raise NotThere(f"the stack {self._name} has no service {service!r} on the engine (any more)", 404)
        found: dict[str, Any] = self._client.get(f"/services/{identity}")
        return found

    def pace(self, service: str) -> Pace:
        """How a rollout of a service goes on, by its spec and by its tasks that run."""
        found = self._inspect(service)
        tasks = self._client.get("/tasks", filters={"service": [found["ID"]], "desired-state": ["running"]})
        return pace_of(found["Spec"], tasks)

    def roll(self, service: str) -> None:
        """Replaces every task with the same spec, as ``docker service update --force`` does."""
        self.change(service, forced(self._unused(service)))

    def release(
        self,
        service: str,
        *,
        image: str | None = None,
        environment: Mapping[str, str] = MappingProxyType({}),
        health: Mapping[str, Any] | None = None,
        command: Sequence[str] | None = None,
    ) -> None:
        """Replaces every task by one of a changed spec; what isn't given stays as it is.

        It's forced as well: an update that changes nothing would clear the update's status and the
        previous spec, and a tag that names another image by now wouldn't be rolled.
        """
        self.change(service, forced(self._unused(service), released(image, environment, health, command)))

    def _unused(self, service: str) -> int:
        """A ``ForceUpdate`` that no task of a service has had; after a rollback the spec's own would come again."""
        count = int(self._inspect(service)["Spec"]["TaskTemplate"].get("ForceUpdate") or 0)
        return 1 + max([count, *(task.force_update for task in self.tasks() if task.service == service)])

    def rollback(self, service: str) -> None:
        """Back to the previous spec, under the rollback's own settings, as ``docker service rollback`` does."""
        self.change(service, lambda _spec: True, rollback="previous")

    def replicas(self, service: str) -> int:
        """How many replicas a service asks for."""
        return replicas_of(self._inspect(service)["Spec"], service)

    def scale(self, service: str, replicas: int) -> None:
        """Asks for another number of replicas; the engine then forgets the last update's status."""
        self.change(service, scaled(service, replicas))

    def change(self, service: str, edit: Edit, **query: str) -> None:
        """Applies ``edit`` to the newest spec of a service; see :class:`~swarmtest.engine.updates.Change`."""
        identity = self._inspect(service)["ID"]
        change = Change(self._client, f"the service {service}", lambda: self._inspect(service), self._say, self._sleep)
        change.send(edit, f"/services/{identity}/update", **query)

    def kill(self, container: str, signal: str = "SIGKILL") -> None:
        """Sends a signal to a container."""
        self._containers.kill(container, signal)

    def stop(self, container: str, grace_seconds: float) -> None:
        """Stops a container, and doesn't wait for its exit."""
        self._containers.stop(container, grace_seconds)

    def pause(self, container: str) -> None:
        """Freezes a container."""
        self._containers.pause(container)

    def unpause(self, container: str) -> None:
        """Lets a container go on; harmless where there's nothing to let go."""
        self._containers.unpause(container)

    def availability(self, node: str) -> str:
        """``active``, ``pause`` or ``drain``."""
        return node_availability(self._client, node)

    def set_availability(self, node: str, availability: str) -> None:
        """Changes whether a node gets tasks, where it carries the opt-in label."""
        set_node_availability(self._client, node, availability)

    def leftovers(self) -> list[Leftover]:
        """All that carries the stack's label."""
        return leftovers(self._client, self._name)

    def remove(self, timeout_seconds: float = 120.0) -> None:
        """Removes the stack and waits until all of it is gone.

        Raises:
            TimedOut: something is still there; the message names it.
        """
        remove(self._client, self._name, timeout_seconds, self._sleep, self._clock)
