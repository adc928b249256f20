"""Why a service isn't up: states, errors and the last word of its health check, for messages to people."""

from __future__ import annotations

from collections.abc import Iterable

from swarmtest.engine import TaskView
from swarmtest.engine.client import Client
from swarmtest.errors import EngineError


def health_output(client: Client, container: str) -> str | None:
    """State and last output of a container's health check, None where it has none or is gone."""
    try:
        health = (client.get(f"/containers/{container}/json").get("State") or {}).get("Health")
    except EngineError:
        return None
    if not health:
        return None
    log = health.get("Log") or []
    last = log[-1] if log else {}
    output = str(last.get("Output", "")).strip().splitlines()
    said = output[-1] if output else "(no output)"
    return f"{health.get('Status')}, last probe exited {last.get('ExitCode', '?')}: {said}"


def why_not_up(client: Client, service: str, tasks: Iterable[TaskView]) -> str:
    """One paragraph on a service that isn't up: the newest tasks that don't run, their errors and health."""
    mine = sorted((task for task in tasks if task.service == service), key=lambda task: -task.created)
    if not mine:
        return f"{service}: no task was ever made"
    lines = []
    for task in ([task for task in mine if not task.up] or mine[:1])[:3]:
        line = f"{service}.{task.slot or task.node[:6]}: {task.state} (wanted: {task.desired})"
        if task.state == "preparing":
            line += ", which fetches its image and makes its network: `journalctl -u docker` on its node says more"
        if task.error:
            line += f": {task.error}"
        if task.container and (health := health_output(client, task.container)):
            line += f"; health: {health}"
        lines.append(line)
    return "\n  ".join(lines)
