"""Changes of a service's spec: what's changed, and how it's sent to an engine whose versions move."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from swarmtest.engine.client import Client, NotThere, Refused
from swarmtest.errors import EngineError, UsageError

SEQUENCE_TRIES = 5
"""How often an update is tried that the engine refuses as out of sequence (moby/moby #30794)."""

Edit = Callable[[dict[str, Any]], bool]
"""Gets the newest spec and changes it; returns False where nothing is left to do."""


@dataclass(frozen=True, slots=True)
class Change:
    """An update of an object that the engine counts versions of.

    Swarm moves an object's version on its own; a write with a stale version is refused whole, so it's
    read again and tried anew, a bounded number of times. The edit gets the newest spec each time, so
    that a retry never does it twice, nor puts an old spec over a newer one.

    Attributes:
        what: the object, for messages.
        read: gives the object as it is now.
        say: told of each refusal.
    """

    client: Client
    what: str
    read: Callable[[], dict[str, Any]]
    say: Callable[[str], object] = lambda _text: None
    sleep: Callable[[float], None] = lambda _seconds: None

    def send(self, edit: Edit, path: str, **query: str) -> None:
        """Applies ``edit`` to the newest spec.

        Raises:
            EngineError: refused for another reason, or stale each time; the object is as it was.
        """
        error: EngineError | None = None
        for attempt in range(SEQUENCE_TRIES):
            current = self.read()
            spec = json.loads(json.dumps(current["Spec"]))
            if not edit(spec):
                return
            try:
                self.client.post(path, spec, version=str(current["Version"]["Index"]), **query)
                return
            except NotThere:
                raise
            except EngineError as refused:
                if "out of sequence" not in str(refused):
                    raise
                error = refused
                self.say(f"the update of {self.what} was refused as out of sequence; it's read again and sent anew")
                self.sleep(0.1 * (attempt + 1))
        raise Refused(
            f"{self.what} changed under our hands {SEQUENCE_TRIES} times, so the update was not sent;"
            " is somebody else updating it?",
            409,
        ) from error


def forced(wanted: int, more: Callable[[dict[str, Any]], object] = lambda _spec: None) -> Edit:
    """An edit that replaces every task, even where nothing else of the spec changes, by its ``ForceUpdate``.

    Arguments:
        wanted: the new count, by which a retry knows that the edit was done already.
        more: changes the spec further.
    """

    def edit(spec: dict[str, Any]) -> bool:
        template = spec["TaskTemplate"]
        if int(template.get("ForceUpdate") or 0) >= wanted:
            return False
        template["ForceUpdate"] = wanted
        more(spec)
        return True

    return edit


def released(
    image: str | None,
    environment: Mapping[str, str],
    health: Mapping[str, Any] | None,
    command: Sequence[str] | None,
) -> Callable[[dict[str, Any]], None]:
    """Puts a new image, variables, health check or command into a spec, and keeps all the rest.

    Arguments:
        health: fields as of :class:`swarmtest.stack.HealthCheck`.
        command: takes the place of the image's entry point, and of all arguments.
    """

    def edit(spec: dict[str, Any]) -> None:
        container = spec["TaskTemplate"]["ContainerSpec"]
        if image is not None:
            container["Image"] = image
        if environment:
            kept = [item for item in container.get("Env") or () if item.partition("=")[0] not in environment]
            container["Env"] = kept + [f"{name}={value}" for name, value in environment.items()]
        if health is not None:
            container["Healthcheck"] = _health(health)
        if command is not None:
            container["Command"], container["Args"] = list(command), []

    return edit


def _health(fields: Mapping[str, Any]) -> dict[str, Any]:
    """As the API takes it; a zero would mean the image's own value, and 1 ms is the least that's taken."""

    def nanoseconds(key: str) -> int:
        return max(1_000_000, int(float(fields[key]) * 1e9))

    return {
        "Test": list(fields["test"]),
        "Interval": nanoseconds("interval_seconds"),
        "Timeout": nanoseconds("timeout_seconds"),
        "StartPeriod": nanoseconds("start_period_seconds"),
        "Retries": int(fields["retries"]),
    }


def replicas_of(spec: Mapping[str, Any], service: str) -> int:
    """How many replicas a service asks for.

    Raises:
        UsageError: it isn't replicated.
    """
    replicated = spec["Mode"].get("Replicated")
    if replicated is None:
        raise UsageError(f"the service {service} isn't replicated, so it can't be scaled; try one that is")
    return int(replicated.get("Replicas") or 0)


def scaled(service: str, replicas: int) -> Edit:
    """Asks for another number of replicas."""

    def edit(spec: dict[str, Any]) -> bool:
        if replicas_of(spec, service) == replicas:
            return False
        spec["Mode"]["Replicated"]["Replicas"] = replicas
        return True

    return edit
