"""Ports that are taken on the node itself, by publishing or by the node's own network."""

from __future__ import annotations

from collections.abc import Iterator

from swarmtest.lint import Certainty, Finding, Severity
from swarmtest.lint.rolling import at_once, host_network, instances, one_node, rolls
from swarmtest.lint.rules import Rule, Stack
from swarmtest.lint.services import LintService
from swarmtest.lint.wording import listed

_Holder = tuple[LintService, str]
"""A service, and the mode in which it publishes a port."""


def _start_first_host_port(stack: Stack) -> Iterator[Finding]:
    """zane-ops/zane-ops #535, moby/moby #36934: never scheduled, and not counted as a failure."""
    for service in stack.services:
        fixed = [port for port in service.ports if port.mode == "host" and port.published is not None]
        if not rolls(service) or not fixed:
            continue
        named = listed(f"{port.published}/{port.protocol}" for port in fixed)
        certain = service.mode == "global" or one_node(service) is not None
        for key, policy in (("update_config", service.update), ("rollback_config", service.rollback)):
            if policy.order != "start-first":
                continue
            yield Finding(
                rule="start-first-host-port",
                severity=Severity.ERROR,
                certainty=Certainty.CERTAIN if certain else Certainty.LIKELY,
                place=service.place("deploy", key, "order"),
                effect=f"the new task needs {named} while the old one holds it{_where(service)}: it stays pending, and"
                " Swarm doesn't count that as a failure; there's no pause and no rollback, and the"
                f" {key.removesuffix('_config')} never ends",
                fix="write order: stop-first, and take the node out of the outer load balancer before its turn; or"
                " publish by ingress; or leave out published, where the clients find the port by themselves",
            )
            break


def _where(service: LintService) -> str:
    if service.mode == "global" or one_node(service):
        return " on the same node"
    count, batch = instances(service), at_once(service, service.update)
    if count is None or batch is None:
        return ", unless another node has it free"
    return f", unless {count + batch} nodes may run this service"


def _start_first_host_network(stack: Stack) -> Iterator[Finding]:
    """The scheduler knows nothing of the ports that a process opens in the node's own network."""
    for service in stack.services:
        if not rolls(service) or service.update.order != "start-first" or not host_network(service):
            continue
        everywhere = service.mode == "global"
        yield Finding(
            rule="start-first-host-network",
            severity=Severity.ERROR if everywhere else Severity.WARNING,
            certainty=Certainty.LIKELY,
            place=service.place("deploy", "update_config", "order"),
            effect="in the network of the node, the new process can't listen on a port that the old one still has"
            + (" on the same node" if everywhere else ", if it comes to the same node")
            + "; it ends with an error, again and again, and the update fails",
            fix="write order: stop-first; or let the process open its port with SO_REUSEPORT, and silence this",
        )


def _dnsrr_ingress_port(stack: Stack) -> Iterator[Finding]:
    """swarmkit ``manager/controlapi/service.go``, ``validateEndpointSpec``."""
    for service in stack.services:
        ports = [port for port in service.ports if port.mode == "ingress"]
        if not service.swarm or str(service.value("deploy", "endpoint_mode")).lower() != "dnsrr" or not ports:
            continue
        named = listed(str(port.published or port.target) for port in ports)
        yield Finding(
            rule="dnsrr-ingress-port",
            severity=Severity.ERROR,
            certainty=Certainty.CERTAIN,
            place=service.place("deploy", "endpoint_mode"),
            effect=f"the engine refuses the service: dnsrr gives the routing mesh of port {named} no address",
            fix="write mode: host at the port, or endpoint_mode: vip",
        )


def _port_published_twice(stack: Stack) -> Iterator[Finding]:
    """swarmkit ``checkPortConflicts``: two services may share a port in host mode, and in no other way."""
    taken: dict[tuple[int, str], list[_Holder]] = {}
    for service in stack.services:
        for port in service.ports if service.swarm else ():
            if port.published is None:
                continue
            holders = taken.setdefault((port.published, port.protocol), [])
            mine = (service, port.mode)
            other = next((each for each in holders if _clash(mine, each)), None)
            holders.append(mine)
            if other is not None:
                yield _published_twice(f"{port.published}/{port.protocol}", mine, other)


def _published_twice(port: str, mine: _Holder, other: _Holder) -> Finding:
    service, itself = mine[0], mine[0] is other[0]
    if itself:
        effect = f"port {port} is published twice by this service, which the engine refuses"
    elif mine[1] == other[1] == "host":
        effect = f"port {port} of each node is wanted by {other[0].name}, too: the tasks of one of the two stay pending"
    else:
        effect = f"port {port} is published by {other[0].name}, too: the engine refuses the second service"
    return Finding(
        rule="port-published-twice",
        severity=Severity.ERROR,
        certainty=Certainty.CERTAIN,
        place=service.place("ports"),
        effect=effect,
        fix="publish it once" if itself else "publish one of the two under another number",
    )


def _clash(mine: _Holder, other: _Holder) -> bool:
    if mine[0] is other[0] or "ingress" in (mine[1], other[1]):
        return True
    apart = mine[0].has("deploy", "placement") or other[0].has("deploy", "placement")
    return mine[0].mode == other[0].mode == "global" and not apart


RULES = (
    Rule(
        "start-first-host-port",
        "start-first beside a fixed port in host mode: the new task can't be scheduled",
        _start_first_host_port,
    ),
    Rule(
        "start-first-host-network",
        "start-first in the network of the node: two processes want one port",
        _start_first_host_network,
    ),
    Rule(
        "dnsrr-ingress-port",
        "endpoint_mode dnsrr beside a port of the routing mesh: refused",
        _dnsrr_ingress_port,
    ),
    Rule("port-published-twice", "one port, published by two services: refused", _port_published_twice),
)
