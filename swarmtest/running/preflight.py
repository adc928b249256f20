"""What must be true before a stack is deployed, said in one go and before anything is touched.

``swarmtest doctor`` prints the findings; ``run`` stops at the first that can't be worked round.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import suppress

from swarmtest.engine import EngineInfo
from swarmtest.engine.client import Client, cli_version, version_conflict
from swarmtest.engine.images import missing_images
from swarmtest.engine.ports import PortOwner, published_ports
from swarmtest.errors import SwarmtestError
from swarmtest.events import is_still_written
from swarmtest.running.finding import Finding
from swarmtest.running.preflight_objects import missing_files, taken_names
from swarmtest.stack import Port, Service, Stack
from swarmtest.stack.block.brief import Brief

CLOCK_LIMIT_SECONDS = 1.0
LEAST_CLI = (20, 10)


def examine_without_engine(error: SwarmtestError, stack: Stack | None, brief: Brief | None) -> list[Finding]:
    """What can be known on this machine with no engine that answers."""
    text, _, advice = str(error).partition("; ")
    found = [Finding("engine", "missing", text, advice), _cli(cli_version())]
    if stack is not None and brief is not None:
        found += missing_files(stack)
        found += _dockerfiles(stack)
        found += _health(stack, brief)
    return found


def examine(client: Client, info: EngineInfo, stack: Stack | None, brief: Brief | None) -> list[Finding]:
    """All findings on this machine, and on the stack where there's one."""
    found = [_engine(info), *_api_version(info), _swarm(info), _cli(info.cli), _clock(info)]
    if stack is not None and brief is not None:
        if info.swarm == "active":
            found += _ipvs(info, stack, brief)
            found += taken_names(client, stack)
        found += _ports(client, info, stack)
        found += missing_files(stack)
        found += _images(client, stack)
        found += _health(stack, brief)
    elif info.ipvs is False:
        found.append(_no_ipvs("warning", "stacks with VIPs or ingress ports can't be tested here"))
    return found


def _engine(info: EngineInfo) -> Finding:
    where = "local" if info.local else f"at {info.host}"
    return Finding("engine", "ok", f"Docker {info.version} ({where}), API {info.api}, {info.nodes} node(s)")


def _api_version(info: EngineInfo) -> Iterator[Finding]:
    if problem := version_conflict(info, os.environ.get("DOCKER_API_VERSION")):
        yield Finding("API version", "missing", problem, "the docker CLI would be refused")


def _swarm(info: EngineInfo) -> Finding:
    if info.swarm != "active":
        return Finding(
            "swarm mode",
            "missing",
            f"the engine's swarm mode is {info.swarm}",
            "run `docker swarm init`, or add --init-swarm to have it done",
        )
    if not info.manager:
        return Finding(
            "swarm mode", "missing", "this node is a worker", "point DOCKER_HOST or the context at a manager node"
        )
    return Finding("swarm mode", "ok", "active, and this node is a manager")


def _cli(version: str | None) -> Finding:
    if version is None:
        return Finding(
            "docker CLI", "missing", "there's none on the path", "install docker-cli: only it can deploy stacks"
        )
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if numbers < LEAST_CLI:
        return Finding("docker CLI", "missing", f"{version} is too old", "install 20.10 or newer")
    return Finding("docker CLI", "ok", version)


def _clock(info: EngineInfo) -> Finding:
    text = f"engine minus this machine: {info.offset_seconds:+.3f} s, give or take {info.offset_error_seconds:.3f} s"
    if abs(info.offset_seconds) - info.offset_error_seconds > CLOCK_LIMIT_SECONDS:
        return Finding("clocks", "warning", text, "set both by NTP; marks carry the difference as their error")
    return Finding("clocks", "ok", text)


def _no_ipvs(state: str, text: str, several: bool = False) -> Finding:
    alone = " (without `published` and with `x-swarmtest: {front_door: direct}`, where there are several instances)"
    return Finding(
        "IPVS",
        state,
        f"this kernel has no IPVS: {text}",
        f"use `endpoint_mode: dnsrr` and ports with `mode: host`{alone if several else ''}, or a kernel with ip_vs",
    )


