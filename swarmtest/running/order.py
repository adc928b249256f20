"""What one run is told to do, and the plan that's written down before anything happens."""

from __future__ import annotations

import importlib.metadata
import platform
import re
import secrets
from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass, field
from pathlib import Path
from typing import Any

from swarmtest.engine import EngineInfo
from swarmtest.engine.labels import PROBE_SERVICE
from swarmtest.errors import UsageError
from swarmtest.limits import Limit
from swarmtest.plan import Plan
from swarmtest.running.guard import Limit as ShareLimit
from swarmtest.stack import Service, Stack
from swarmtest.stack.block.bodies import DEFAULT_CHUNK
from swarmtest.stack.block.brief import Brief
from swarmtest.traffic.settings import Kind, Retries, Stage, TrafficSettings
from swarmtest.traffic.settings_file import masked

LONGEST_NAME = 63
"""Longest name of a service that Swarm takes: it's a label of DNS."""
_PACKAGES = ("swarmtest", "docker", "locust", "gevent", "httptools", "duckdb")


@dataclass(frozen=True, slots=True)
class Order:
    """One run.

    Attributes:
        checks: names of what will judge the run; only written down here.
        name: the stack's name on the engine.
        out: the folder that runs' folders are put into.
        init_swarm: make this engine a one-node swarm where swarm mode is off.
        kind: ``orderly`` or ``destructive``; only written down here.
        deployed_with: keys put over the subject's own; ``stack`` is read with them already.
        stop_at: what may be lost before the run is stopped; None for any.
        limits: what will be a verdict each; those that abort are minded while it runs.
        not_asked: which limits this run isn't held to, or not while it runs, and why; written into the trace.
        beforehand: what the stack file alone tells; written into the trace, too, and shown before anything is deployed.
    """

    stack: Stack
    brief: Brief
    scenario_name: str
    plan: Plan
    checks: tuple[str, ...]
    out: Path
    name: str
    token: str
    seed: int = 42
    init_swarm: bool = False
    kind: str = "orderly"
    deployed_with: Mapping[str, Any] = field(default_factory=dict)
    stop_at: ShareLimit | None = None
    limits: tuple[Limit, ...] = ()
    not_asked: tuple[str, ...] = ()
    beforehand: tuple[str, ...] = ()

    @property
    def subject(self) -> Service:
        """The service under test."""
        return self.stack.services[self.brief.service]


def new_token() -> str:
    """Six hex digits that tell this run's names from those of other runs."""
    return secrets.token_hex(3)


def stack_name(stack: Stack, token: str) -> str:
    """A stack name of our own: short, since a service's name with its stack's has 63 characters at most."""
    room = _room(stack) - len(f"swarmtest--{token}")
    stem = re.sub(r"[^a-z0-9]+", "-", stack.file.stem.lower())[: max(0, min(room, 20))].strip("-")
    return f"swarmtest-{stem}-{token}" if stem else f"swarmtest-{token}"


def given_name(text: str, stack: Stack) -> str:
    """A stack's name from ``--name``; raises :class:`UsageError` for what Docker would refuse later."""
    room = _room(stack)
    if not re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9_-]*[A-Za-z0-9])?", text) or len(text) > room:
        raise UsageError(
            f"--name: expected up to {room} letters, digits, - and _, found {text!r}; it begins each service's name"
        )
    return text


def _room(stack: Stack) -> int:
    return LONGEST_NAME - 1 - max(len(name) for name in (*stack.services, PROBE_SERVICE))


