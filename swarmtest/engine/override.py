"""What a run adds to a stack file, as a second file beside it."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from swarmtest.engine.labels import FOLDER_LABEL, HOST_LABEL, PROBE_SERVICE, RUN_LABEL
from swarmtest.stack.services import merged


def override_file(  # noqa: PLR0913 - each is a part of the file
    path: Path,
    stack: Mapping[str, Any],
    *,
    run: str,
    service: str,
    probe: Mapping[str, Any] | None,
    subject_extra: Mapping[str, Any] = MappingProxyType({}),
) -> Path:
    """Writes what a run adds to a stack file: its labels on each service, the name probe, the subject's changes.

    The labels lead from a stack that's left over back to its run's folder, which ``path`` is in.
    The compose version is repeated, since older CLIs refuse to merge files of different versions.

    Arguments:
        service: the subject.
        subject_extra: keys of the subject, which Docker puts over the file's own, mapping by mapping.
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
    services[service] = merged(services[service], subject_extra)
    tree: dict[str, Any] = {"services": services}
    if "version" in stack:
        tree = {"version": stack["version"], **tree}
    path.write_text(json.dumps(tree, indent=1))
    return path


def _plain(text: str) -> str:
    """The text as compose has to be told it, which takes a dollar sign for the beginning of a variable."""
    return text.replace("$", "$$")
