"""A run that was killed: its folder, and the engine on which its stack still is."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from swarmtest.engine.client import Client
from swarmtest.events import Event, TraceWriter, read_events
from swarmtest.recovery import Recovery
from swarmtest.recovery.updates import Waiting
from swarmtest.store import RunFolder
from tests.engine.conftest import _no_engine_but_ours, client, connect, engine
from tests.engine.fake_engine import LABEL, FakeEngine

__all__ = ["_no_engine_but_ours", "client", "connect", "engine"]

STACK = "swarmtest-api-abc"
FROZEN = {"task": "t2", "container": "c2" * 32, "slot": 2, "node": "node1"}


def act(number: int, name: str, edge: str = "began", **more: Any) -> dict[str, Any]:
    """The fields of an act of the trace."""
    given = {"instances": [], "before": {}, "settings": {}, "target": "api", "prepares": False, "lasting": False}
    return {"id": number, "name": name, "edge": edge, **given, **more}


def freeze(number: int, edge: str = "began", **more: Any) -> dict[str, Any]:
    before = {"containers": [FROZEN["container"]]}
    return act(number, "freeze", edge, instances=[FROZEN], before=before, lasting=True, **more)


def scale(number: int, before: int, edge: str = "began", **more: Any) -> dict[str, Any]:
    return act(number, "scale", edge, settings={"by": 2}, before={"replicas": before}, lasting=True, **more)


@dataclass
class Killed:
    """What's left of a run, and of what's said about it."""

    out: Path
    engine: FakeEngine
    client: Client
    said: list[str] = field(default_factory=list)

    def folder(self, *acts: dict[str, Any], name: str = "20261130T000000Z-freeze-api-abc", **more: Any) -> RunFolder:
        """A run's folder whose trace has these acts and no end, unless ``ended`` gives one."""
        folder = RunFolder(self.out / name)
        folder.requests.mkdir(parents=True)
        engine = more.pop("engine", {"identity": "ENGINE", "cluster": "CLUSTER"})
        stack = {"name": more.pop("stack", STACK), "service": "api"}
        folder.write_plan({"version": 1, "run": folder.path.name, "stack": stack, "engine": engine})
        with TraceWriter(folder.events, clock=lambda: 100.0) as trace:
            trace.add("trace", version=1, run=folder.path.name, offsets={}, locked=more.pop("locked", True))
            for fields in acts:
                trace.add("act", **fields)
            if (ended := more.pop("ended", None)) is not None:
                trace.add("ended", **ended)
        assert not more
        return folder

    def deploy(self, folder: RunFolder, name: str = STACK, replicas: int = 3, **labels: str) -> dict[str, Any]:
        """Puts a run's stack on the engine; gives its service."""
        own = {
            LABEL: name,
            "swarmtest.run": folder.path.name,
            "swarmtest.folder": str(folder.path.resolve()),
            "swarmtest.host": socket.gethostname(),
            **labels,
        }
        service = self.engine.add_service(name, "api", Mode={"Replicated": {"Replicas": replicas}}, Labels=own)
        self.engine.objects.setdefault("networks", []).append(
            {"Id": f"net-{name}", "Name": f"{name}_inner", "Labels": {LABEL: name}}
        )
        return service

    def contain(self, status: str = "paused") -> dict[str, Any]:
        """The container of the frozen instance."""
        container = {
            "Id": FROZEN["container"],
            "Names": [f"/{STACK}_api.2.t2"],
            "Labels": {LABEL: STACK},
            "Config": {"Labels": {LABEL: STACK}},
            "State": {"Status": status},
        }
        self.engine.objects.setdefault("containers", []).append(container)
        self.engine.gone_after[str(container["Id"])] = float("inf")
        return container

    def recovery(self, *, keep: bool = False) -> Recovery:
        waiting = Waiting(sleep=self.engine.sleep, clock=self.engine.now)
        return Recovery(self.client, self.client.info(), self.said.append, keep=keep, waiting=waiting)

    def text(self) -> str:
        return "\n".join(self.said)


def heals(folder: RunFolder) -> list[Event]:
    """The heal acts that a trace says were carried out."""
    return [e for e in read_events(folder.events) if e.get("name") == "heal" and e.get("outcome") == "ok"]


def end_of(folder: RunFolder) -> Event | None:
    return next((event for event in reversed(list(read_events(folder.events))) if event.kind == "ended"), None)


@pytest.fixture
def killed(tmp_path: Path, engine: FakeEngine, connect: Callable[[FakeEngine], Client]) -> Killed:
    engine.swarm["Cluster"] = {"ID": "CLUSTER"}
    made = Killed(tmp_path / "runs", engine, connect(engine))
    made.out.mkdir()
    engine.before = lambda verb, path: _freezer(engine, verb, path)
    return made


def _freezer(engine: FakeEngine, verb: str, path: str) -> tuple[int, Any] | None:
    """Lets a container go on, and takes it away with its service."""
    if verb == "POST" and path.endswith("/unpause"):
        for container in engine.objects.get("containers", []):
            if container["Id"] in path:
                was, container["State"]["Status"] = container["State"]["Status"], "running"
                return (204, None) if was == "paused" else (500, {"message": "Container is not paused"})
    if verb == "DELETE" and path.startswith("/services/"):
        engine.objects["containers"] = []
    return None


def document(folder: RunFolder) -> Any:
    return json.loads(folder.verdicts.read_text())