def traffic_settings(order: Order, run: str, out: Path, url: str | None, targets: Path | None) -> TrafficSettings:
    """What the traffic child is told."""
    brief = order.brief
    return TrafficSettings(
        run=run,
        out=str(out.resolve()),
        url=url,
        targets_file=str(targets.resolve()) if targets is not None else None,
        instance_header=brief.instance_header,
        request_id_header=brief.request_id_header,
        seed=order.seed,
        timeout_seconds=brief.timeout_seconds,
        fresh_share=brief.fresh_share,
        processes=brief.processes,
        workers=brief.workers,
        listen=brief.listen,
        kinds=[
            Kind(
                name=kind.name,
                method=kind.method,
                path=kind.path,
                paths=list(kind.paths),
                protocol=kind.protocol,
                rate=kind.rate,
                milliseconds=tuple(int(ms) for ms in kind.milliseconds or (0, 0)),  # type: ignore[arg-type]
                body_bytes=kind.body_bytes,
                headers=dict(kind.headers or {}),
                end_marker=kind.end_marker,
                expect_bytes=kind.expect_bytes,
                count=kind.count,
                arrivals=kind.arrivals,  # type: ignore[arg-type]
                stages=[Stage(*astuple(stage)) for stage in kind.shape.stages] if kind.shape is not None else [],
                repeats=kind.shape is not None and kind.shape.repeats,
                sessions=kind.sessions,
                streams=kind.streams or 1,
                bytes=kind.large.length if kind.large is not None else None,
                piece_bytes=kind.large.chunk if kind.large is not None else DEFAULT_CHUNK,
                sha256=kind.large.sha256 if kind.large is not None else None,
                retries=Retries(**{**asdict(kind.retries), "on": list(kind.retries.on)}) if kind.retries else None,
            )
            for kind in brief.kinds
        ],
    )


def plan_document(
    order: Order, run: str, info: EngineInfo, url: str | None, images: dict[str, dict[str, object]]
) -> dict[str, Any]:
    """``plan.json``: all that a verdict is worth nothing without."""
    brief, subject = order.brief, order.subject
    return {
        "version": 1,
        "run": run,
        "scenario": order.scenario_name,
        "kind": order.kind,
        "seed": order.seed,
        "stack": _promises(order, subject),
        "front_door": asdict(brief.front_door),
        "url": url,
        "instance_header": brief.instance_header,
        "request_id_header": brief.request_id_header,
        "traffic": {
            "timeout_seconds": brief.timeout_seconds,
            "fresh_share": brief.fresh_share,
            "processes": brief.processes,
            "workers": brief.workers,
            "longest_request_seconds": brief.longest_seconds,
            "taken": list(brief.traffic_words),
            "kinds": [asdict(kind) | {"headers": masked(kind.headers or {})} for kind in brief.kinds],
        },
        "engine": info.as_json(),
        "images": images,
        "steps": [step.as_json(brief.baseline_seconds) for step in order.plan.steps],
        "guards": {
            "stop_at": _limit(order.stop_at),
            "floor": order.plan.floor,
            "most_hurts": order.plan.most_hurts,
        },
        "deployed_with": dict(order.deployed_with),
        "cold_start": asdict(brief.cold_start),
        "checks": list(order.checks),
        "limits": [asdict(limit) for limit in order.limits],
        "not_asked": list(order.not_asked),
        "versions": {"python": platform.python_version()} | {name: _version(name) for name in _PACKAGES},
    }


def _limit(limit: ShareLimit | None) -> dict[str, float] | None:
    return None if limit is None else {"share": limit.share, "seconds": limit.seconds}


def _promises(order: Order, subject: Service) -> dict[str, Any]:
    return {
        "file": str(order.stack.file),
        "name": order.name,
        "service": subject.name,
        "image": subject.image,
        "mode": subject.mode,
        "replicas": subject.replicas,
        "endpoint_mode": subject.endpoint_mode,
        "fixed_ports": [port.published for port in subject.ports if port.published and port.mode == "host"],
        **asdict(subject.update),
        "rollback": asdict(subject.rollback),
        "grace_seconds": subject.grace_seconds,
        "stop_signal": subject.stop_signal,
        "healthcheck": asdict(subject.health) if subject.health is not None else None,
        "health_disabled": subject.health_disabled,
        "restart_condition": subject.restart_condition,
        "restart_delay_seconds": subject.restart_delay_seconds,
        "restart_max_attempts": subject.restart_max_attempts,
    }


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "a checkout that isn't installed" if package == "swarmtest" else None
