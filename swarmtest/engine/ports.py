"""Which ports are taken by the engine's own services and containers."""

from __future__ import annotations

from swarmtest.engine.client import Client


def published_ports(client: Client) -> dict[tuple[int, str], str]:
    """Owner of each published port, by number and protocol."""
    owners: dict[tuple[int, str], str] = {}
    for container in client.get("/containers/json"):
        for port in container.get("Ports") or ():
            if port.get("PublicPort"):
                name = container["Names"][0].lstrip("/")
                owners[(int(port["PublicPort"]), str(port.get("Type", "tcp")))] = f"the container {name}"
    if (client.get("/info").get("Swarm") or {}).get("ControlAvailable"):
        for service in client.get("/services"):
            for port in (service.get("Endpoint") or {}).get("Ports") or ():
                if port.get("PublishedPort"):
                    key = (int(port["PublishedPort"]), str(port.get("Protocol", "tcp")))
                    owners[key] = f"the service {service['Spec']['Name']}"
    return owners
