"""How many are gone at once while a service is replaced, and what takes their place."""

from __future__ import annotations

from collections.abc import Iterator

from swarmtest.lint import Certainty, Finding, Severity
from swarmtest.lint.programs.writers import shared_volumes
from swarmtest.lint.rolling import at_once, instances, rolls, runs_once, start_first, takes_from_a_queue, writes_alone
from swarmtest.lint.rules import Rule, Stack
from swarmtest.lint.services import LintService
from swarmtest.lint.wording import listed

_ORDER = ("deploy", "update_config", "order")
_PARALLELISM = ("deploy", "update_config", "parallelism")


def _stops_all_at_once(stack: Stack) -> Iterator[Finding]:
    """moby/moby #29148, #40589, #34111; ``updater.go`` of swarmkit takes parallelism 0 for all of them."""
    for service in stack.services:
        if runs_once(service):
            continue
        if not service.swarm and _expects_more(service):
            yield from _recreated(service)
        elif not rolls(service) or service.update.order != "stop-first" or not service.has("image"):
            continue
        elif service.mode == "global":
            yield from _on_all_nodes(service)
        else:
            yield from _all_replicas(service)


def _all_replicas(service: LintService) -> Iterator[Finding]:
    count, batch = instances(service), at_once(service, service.update)
    if not count or batch is None or batch < count:
        return
    severity, certainty, loss = _weight(service)
    if severity is Severity.INFO and service.has(*_ORDER):
        return  # it was chosen
    default = "" if service.has(*_ORDER) else ", the default"
    with_ = f", with parallelism {service.update.parallelism}" if count > 1 else ""
    gone = "the only instance is" if count == 1 else f"all {count} instances are"
    yield Finding(
        rule="stops-all-at-once",
        severity=severity,
        certainty=certainty,
        place=service.place(*(_ORDER if count == 1 else _PARALLELISM)),
        effect=f"stop-first{default}{with_}: {gone} stopped before a new one starts, and {loss} until"
        " that has been pulled, started and found healthy",
        fix=_cure(service, count),
    )


def _on_all_nodes(service: LintService) -> Iterator[Finding]:
    if service.update.parallelism == 0:
        yield Finding(
            rule="stops-all-at-once",
            severity=Severity.ERROR,
            certainty=Certainty.CERTAIN,
            place=service.place(*_PARALLELISM),
            effect="parallelism 0 means all at once: the instances of all nodes are stopped before a new one starts",
            fix="write parallelism: 1",
        )


def _recreated(service: LintService) -> Iterator[Finding]:
    """docker/compose ``pkg/compose/convergence.go``: each container is recreated in a routine of its own."""
    count = instances(service)
    if not count or service.mode in ("replicated-job", "global-job"):
        return
    severity, certainty, loss = _weight(service)
    if severity is Severity.ERROR and count > 1:
        severity, certainty = Severity.WARNING, Certainty.LIKELY
    yield Finding(
        rule="stops-all-at-once",
        severity=severity,
        certainty=certainty,
        place=service.place(),
        effect=("Compose stops the only container" if count == 1 else f"Compose stops all {count} containers at once")
        + f" and starts the new {'one' if count == 1 else 'ones'} afterwards, whatever deploy says: {loss} meanwhile",
        fix="deploy it as a stack with order: start-first; or start the new version beside the old one, under a"
        " second service, and let the proxy change over",
    )


def _expects_more(service: LintService) -> bool:
    """Whether a file for Compose says how many there are, or how they're to be replaced."""
    return service.has("deploy", "replicas") or service.has("deploy", "update_config") or service.has("scale")


def _compose_recreates(stack: Stack) -> Iterator[Finding]:
    """One for the whole stack: of a file that asks for nothing else it's no surprise."""
    plain = [
        service.name
        for service in stack.services
        if not (service.swarm or _expects_more(service) or service.has("profiles"))
        and (service.ports or service.health is not None)
    ]
    if plain:
        yield Finding(
            rule="compose-recreates",
            severity=Severity.INFO,
            certainty=Certainty.CERTAIN,
            place=stack.document.place("services"),
            effect=f"Compose stops a container before it starts the new one: {listed(plain)} can't be reached from then"
            " until the new one serves",
            fix="deploy it as a stack with order: start-first, or put a proxy in front of two services that take turns",
        )


