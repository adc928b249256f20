"""A stack on a Swarm: deploy, look at, roll and remove it.

All that belongs to a run carries the stack's own label, which Swarm puts on services, networks,
configs, secrets, volumes and containers alike; nothing without it is ever touched.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tenacity import RetryCallState, Retrying, retry_if_exception_type, wait_fixed

from swarmtest.engine import TaskView, UpdateView
from swarmtest.engine.client import Client, NoAnswer, NotThere, Refused, parse_time
from swarmtest.engine.labels import STACK_LABEL
from swarmtest.engine.tasks import task_view
from swarmtest.errors import EngineError, TimedOut

SEQUENCE_TRIES = 5
"""How often an update is tried that the engine refuses as out of sequence (moby/moby #30794)."""

LOST_SECONDS = 30.0
"""A removal waits so long for an engine that doesn't answer at all."""

_KINDS = ("networks", "configs", "secrets", "volumes")


@dataclass(frozen=True, slots=True)
class Leftover:
    """An object that carries a stack's label."""

    kind: str
    id: str
    name: str


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

    def roll(self, service: str) -> None:
        """Replaces every task with the same spec, as ``docker service update --force`` does."""
        first = self._inspect(service)
        wanted = int(first["Spec"]["TaskTemplate"].get("ForceUpdate") or 0) + 1

        def force(spec: dict[str, Any]) -> bool:
            template = spec["TaskTemplate"]
            if int(template.get("ForceUpdate") or 0) >= wanted:
                return False
            template["ForceUpdate"] = wanted
            return True

        self.change(service, force, first)

    def change(
        self, service: str, edit: Callable[[dict[str, Any]], bool], seen: Mapping[str, Any] | None = None
    ) -> None:
        """Applies ``edit`` to the newest spec of a service.

        Swarm moves a service's version on its own; a write with a stale version is refused whole, so it's
        read again and tried anew, a bounded number of times. ``edit`` gets the newest spec each time and
        returns False where nothing is left to do, so that a retry never rolls twice.

        Raises:
            EngineError: refused for another reason, or stale each time; the service is as it was.
        """
        error: EngineError | None = None
        for attempt in range(SEQUENCE_TRIES):
            current = dict(seen) if seen is not None and attempt == 0 else self._inspect(service)
            spec = json.loads(json.dumps(current["Spec"]))
            if not edit(spec):
                return
            try:
                self._client.post(f"/services/{current['ID']}/update", spec, version=str(current["Version"]["Index"]))
                return
            except NotThere:
                raise
            except EngineError as refused:
                if "out of sequence" not in str(refused):
                    raise
                error = refused
                self._say(f"the update of {service} was refused as out of sequence; it's read again and sent anew")
                self._sleep(0.1 * (attempt + 1))
        raise Refused(
            f"the service {service} changed under our hands {SEQUENCE_TRIES} times, so the update was not sent;"
            " is somebody else updating it?",
            409,
        ) from error

    def leftovers(self) -> list[Leftover]:
        """All that carries the stack's label."""
        label = {"label": [f"{STACK_LABEL}={self._name}"]}
        found = [
            Leftover("services", item["ID"], item["Spec"]["Name"])
            for item in self._client.get("/services", filters=label)
        ]
        found += [
            Leftover("containers", item["Id"], item["Names"][0].lstrip("/"))
            for item in self._client.get("/containers/json", all="true", filters=label)
        ]
        for kind in _KINDS:
            listed = self._client.get(f"/{kind}", filters=label)
            items = listed.get("Volumes") or [] if kind == "volumes" else listed
            for item in items:
                name = str(item["Name"] if "Name" in item else item["Spec"]["Name"])
                identity = str(item.get("Id") or item.get("ID") or name)
                found.append(Leftover(kind, identity, name))
        return found

    def remove(self, timeout_seconds: float = 120.0) -> None:
        """Removes the stack and waits until all of it is gone.

        ``docker stack rm`` returns before containers and networks are gone (moby/moby #29293), so the
        services go first, then their containers are waited for, then the rest.

        Raises:
            TimedOut: something is still there; the message names it.
        """
        Retrying(
            retry=retry_if_exception_type(EngineError),
            wait=wait_fixed(0.2),
            stop=_Patience(self._clock, timeout_seconds),
            sleep=self._sleep,
            reraise=True,
        )(self._remove_once)

    def _remove_once(self) -> None:
        """One pass; raises as long as anything is there, so that it's called again."""
        left = self.leftovers()
        if living := [item for item in left if item.kind in ("services", "containers")]:
            self._delete_all(item for item in living if item.kind == "services")
            names = ", ".join(f"{item.kind.removesuffix('s')} {item.name}" for item in living)
            raise TimedOut(
                f"the stack {self._name} couldn't be removed in time, and is left with {names};"
                f" look at them, then `docker stack rm {self._name}`"
            )
        self._delete_all(left)
        if left and (left := self.leftovers()):
            names = ", ".join(f"{item.kind.removesuffix('s')} {item.name}" for item in left)
            raise TimedOut(f"the stack {self._name} couldn't be removed in time, and is left with {names}")

    def _delete_all(self, items: Iterable[Leftover]) -> None:
        """Deletes each that can be deleted, then raises the first error: one that's stuck holds up no other."""
        errors: list[EngineError] = []
        for item in items:
            try:
                self._delete(item)
            except EngineError as error:
                errors.append(error)
        if errors:
            raise errors[0]

    def _delete(self, item: Leftover) -> None:
        try:
            self._client.delete(f"/{item.kind}/{item.id}")
        except NotThere:
            return


class _Patience:
    """When a removal gives up: at its deadline, or when no engine has answered for a while."""

    def __init__(self, clock: Callable[[], float], seconds: float) -> None:
        self._clock, self._deadline = clock, clock() + seconds
        self._lost: float | None = None

    def __call__(self, state: RetryCallState) -> bool:
        now, error = self._clock(), state.outcome.exception() if state.outcome is not None else None
        self._lost = (self._lost if self._lost is not None else now) if isinstance(error, NoAnswer) else None
        return now > self._deadline or (self._lost is not None and now - self._lost > LOST_SECONDS)
