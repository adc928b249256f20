"""Keys that the target takes no notice of, and what only the other one understands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from swarmtest.lint import Certainty, Finding, Severity
from swarmtest.lint.rolling import instances
from swarmtest.lint.rules import Rule, Stack
from swarmtest.lint.services import LintService

_BY_SWARM: Mapping[str, tuple[Severity, str, str]] = {
    "build": (
        Severity.ERROR,
        "nothing is built, and without an image the service is refused",
        "name an image, and build and push it before the deploy",
    ),
    "depends_on": (
        Severity.INFO,
        "all services are started at once, in no order",
        "let the app try again until what it needs is there, and its health check fail until then",
    ),
    "container_name": (Severity.INFO, "containers are named by service, slot and task", "leave it out"),
    "links": (Severity.INFO, "services of one network find each other by name anyway", "leave it out"),
    "external_links": (Severity.WARNING, "no link is made", "attach both to a common network"),
    "network_mode": (
        Severity.WARNING,
        "the service is put into the stack's own network",
        "attach it to an external network named host, if it's the node's network that it needs",
    ),
    "privileged": (Severity.WARNING, "the container gets no privileges", "name what it needs under cap_add"),
    "devices": (Severity.WARNING, "the container gets no device", "start what needs the device outside of Swarm"),
    "ipc": (Severity.WARNING, "the container has an IPC namespace of its own", "leave it out"),
    "pid": (Severity.WARNING, "the container sees its own processes only", "leave it out"),
    "security_opt": (Severity.WARNING, "the engine's own security profiles hold", "leave it out"),
    "shm_size": (
        Severity.WARNING,
        "shared memory has the engine's 64 MB",
        "mount a tmpfs of that size at that path",
    ),
    "mac_address": (Severity.WARNING, "the engine chooses the address", "leave it out"),
    "domainname": (Severity.WARNING, "the container has no domain name", "write it into hostname"),
    "cgroup_parent": (Severity.WARNING, "the engine's own parent holds, and its limits", "use deploy.resources"),
    "cgroupns_mode": (Severity.WARNING, "the engine's own mode holds", "set it in the engine's configuration"),
    "userns_mode": (
        Severity.WARNING,
        "the engine's own mapping of users holds",
        "set it in the engine's configuration",
    ),
}
"""docker/cli ``cli/compose/types/types.go``: unsupported and deprecated properties. ``restart`` is in that list and
works all the same (``cli/compose/convert/service.go``); ``expose`` does no harm."""

_BY_COMPOSE: Mapping[str, tuple[Severity, str, str]] = {
    "update_config": (
        Severity.WARNING,
        "a container is stopped before its new one starts; expect a gap for each, and neither pause nor rollback",
        "deploy it as a stack; or put a second service beside it, and let a proxy change over",
    ),
    "rollback_config": (Severity.WARNING, "nothing is rolled back", "deploy the older image again by hand"),
    "placement": (Severity.INFO, "there's one machine only", "leave it out"),
    "endpoint_mode": (Severity.INFO, "a name gives the address of each container", "leave it out"),
}


def _ignored_by_swarm(stack: Stack) -> Iterator[Finding]:
    for service in stack.services:
        for key in service.body if service.swarm else ():
            if key == "build" and service.has("image"):
                continue  # one file for building and for deploying
            if key in _BY_SWARM and service.value(key):  # privileged: false asks for nothing
                severity, instead, fix = _BY_SWARM[key]
                effect = f"{key} is ignored by Swarm: {instead}"
                yield Finding("ignored-by-swarm", severity, Certainty.CERTAIN, service.place(key), effect, fix)
        if service.swarm and service.value("restart") is not None:
            yield from _restart(service)


def _restart(service: LintService) -> Iterator[Finding]:
    both = service.has("deploy", "restart_policy")
    if not both and service.value("restart") not in ("no", False):
        return
    yield Finding(
        rule="ignored-by-swarm",
        severity=Severity.INFO,
        certainty=Certainty.CERTAIN,
        place=service.place("restart"),
        effect="restart is ignored by Swarm: "
        + ("deploy.restart_policy holds" if both else "the default holds, and what ends is started again"),
        fix="leave it out" if both else "write condition: none under deploy.restart_policy, if that's what's meant",
    )


def _ignored_by_compose(stack: Stack) -> Iterator[Finding]:
    """docker/compose #13149, #5013."""
    for service in stack.services:
        for key, (severity, instead, fix) in _BY_COMPOSE.items():
            if not service.swarm and service.has("deploy", key):
                effect = f"deploy.{key} has no effect under Compose: {instead}"
                place = service.place("deploy", key)
                yield Finding("ignored-by-compose", severity, Certainty.CERTAIN, place, effect, fix)
        if not service.swarm and service.mode == "global":
            yield Finding(
                rule="ignored-by-compose",
                severity=Severity.INFO,
                certainty=Certainty.CERTAIN,
                place=service.place("deploy", "mode"),
                effect="deploy.mode has no effect under Compose: there's one container, on this machine",
                fix="leave it out",
            )


