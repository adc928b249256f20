"""Stops, stacks and runs made of numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from swarmtest.losses.mechanisms import Mechanism
from swarmtest.reports import CheckEntry
from swarmtest.stack.block.brief import read_brief
from swarmtest.stack.services import read_stack
from swarmtest.tune.seeing import Seen
from swarmtest.tune.stops import Stop
from swarmtest.tune.trials import Tuned

STACK = """\
x-swarmtest:
  service: api
  front_door: {service: edge, detects: dns, within: 1s}
  traffic: {path: /work, rate: 20/s}
  longest_request: 7s
services:
  api:
    image: api:1
    healthcheck: {test: [CMD, /healthy], interval: 2s, timeout: 2s, retries: 3}
    stop_grace_period: 30s
    deploy:
      replicas: 3
      update_config: {order: start-first, parallelism: 1, delay: 5s, monitor: 15s}
      rollback_config: {order: start-first}
  edge: {image: edge:1, ports: [{target: 80, published: 8080, mode: host}]}
"""


def tuned(folder: Path, text: str = STACK, **how: Any) -> Tuned:
    file = folder / "stack.yml"
    file.write_text(text)
    stack = read_stack(file, {})
    return Tuned(stack, read_brief(stack), **how)


def stop(run: int = 1, seconds: float = 5.2, **how: Any) -> Stop:
    """A stop that counts: 3 s of wait, and a closing of 0.2 s."""
    base = Stop(
        run=run,
        instance="api.1",
        task="task1",
        grace_seconds=60.0,
        propagation_seconds=0.3,
        wait_seconds=3.0,
        closed=True,
        drain_seconds=seconds - 0.2,
        closing_seconds=0.2,
        stop_seconds=seconds,
        error_seconds=0.01,
    )
    return replace(base, **how)


def seen(stops: tuple[Stop, ...] = (stop(),), **how: Any) -> Seen:
    """A run in which all went well."""
    checks = {"answered_every_request": CheckEntry("answered_every_request", "passed", "All were answered.")}
    return replace(
        Seen(
            folder="run", outcome="passed", sent=1000, lost=0, unproved=0, stops=stops, checks=checks, told=len(stops)
        ),
        **how,
    )


def failed(name: str, advice: str, way: Mechanism, **how: Any) -> Seen:
    """A run in which a check failed, by a mechanism."""
    checks = {name: CheckEntry(name, "failed", "It failed.", [], advice)}
    return seen(checks=checks, endings=(way,), outcome="failed", **how)
