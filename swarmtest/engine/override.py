"""What a run adds to a stack file, as a second file beside it."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from swarmtest.engine.labels import FOLDER_LABEL, HOST_LABEL, PROBE_SERVICE, RUN_LABEL


def override_file(
    path: Path, stack: Mapping[str, Any], *, run: str, service: str, probe: Mapping[str, Any] | None
) -> Path:
    """Writes what a run adds to a stack file: its labels on each service, and the name probe.

    The labels lead from a stack that's left over back to its run's folder, which ``path`` is in.
    The compose version is repeated, since older CLIs refuse to merge files of different versions.
    """
    labels = {RUN_LABEL: run, FOLDER_LABEL: _plain(str(path.parent.resolve())), HOST_LABEL: socket.gethostname()}
    services: dict[str, Any] = {name: {"deploy": {"labels": labels}} for name in stack["services"]}
    if probe is not None:
        networks = (stack["services"][service] or {}).get("networks")
        body = dict(probe)
        if networks:
            body["networks"] = list(networks)
        deploy = {"labels": labels, "restart_policy": {"condition": "none"}}
        services[PROBE_SERVICE] = {**body, "deploy": deploy}
    tree: dict[str, Any] = {"services": services}
    if "version" in stack:
        tree = {"version": stack["version"], **tree}
    path.write_text(json.dumps(tree, indent=1))
    return path


def _plain(text: str) -> str:
    """The text as compose has to be told it, which takes a dollar sign for the beginning of a variable."""
    return text.replace("$", "$$")