def _address_ignored(stack: Stack) -> Iterator[Finding]:
    """docker/cli ``opts/port.go``; moby/moby #32299: a service listens on all addresses of all nodes."""
    for service in stack.services:
        ports = service.value("ports") if service.swarm else None
        for index, item in enumerate(ports if isinstance(ports, list) else ()):
            address = str(item).rpartition(":")[0].rpartition(":")[0] if isinstance(item, str) else ""
            if not address or address.strip("[]") in ("0.0.0.0", "::"):  # noqa: S104 - it's compared, not bound
                continue
            yield Finding(
                rule="address-ignored",
                severity=Severity.WARNING,
                certainty=Certainty.CERTAIN,
                place=service.place("ports", str(index)),
                effect=f"Swarm takes no notice of {address}: the port is open on every address of every node",
                fix="leave the port out, and let a proxy in the same network reach it; or close it by a firewall",
            )


def _container_name_scaled(stack: Stack) -> Iterator[Finding]:
    """docker/compose ``pkg/compose/convergence.go``, ``getScale``."""
    for service in stack.services:
        count = instances(service)
        if service.swarm or not count or count < 2 or not service.has("container_name"):
            continue
        yield Finding(
            rule="container-name-scaled",
            severity=Severity.ERROR,
            certainty=Certainty.CERTAIN,
            place=service.place("container_name"),
            effect=f"Compose refuses {count} containers of one name",
            fix="leave container_name out",
        )


def _compose_port_scaled(stack: Stack) -> Iterator[Finding]:
    """Under Compose each container binds the port itself; there's no routing mesh."""
    for service in stack.services:
        count = instances(service)
        if service.swarm or not count or count < 2:
            continue
        outside: dict[tuple[int, str], set[int]] = {}
        for port in service.ports:
            if port.published is not None:
                outside.setdefault((port.target, port.protocol), set()).add(port.published)
        for (target, protocol), published in outside.items():
            if len(published) < count:
                named = ", ".join(map(str, sorted(published)))
                yield Finding(
                    rule="compose-port-scaled",
                    severity=Severity.ERROR,
                    certainty=Certainty.CERTAIN,
                    place=service.place("ports"),
                    effect=f"{count} containers want port {named} of this machine for {target}/{protocol}: those that"
                    " come too late aren't started",
                    fix=f'publish a range, such as "8080-{8080 + count - 1}:{target}", or put a proxy in front',
                )


RULES = (
    Rule("ignored-by-swarm", "keys that Swarm takes no notice of", _ignored_by_swarm),
    Rule("ignored-by-compose", "keys that Compose takes no notice of", _ignored_by_compose),
    Rule("address-ignored", "a port of one address, which Swarm opens on all of them", _address_ignored),
    Rule(
        "container-name-scaled", "a container name for several containers: refused by Compose", _container_name_scaled
    ),
    Rule("compose-port-scaled", "one port of the machine for several containers of Compose", _compose_port_scaled),
)
