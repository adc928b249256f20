"""What a stack file says of networks, volumes, configs and secrets, held against the engine and this machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from swarmtest.engine.client import Client
from swarmtest.running.finding import Finding
from swarmtest.stack import Stack

_NAMED = ("networks", "volumes", "configs", "secrets")


def taken_names(client: Client, stack: Stack) -> Iterator[Finding]:
    """Objects with a ``name:`` of their own that are there already.

    Swarm would mount somebody else's volume, and put this run's label on somebody else's config or secret,
    which would then be removed with the run.
    """
    for kind, key, body in _own(stack, _NAMED):
        name = str(body.get("name") or "")
        if name and name in _there(client, kind):
            yield Finding(
                "name",
                "missing",
                f"the {kind.removesuffix('s')} {key} has the name {name}, which is on the engine already and isn't"
                " this run's to use or to remove",
                "leave `name:` out, so that each run has its own, or say `external: true` where it's to be shared",
            )


def missing_files(stack: Stack) -> Iterator[Finding]:
    """Files whose contents become configs and secrets; the CLI says that one is missing only amid the deployment."""
    for kind, key, body in _own(stack, ("configs", "secrets")):
        named = body.get("file")
        path = stack.file.parent / Path(str(named)).expanduser() if named else None
        if path is not None and not path.is_file():
            problem = f"{kind}.{key}.file is {named}, and {path} isn't there"
            yield Finding("file", "missing", problem, "put it there, or correct the path")


def _own(stack: Stack, kinds: Iterable[str]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """What the file itself defines, by kind and key; what's external is somebody else's."""
    for kind in kinds:
        part = stack.source.tree.get(kind)
        for key, body in part.items() if isinstance(part, dict) else ():
            if isinstance(body, dict) and not body.get("external"):
                yield kind, key, body


def _there(client: Client, kind: str) -> set[str]:
    listed: Any = client.get(f"/{kind}")
    items = listed.get("Volumes") or [] if kind == "volumes" else listed
    return {str(item["Name"] if "Name" in item else item["Spec"]["Name"]) for item in items}
