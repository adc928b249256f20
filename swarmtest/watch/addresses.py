"""Where the instances are reached that the client dials itself."""

from __future__ import annotations

from collections.abc import Callable

from swarmtest.engine import TaskView


def targets_of(tasks: tuple[TaskView, ...], service: str, host: Callable[[str], str]) -> list[str]:
    """Addresses of the host ports of all instances that are wanted and running, for the direct front door."""
    return sorted(
        f"[{host(task.node)}]:{port}" if ":" in host(task.node) else f"{host(task.node)}:{port}"
        for task in tasks
        if task.service == service and task.up
        for port in task.host_ports.values()
    )
