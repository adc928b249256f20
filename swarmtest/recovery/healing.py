"""Heals one act of a killed run, and says what came of it by looking before and after.

What was written down before the hurt is all there is to go by. The hurt may have happened or not, and
its victim may be gone; each of these is told apart, since "healed" is only true where something was
amiss.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from swarmtest.engine import Deployment
from swarmtest.engine.client import Client, NotThere
from swarmtest.errors import EngineError
from swarmtest.events import TraceWriter
from swarmtest.faults import fault_of
from swarmtest.interrupts import deferred
from swarmtest.recovery.leavings import Act
from swarmtest.running.acts import act as written

GONE = "gone"


@dataclass(frozen=True, slots=True)
class Surgery:
    """What healing needs.

    Attributes:
        trace: where it's written down.
        node: the engine's own, whose containers alone it reaches.
    """

    client: Client
    deployment: Deployment
    trace: TraceWriter
    node: str = ""


@dataclass(frozen=True, slots=True)
class Thing:
    """Something that an act hurt.

    Attributes:
        what: its name, for people.
        look: gives its state now: a container's status, a service's replicas, a node's availability.
        wanted: the state that it's to have; None for a container, which is only not to be frozen.
        verb: what healing does to it.
    """

    what: str
    look: Callable[[], str]
    wanted: str | None
    verb: str

    def state(self) -> str:
        """How it is now; ``gone`` where it isn't."""
        with contextlib.suppress(NotThere):
            return self.look()
        return GONE


def heal(surgery: Surgery, act: Act, number: int) -> list[str]:
    """Heals an act, as act ``number`` of the trace; gives what was done, a line for each thing.

    Raises:
        SwarmtestError: it couldn't be healed; the trace says so.
    """
    _refuse_out_of_reach(surgery, act)
    things = things_of(surgery, act)
    before = [thing.state() for thing in things]
    fields = {
        "id": number,
        "name": "heal",
        "target": act.service,
        "settings": dict(act.settings),
        "instances": list(act.instances),
        "before": dict(act.before),
        "heals": act.number,
        "prepares": False,
        "lasting": False,
    }
    with deferred(), written(surgery.trace, **fields):
        with contextlib.suppress(NotThere):  # what's gone needs no healing
            fault_of(act.name, act.settings).heal(surgery.deployment, act.aim, act.before)
        after = [thing.state() for thing in things]
        for thing, state in zip(things, after, strict=True):
            _refuse_unhealed(thing, state)
    lines = [told(thing, act.name, was, now) for thing, was, now in zip(things, before, after, strict=True)]
    return lines or [f"healed {act.name} of {act.service}"]


def _refuse_out_of_reach(surgery: Surgery, act: Act) -> None:
    """What's on another node only looks as if it were gone."""
    nodes = {str(item.get("node") or surgery.node) for item in act.instances if item.get("container")}
    if surgery.node and (elsewhere := nodes - {surgery.node}):
        raise EngineError(
            f"it's on the node {', '.join(sorted(elsewhere))}, and this engine reaches only containers of its own node;"
            " point DOCKER_HOST at the engine there, and run swarmtest recover again"
        )


def things_of(surgery: Surgery, act: Act) -> list[Thing]:
    """What an act hurt, by what was written down of it."""
    deployment = surgery.deployment
    if act.instances:
        return [_container(surgery.client, act.service, item) for item in act.instances if item.get("container")]
    if "availability" in act.before:
        node = str(act.before.get("node") or act.settings.get("node") or act.service)
        wanted = str(act.before["availability"])
        return [Thing(f"node {node}", lambda: deployment.availability(node), wanted, "set")]
    if "replicas" in act.before:
        service = str(act.before.get("service") or act.settings.get("service") or act.service)
        return [Thing(service, lambda: str(deployment.replicas(service)), str(act.before["replicas"]), "scaled")]
    return []


def _container(client: Client, service: str, item: Mapping[str, Any]) -> Thing:
    container = str(item["container"])
    name = f"{service}.{item['slot']}" if item.get("slot") is not None else service
    return Thing(
        f"{name} (container {container[:12]})",
        lambda: str(client.get(f"/containers/{container}/json")["State"]["Status"]),
        None,
        "unpaused",
    )


def told(thing: Thing, act: str, before: str, after: str) -> str:
    """What was done to a thing, in words."""
    if before == GONE:
        return f"{thing.what} is gone: nothing to heal"
    if before == after:
        return f"{thing.what} is as it was before the {act} ({after}): nothing to heal"
    if thing.wanted is None:
        return f"{thing.verb} {thing.what}" if before == "paused" else f"{thing.what}: {before} → {after}"
    return f"{thing.verb} {thing.what} back from {before} to {after}"


def _refuse_unhealed(thing: Thing, state: str) -> None:
    wrong = state == "paused" if thing.wanted is None else state not in (thing.wanted, GONE)
    if wrong:
        raise EngineError(f"{thing.what} is {state} after healing, expected {thing.wanted or 'running'}")
