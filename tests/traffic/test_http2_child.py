"""The traffic child with a kind of HTTP/2 in its mix: from the calibration to the last line."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from swarmtest.traffic.http2_range import Http2Range
from swarmtest.traffic.process import TrafficProcess
from swarmtest.traffic.settings import Kind, TrafficSettings


def lines_of(folder: Path, stem: str) -> list[dict[str, Any]]:
    return [json.loads(line) for path in folder.glob(f"{stem}-*.jsonl") for line in path.read_text().splitlines()]


def wait_until(holds: Callable[[], object]) -> None:
    until = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_requests_share_connections_and_each_connection_leaves_a_line(tmp_path: Path) -> None:
    out = tmp_path / "requests"
    with Http2Range("X-Instance-ID", "X-Request-ID") as server:
        url = f"http://{server.door_of(0, 'whole').label}"
        kinds = [Kind(name="many", path="/work", rate=40.0, protocol="h2", streams=4)]
        settings = TrafficSettings(run="r1", out=str(out), url=url, kinds=kinds)
        child = TrafficProcess(settings, tmp_path / "traffic.json", tmp_path / "traffic.log")
        try:
            shot = child.wait_until_calibrated()
            child.go()
            wait_until(lambda: len(lines_of(out, "requests")) > 40)
            child.stop()
            assert child.wait(20) == 0
        finally:
            child.kill()
    assert shot["counted"]["refused_stream"] == shot["expected"]["refused_stream"] > 0
    requests, connections = lines_of(out, "requests"), lines_of(out, "connections")
    assert {(one["protocol"], one["client_outcome"]) for one in requests} == {("h2", "complete")}
    assert {one["connection"] for one in requests} == {one["connection"] for one in connections}
    assert sum(one["streams"] for one in connections) == len(requests)
    assert {one["ended_by"] for one in connections} == {"client"}
    assert sum(one["reused"] for one in requests) == len(requests) - len(connections)
    assert max(one["streams"] for one in connections) > 4 >= min(one["streams"] for one in connections)
