"""A task out of the API's JSON, and how fast tasks come one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from swarmtest.engine import Pace, TaskView
from swarmtest.engine.client import parse_time
from swarmtest.stack import DEFAULT_GRACE_SECONDS, DEFAULT_MONITOR_SECONDS

_ENDED = ("complete", "shutdown", "failed", "rejected", "orphaned", "remove")


def task_view(item: Mapping[str, Any], service: str) -> TaskView:
    """A task out of the API's JSON."""
    status = item.get("Status") or {}
    container = status.get("ContainerStatus") or {}
    spec = item.get("Spec") or {}
    container_spec = spec.get("ContainerSpec") or {}
    grace = container_spec.get("StopGracePeriod")
    return TaskView(
        id=str(item["ID"]),
        service=service,
        slot=item.get("Slot"),
        node=str(item.get("NodeID", "")),
        container=container.get("ContainerID") or None,
        desired=str(item.get("DesiredState", "")),
        state=str(status.get("State", "")),
        message=str(status.get("Message", "")),
        error=status.get("Err") or None,
        exit_code=container.get("ExitCode") if status.get("State") in _ENDED else None,
        addresses=tuple(
            address.partition("/")[0]
            for attachment in item.get("NetworksAttachments") or ()
            for address in attachment.get("Addresses") or ()
        ),
        host_ports=_host_ports(status),
        grace_seconds=grace / 1e9 if grace is not None else None,
        image=str(container_spec.get("Image", "")),
        created=parse_time(item.get("CreatedAt")),
        force_update=int(spec.get("ForceUpdate") or 0),
    )


def _host_ports(status: Mapping[str, Any]) -> dict[str, int]:
    """Host port by target port. An engine with IPv6 lists two of each, which may differ; IPv4's is the first."""
    ports: dict[str, int] = {}
    for port in (status.get("PortStatus") or {}).get("Ports") or ():
        if port.get("PublishMode") == "host" and port.get("PublishedPort"):
            ports.setdefault(str(port["TargetPort"]), int(port["PublishedPort"]))
    return ports


def pace_of(spec: Mapping[str, Any], tasks: Iterable[Mapping[str, Any]]) -> Pace:
    """A rollout's pace, by a service's spec and its tasks; a task's status keeps the time of its last change."""
    policy = spec.get("UpdateConfig") or {}
    container = spec["TaskTemplate"].get("ContainerSpec") or {}
    grace = container.get("StopGracePeriod")
    starts = [
        parse_time(task["Status"].get("Timestamp")) - parse_time(task.get("CreatedAt"))
        for task in tasks
        if (task.get("Status") or {}).get("State") == "running"
    ]
    return Pace(
        replicas=int((spec["Mode"].get("Replicated") or {}).get("Replicas") or 1),
        parallelism=int(policy.get("Parallelism", 1)),
        order=str(policy.get("Order") or "stop-first"),
        delay_seconds=(policy.get("Delay") or 0) / 1e9,
        monitor_seconds=(policy.get("Monitor") or 0) / 1e9 or DEFAULT_MONITOR_SECONDS,
        grace_seconds=DEFAULT_GRACE_SECONDS if grace is None else grace / 1e9,
        start_seconds=max(starts, default=0.0),
        health_test=tuple((container.get("Healthcheck") or {}).get("Test") or ()),
    )
