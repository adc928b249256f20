"""The traffic children of a run: started, heard, and waited for to their last answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any

from swarmtest.errors import TrafficError
from swarmtest.interrupts import deferred
from swarmtest.running import Run
from swarmtest.running.order import traffic_settings
from swarmtest.traffic.process import TrafficProcess, write_targets
from swarmtest.traffic.settings import TrafficSettings

STEADY = ""
"""The client of the whole run; its words bear no name in the trace."""


def start_client(
    work: Run,
    undo: ExitStack,
    client: str = STEADY,
    changed: Callable[[TrafficSettings], TrafficSettings] = lambda settings: settings,
) -> TrafficProcess:
    """Starts a child, which calibrates at once and sends when it's told to; its end is put on ``undo``.

    Arguments:
        client: its name in the trace, and part of its files' names.
        changed: what it's told instead of what the order says.
    """
    folder, order = work.folder, work.order
    targets = folder.path / "targets.json" if order.brief.front_door.mode == "direct" else None
    if targets is not None and client == STEADY:
        write_targets(targets, [])
    settings = changed(traffic_settings(order, order.token, folder.requests, work.url, targets))
    name = "-".join(["traffic", *client.split()])

    def hear(message: Mapping[str, Any]) -> None:
        fields = dict(message)
        t = fields.pop("t", None)
        named = {"client": client} if client else {}
        work.trace.add("traffic", t=t if isinstance(t, float) else None, **fields, **named)
        work.guard.hear(client, message)

    with deferred():
        traffic = TrafficProcess(settings, folder.path / f"{name}.json", folder.path / f"{name}.log", hear)
        undo.callback(traffic.kill)
    return traffic


def await_answers(work: Run, traffic: TrafficProcess) -> None:
    """Waits for the last answer; a request that outlasts its own time-out is recorded as still open."""
    patience = work.order.brief.timeout_seconds + 15.0
    try:
        code = traffic.wait(patience)
    except TrafficError:
        traffic.hurry()
        code = traffic.wait(10.0)
    if code != 0:
        raise TrafficError(f"the traffic child ended with {code}; see {traffic.log_file}")
