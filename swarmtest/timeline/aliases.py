"""From what an answer, a log line or a proxy calls an instance, to the instance.

Any alias will do: task ID or name, container ID short or long, hostname, one of the task's
addresses, ``address:port``. What the instance calls itself in its log lines is the surest, as the
log's container is known; a name that's none of these is learnt from requests whose start record
tells where they ran. Addresses and host ports are handed on to later tasks, so they're looked up by
time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from swarmtest.events import Event
from swarmtest.evidence.request import Request
from swarmtest.timeline.lifespan import Lifespan
from swarmtest.timeline.witness import Witness

SHORTEST_ID = 12
"""Docker's own short form of an ID; anything shorter is too easily somebody else's."""


@dataclass(frozen=True, slots=True)
class Aliases:
    """Looks instances up by all that they're called."""

    by_container: Mapping[str, Lifespan]
    by_name: Mapping[str, Lifespan]
    by_address: Mapping[str, Sequence[Lifespan]]
    by_port: Mapping[int, Sequence[Lifespan]]

    def names_of(self, life: Lifespan) -> list[str]:
        """All that an instance is called by, but for its addresses, which others may have had before."""
        return [name for name, found in self.by_name.items() if found.task == life.task]

    def of_container(self, container: str | None) -> Lifespan | None:
        """The instance in a container."""
        return None if container is None else self.by_container.get(container)

    def of_header(self, value: str | None, t: float) -> Lifespan | None:
        """The instance that a header's value names, at a time."""
        if not value:
            return None
        found = self.by_name.get(value) or self.by_name.get(value.lower())
        if found is None and len(value) >= SHORTEST_ID:
            found = next((life for name, life in self.by_container.items() if name.startswith(value.lower())), None)
        return found if found is not None else self.of_address(value, t)

    def of_address(self, server: str | None, t: float) -> Lifespan | None:
        """The instance behind ``address`` or ``address:port`` at a time, or the last one before."""
        if not server:
            return None
        return _holder(self.by_address.get(server.rsplit(":", 1)[0] if server.count(":") == 1 else server, ()), t)

    def of_target(self, target: str | None, t: float) -> Lifespan | None:
        """The instance behind ``host:port`` that a client dialled itself."""
        port = (target or "").rsplit(":", 1)[-1]
        return _holder(self.by_port.get(int(port), ()), t) if port.isdigit() else None


def read_aliases(
    lifespans: Iterable[Lifespan], witness: Witness, requests: Iterable[Request], records: Iterable[Event]
) -> Aliases:
    """All that's known of the instances' names."""
    by_container: dict[str, Lifespan] = {}
    by_name: dict[str, Lifespan] = {}
    by_address: defaultdict[str, list[Lifespan]] = defaultdict(list)
    by_port: defaultdict[int, list[Lifespan]] = defaultdict(list)
    for life in sorted(lifespans, key=lambda one: one.created):
        for name in _names(life):
            by_name[name] = life
        if life.container:
            by_container[life.container] = life
        for address in life.addresses:
            by_address[address].append(life)
        for port in life.host_ports:
            by_port[port].append(life)
    for value, containers in _said(records).items():
        if len(containers) == 1 and (found := by_container.get(containers.pop())) is not None:
            by_name.setdefault(value, found)
    asked = list(requests)
    for value, container in _learnt(witness, asked).items():
        if container in by_container:
            by_name.setdefault(value, by_container[container])
    by_port.update(_answered_on(witness, asked, by_container))
    return Aliases(by_container, by_name, by_address, by_port)


def _names(life: Lifespan) -> list[str]:
    names = [life.task, life.container, life.container_name, (life.container or "")[:SHORTEST_ID]]
    if life.container_name:
        names.append(life.container_name.lstrip("/"))
    if life.slot is not None:
        names.append(f"{life.service}.{life.slot}.{life.task}")
    return [name for name in names if name]


def _said(records: Iterable[Event]) -> dict[str, set[str]]:
    """What the instances call themselves in their lines, with the containers that do; several share no name."""
    said: defaultdict[str, set[str]] = defaultdict(set)
    for event in records:
        if event.get("instance"):
            said[str(event.get("instance"))].add(event.get("container") or "")
    return said


def _learnt(witness: Witness, requests: Iterable[Request]) -> dict[str, str]:
    """Header values whose requests all ran in one container, by their start records."""
    ran: defaultdict[str, set[str]] = defaultdict(set)
    for request in requests:
        trail = witness.trails.get(request.id)
        if request.instance and trail is not None and len(set(trail.containers)) == 1:
            ran[request.instance].add(trail.containers[0])
    return {value: next(iter(containers)) for value, containers in ran.items() if len(containers) == 1}


def _answered_on(
    witness: Witness, requests: Iterable[Request], by_container: Mapping[str, Lifespan]
) -> dict[int, list[Lifespan]]:
    """Host ports by who served there, which beats what Swarm says of them.

    Where an engine publishes on IPv4 and IPv6, a port of its own choosing differs between the two,
    and the task's status shows only one of them.
    """
    found: defaultdict[int, dict[str, Lifespan]] = defaultdict(dict)
    for request in requests:
        trail, port = witness.trails.get(request.id), (request.target or "").rsplit(":", 1)[-1]
        life = by_container.get(trail.container or "") if trail is not None else None
        if life is not None and port.isdigit():
            found[int(port)][life.task] = life
    return {port: sorted(lives.values(), key=lambda one: one.created) for port, lives in found.items()}


def _holder(lives: Sequence[Lifespan], t: float) -> Lifespan | None:
    held = [life for life in lives if life.created <= t]
    return held[-1] if held else (lives[0] if lives else None)
