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
from itertools import pairwise

from swarmtest.timeline.lifespan import Lifespan

Span = tuple[float, float, Lifespan]
"""From when until when, and which instance."""

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

    def spans_of_header(self, value: str) -> list[Span]:
        """From when until when a header's value names which instance; nothing where it names none."""
        found = self._named(value)
        if found is not None:
            return [(float("-inf"), float("inf"), found)]
        return self.spans_of_address(value)

    def spans_of_address(self, server: str) -> list[Span]:
        """From when until when an address, or ``address:port``, leads to which instance."""
        lives = self.by_address.get(_host(server), ())
        edges = pairwise([float("-inf"), *(life.created for life in lives[1:]), float("inf")]) if lives else ()
        return [(begins, ends, life) for (begins, ends), life in zip(edges, lives, strict=True)]

    def _named(self, value: str) -> Lifespan | None:
        found = self.by_name.get(value) or self.by_name.get(value.lower())
        if found is None and len(value) >= SHORTEST_ID:
            found = next((life for name, life in self.by_container.items() if name.startswith(value.lower())), None)
        return found

    def of_container(self, container: str | None) -> Lifespan | None:
        """The instance in a container."""
        return None if container is None else self.by_container.get(container)

    def of_header(self, value: str | None, t: float) -> Lifespan | None:
        """The instance that a header's value names, at a time."""
        if not value:
            return None
        found = self._named(value)
        return found if found is not None else self.of_address(value, t)

    def of_address(self, server: str | None, t: float) -> Lifespan | None:
        """The instance behind ``address`` or ``address:port`` at a time, or the last one before."""
        if not server:
            return None
        return _holder(self.by_address.get(_host(server), ()), t)

    def of_target(self, target: str | None, t: float) -> Lifespan | None:
        """The instance behind ``host:port`` that a client dialled itself."""
        port = (target or "").rsplit(":", 1)[-1]
        return _holder(self.by_port.get(int(port), ()), t) if port.isdigit() else None


@dataclass(frozen=True, slots=True)
class Heard:
    """What tells who an instance is, beside what Swarm says.

    Attributes:
        said: what instances call themselves in their lines, with the container that does.
        learnt: header values of answers, with the container where their request was started.
        dialled: ``host:port`` that was dialled, with the container where the request ran.
    """

    said: Sequence[tuple[str, str]] = ()
    learnt: Sequence[tuple[str, str]] = ()
    dialled: Sequence[tuple[str, str]] = ()


def read_aliases(lifespans: Iterable[Lifespan], heard: Heard) -> Aliases:
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
    for value, container in (*_alone(heard.said), *_alone(heard.learnt)):
        if container in by_container:
            by_name.setdefault(value, by_container[container])
    by_port.update(_answered_on(heard.dialled, by_container))
    return Aliases(by_container, by_name, by_address, by_port)


def _names(life: Lifespan) -> list[str]:
    names = [life.task, life.container, life.container_name, (life.container or "")[:SHORTEST_ID]]
    if life.container_name:
        names.append(life.container_name.lstrip("/"))
    if life.slot is not None:
        names.append(f"{life.service}.{life.slot}.{life.task}")
    return [name for name in names if name]


def _alone(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Names that only one container bears, with that; several share no name."""
    bears: defaultdict[str, set[str]] = defaultdict(set)
    for name, container in pairs:
        bears[name].add(container)
    return [(name, next(iter(containers))) for name, containers in bears.items() if len(containers) == 1]


def _answered_on(dialled: Iterable[tuple[str, str]], by_container: Mapping[str, Lifespan]) -> dict[int, list[Lifespan]]:
    """Host ports by who served there, which beats what Swarm says of them.

    Where an engine publishes on IPv4 and IPv6, a port of its own choosing differs between the two,
    and the task's status shows only one of them.
    """
    found: defaultdict[int, dict[str, Lifespan]] = defaultdict(dict)
    for target, container in dialled:
        life, port = by_container.get(container), target.rsplit(":", 1)[-1]
        if life is not None and port.isdigit():
            found[int(port)][life.task] = life
    return {port: sorted(lives.values(), key=lambda one: one.created) for port, lives in found.items()}


def _host(server: str) -> str:
    return server.rsplit(":", 1)[0] if server.count(":") == 1 else server


def _holder(lives: Sequence[Lifespan], t: float) -> Lifespan | None:
    held = [life for life in lives if life.created <= t]
    return held[-1] if held else (lives[0] if lives else None)
