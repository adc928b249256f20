"""What a run adds to a stack file, as a second file beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from swarmtest.engine.labels import PROBE_SERVICE, RUN_LABEL


def override_file(
    path: Path, stack: Mapping[str, Any], *, run: str, service: str, probe: Mapping[str, Any] | None
) -> Path:
    """Writes what a run adds to a stack file: its label on each service, and the name probe.

    The compose version is repeated, since older CLIs refuse to merge files of different versions.
    """
    services: dict[str, Any] = {name: {"deploy": {"labels": {RUN_LABEL: run}}} for name in stack["services"]}
    if probe is not None:
        networks = (stack["services"][service] or {}).get("networks")
        body = dict(probe)
        if networks:
            body["networks"] = list(networks)
        deploy = {"labels": {RUN_LABEL: run}, "restart_policy": {"condition": "none"}}
        services[PROBE_SERVICE] = {**body, "deploy": deploy}
    tree: dict[str, Any] = {"services": services}
    if "version" in stack:
        tree = {"version": stack["version"], **tree}
    path.write_text(json.dumps(tree, indent=1))
    return path
