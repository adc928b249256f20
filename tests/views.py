"""A task as the engine tells it, for tests that change what they need of it."""

from __future__ import annotations

from swarmtest.engine import TaskView

UP = TaskView(
    id="t1",
    service="api",
    slot=1,
    node="node1",
    container="c1",
    desired="running",
    state="running",
    message="started",
    error=None,
    exit_code=None,
    addresses=("10.0.1.7",),
    host_ports={},
    grace_seconds=30.0,
    image="demo",
    created=1.0,
    force_update=0,
)
