"""Which ports are taken by the engine's own services and containers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from swarmtest.engine.client import Client
from swarmtest.engine.labels import FOLDER_LABEL, RUN_LABEL, STACK_LABEL


@dataclass(frozen=True, slots=True)
class PortOwner:
    """Who has a port.

    Attributes:
        run: the run that deployed it, empty where it's none of swarmtest's.
        stack: its stack, where a run deployed it.
        folder: that run's folder, where its label says it.
    """

    name: str
    run: str = ""
    stack: str = ""
    folder: Path | None = None


def published_ports(client: Client) -> dict[tuple[int, str], PortOwner]:
    """Owner of each published port, by number and protocol."""
    owners: dict[tuple[int, str], PortOwner] = {}
    for container in client.get("/containers/json"):
        for port in container.get("Ports") or ():
            if port.get("PublicPort"):
                name = container["Names"][0].lstrip("/")
                owners[(int(port["PublicPort"]), str(port.get("Type", "tcp")))] = PortOwner(f"the container {name}")
    if (client.get("/info").get("Swarm") or {}).get("ControlAvailable"):
        for service in client.get("/services"):
            owner = _of_service(service["Spec"]["Name"], service["Spec"].get("Labels") or {})
            for port in (service.get("Endpoint") or {}).get("Ports") or ():
                if port.get("PublishedPort"):
                    owners[(int(port["PublishedPort"]), str(port.get("Protocol", "tcp")))] = owner
    return owners


def _of_service(name: str, labels: dict[str, str]) -> PortOwner:
    folder = labels.get(FOLDER_LABEL)
    run, stack = labels.get(RUN_LABEL, ""), labels.get(STACK_LABEL, "")
    return PortOwner(f"the service {name}", run, stack, Path(folder) if folder else None)
