"""Removes a stack, and waits until all of it is gone.

``docker stack rm`` returns before containers and networks are gone (moby/moby #29293), so the services
go first, then their containers are waited for, then the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tenacity import RetryCallState, Retrying, retry_if_exception_type, wait_fixed

from swarmtest.engine.client import Client, NoAnswer, NotThere
from swarmtest.engine.labels import STACK_LABEL
from swarmtest.errors import EngineError, TimedOut

LOST_SECONDS = 30.0
"""A removal waits so long for an engine that doesn't answer at all."""

_KINDS = ("networks", "configs", "secrets", "volumes")


@dataclass(frozen=True, slots=True)
class Leftover:
    """An object that carries a stack's label."""

    kind: str
    id: str
    name: str


def leftovers(client: Client, stack: str) -> list[Leftover]:
    """All that carries the stack's label."""
    label = {"label": [f"{STACK_LABEL}={stack}"]}
    found = [Leftover("services", item["ID"], item["Spec"]["Name"]) for item in client.get("/services", filters=label)]
    found += [
        Leftover("containers", item["Id"], item["Names"][0].lstrip("/"))
        for item in client.get("/containers/json", all="true", filters=label)
    ]
    for kind in _KINDS:
        listed = client.get(f"/{kind}", filters=label)
        items = listed.get("Volumes") or [] if kind == "volumes" else listed
        for item in items:
            name = str(item["Name"] if "Name" in item else item["Spec"]["Name"])
            identity = str(item.get("Id") or item.get("ID") or name)
            found.append(Leftover(kind, identity, name))
    return found


def remove(
    client: Client,
    stack: str,
    timeout_seconds: float,
    sleep: Callable[[float], None],
    clock: Callable[[], float],
) -> None:
    """Removes the stack and waits until all of it is gone.

    Raises:
        TimedOut: something is still there; the message names it.
    """
    Retrying(
        retry=retry_if_exception_type(EngineError),
        wait=wait_fixed(0.2),
        stop=_Patience(clock, timeout_seconds),
        sleep=sleep,
        reraise=True,
    )(_remove_once, client, stack)


def _remove_once(client: Client, stack: str) -> None:
    """One pass; raises as long as anything is there, so that it's called again."""
    left = leftovers(client, stack)
    if living := [item for item in left if item.kind in ("services", "containers")]:
        _delete_all(client, (item for item in living if item.kind == "services"))
        names = ", ".join(f"{item.kind.removesuffix('s')} {item.name}" for item in living)
        raise TimedOut(
            f"the stack {stack} couldn't be removed in time, and is left with {names};"
            f" look at them, then `docker stack rm {stack}`"
        )
    _delete_all(client, left)
    if left and (left := leftovers(client, stack)):
        names = ", ".join(f"{item.kind.removesuffix('s')} {item.name}" for item in left)
        raise TimedOut(f"the stack {stack} couldn't be removed in time, and is left with {names}")


def _delete_all(client: Client, items: Iterable[Leftover]) -> None:
    """Deletes each that can be deleted, then raises the first error: one that's stuck holds up no other."""
    errors: list[EngineError] = []
    for item in items:
        try:
            client.delete(f"/{item.kind}/{item.id}")
        except NotThere:
            continue
        except EngineError as error:
            errors.append(error)
    if errors:
        raise errors[0]


class _Patience:
    """When a removal gives up: at its deadline, or when no engine has answered for a while."""

    def __init__(self, clock: Callable[[], float], seconds: float) -> None:
        self._clock, self._deadline = clock, clock() + seconds
        self._lost: float | None = None

    def __call__(self, state: RetryCallState) -> bool:
        now, error = self._clock(), state.outcome.exception() if state.outcome is not None else None
        self._lost = (self._lost if self._lost is not None else now) if isinstance(error, NoAnswer) else None
        return now > self._deadline or (self._lost is not None and now - self._lost > LOST_SECONDS)