def _weight(service: LintService) -> tuple[Severity, Certainty, str]:
    if writes_alone(service):
        return Severity.INFO, Certainty.LIKELY, "nobody answers"
    if takes_from_a_queue(service):
        return Severity.INFO, Certainty.LIKELY, "its work waits"
    if service.has(*_ORDER) and next(shared_volumes(service), None):  # a gap, or two on one volume: it was weighed
        return Severity.INFO, Certainty.LIKELY, "nobody answers"
    return Severity.ERROR, Certainty.CERTAIN, "nobody serves"


def _cure(service: LintService, count: int) -> str:
    if writes_alone(service):
        return "leave it: what writes its data alone has a gap when it's replaced; update it apart from its clients"
    if takes_from_a_queue(service):
        return "leave it, if the queue keeps what's waiting; see that the grace is longer than the longest job"
    if count > 1:
        return "write parallelism: 1, or order: start-first"
    if any(port.mode == "host" and port.published is not None for port in service.ports):
        return (
            "run one on each of two nodes behind a load balancer; or publish by ingress, and write order: start-first"
        )
    if mount := next(shared_volumes(service), None):
        return f"write order: start-first, if two processes may share the volume {mount.source} for a moment"
    return "write order: start-first, with a health check that's green when it can serve"


def _start_first_all_at_once(stack: Stack) -> Iterator[Finding]:
    for service in stack.services:
        count, batch = instances(service), at_once(service, service.update)
        everywhere = service.mode == "global" and service.update.parallelism == 0
        if not start_first(service) or not (everywhere or (count and count > 1 and batch == count)):
            continue
        many = "one more on each node" if everywhere else f"{count} more beside the {count}"
        yield Finding(
            rule="start-first-all-at-once",
            severity=Severity.WARNING,
            certainty=Certainty.CERTAIN,
            place=service.place(*_PARALLELISM),
            effect=f"parallelism {service.update.parallelism} with start-first starts all new instances at once: "
            f"{many}, which takes twice the memory, processor and connections, and puts a bad version everywhere",
            fix="write parallelism: 1",
        )


def _single_instance(stack: Stack) -> Iterator[Finding]:
    """moby/moby #34139, #33220: ``update_config`` is for updates, and for nothing else that ends a task."""
    for service in stack.services:
        if not start_first(service) or service.replicas != 1 or service.mode == "global" or writes_alone(service):
            continue
        yield Finding(
            rule="single-instance",
            severity=Severity.INFO,
            certainty=Certainty.CERTAIN,
            place=service.place("deploy", "replicas"),
            effect="start-first covers updates only: when the one instance crashes, or its node is drained or lost,"
            " nobody serves until another one is healthy",
            fix="write replicas: 2, if that matters; before a node is drained, scale up",
        )


def _halves_capacity(stack: Stack) -> Iterator[Finding]:
    for service in stack.services:
        if not rolls(service) or service.update.order != "stop-first" or takes_from_a_queue(service):
            continue
        count, batch = instances(service), at_once(service, service.update)
        if not count or batch is None or not count / 2 <= batch < count:
            continue
        yield Finding(
            rule="stop-first-halves-capacity",
            severity=Severity.INFO,
            certainty=Certainty.CERTAIN,
            place=service.place(*(_PARALLELISM if batch > 1 else _ORDER)),
            effect=f"stop-first takes {batch} of {count} instances away at a time: {count - batch} serve"
            f"{'s' if count - batch == 1 else ''} all the traffic until the new ones are healthy",
            fix="write order: start-first, or more replicas",
        )


RULES = (
    Rule("stops-all-at-once", "every instance is stopped before a new one starts: an outage", _stops_all_at_once),
    Rule("compose-recreates", "under Compose each change of a container is a gap", _compose_recreates),
    Rule(
        "start-first-all-at-once",
        "start-first for all instances at once: twice of everything",
        _start_first_all_at_once,
    ),
    Rule("single-instance", "one instance: an update has no gap, and everything else has", _single_instance),
    Rule("stop-first-halves-capacity", "half of the instances or more are away at a time", _halves_capacity),
)