def _ipvs(info: EngineInfo, stack: Stack, brief: Brief) -> Iterator[Finding]:
    """Connections to a VIP or an ingress port only time out without IPVS, while services look healthy."""
    if info.ipvs is not False:
        return
    ingress = [item.name for item in stack.services.values() if any(port.mode == "ingress" for port in item.ports)]
    if ingress:
        several = any(stack.services[name].replicas > 1 for name in ingress)
        yield _no_ipvs("missing", f"the ingress ports of {', '.join(ingress)} would never answer", several)
    virtual = _on_vip(stack.services[brief.service])
    if virtual and brief.front_door.mode == "proxy":
        name = brief.service
        yield _no_ipvs("missing", f"{name} has a VIP, so {brief.front_door.service} can't reach it by the name {name}")


def _on_vip(service: Service) -> bool:
    return service.endpoint_mode != "dnsrr" and service.mode == "replicated"


def _ports(client: Client, info: EngineInfo, stack: Stack) -> Iterator[Finding]:
    taken = published_ports(client)
    for service in stack.services.values():
        for port in service.ports:
            if port.published is None:
                continue
            owner = taken.get((port.published, port.protocol))
            if owner is None and info.local and not _free(port):
                owner = PortOwner("another program")
            if owner is not None:
                yield Finding(
                    "port",
                    "missing",
                    f"{port.published}/{port.protocol}, which {service.name} publishes, is taken by {owner.name}",
                    _to_free(owner),
                )


def _to_free(owner: PortOwner) -> str:
    """What to do about a port that's taken: what a killed run left is removed by recovering that run."""
    if not owner.run:
        return "stop it, or publish another port"
    events = owner.folder / "events.jsonl" if owner.folder is not None else None
    given = owner.folder if events is not None and events.is_file() else f"--stack {owner.stack}"
    with suppress(OSError):  # nobody can tell: the folder isn't here, or its file system has no locks
        if events is not None and events.is_file() and is_still_written(events):
            return f"the run {owner.run} goes on: wait for its end, or publish another port"
    return f"it's of the run {owner.run}: if that is over, `swarmtest recover {given}` removes it"


def _free(port: Port) -> bool:
    kind = socket.SOCK_DGRAM if port.protocol == "udp" else socket.SOCK_STREAM
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("0.0.0.0", port.published or 0))  # noqa: S104 - the engine publishes on all addresses
        except PermissionError:
            return True
        except OSError:
            return False
    return True


def _dockerfiles(stack: Stack) -> Iterator[Finding]:
    for service in stack.services.values():
        if service.build is not None and not service.build.dockerfile.is_file():
            problem = f"the build of {service.name} has no {service.build.dockerfile}"
            yield Finding("image", "warning", problem, "correct `build:`, unless the image is on the engine")


def _images(client: Client, stack: Stack) -> Iterator[Finding]:
    for name in missing_images(client, stack):
        service = stack.services[name]
        if service.build is None:
            yield Finding("image", "warning", f"{service.image} of {name} isn't here", "it will be pulled")
        elif not service.build.dockerfile.is_file():
            yield Finding(
                "image",
                "missing",
                f"{service.image} of {name} isn't here, and its build has no {service.build.dockerfile}",
                "pull or build it, or correct `build:`",
            )
        else:
            yield Finding("image", "warning", f"{service.image} of {name} isn't here", "it will be built")


def _health(stack: Stack, brief: Brief) -> Iterator[Finding]:
    service = stack.services[brief.service]
    if service.health is None:
        said = "is switched off" if service.health_disabled else "isn't in the file"
        yield Finding(
            "health check",
            "warning",
            f"the health check of {service.name} {said}",
            "without one (the image may have its own) Swarm takes a task for ready as soon as its process runs",
        )
