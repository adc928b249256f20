"""What to write instead of what a schema refuses."""

from __future__ import annotations

from swarmtest.lint import Target
from swarmtest.lint.schema import SchemaError
from swarmtest.stack.reader import near

_OF_COMPOSE_ONLY = {
    ("name",): "take it out; a stack's name is given to docker stack deploy",
    ("include",): "take it out, and give the files with -c each",
    ("services", "*", "depends_on"): "write a list of names: Swarm starts all services at once, whatever the list says",
    ("services", "*", "extends"): "write the service out, or merge a YAML anchor in (<<: *base)",
    ("services", "*", "pull_policy"): "take it out: a stack resolves each tag to a digest at the deploy",
    ("services", "*", "profiles"): "take it out: a stack has all of its services",
    ("services", "*", "scale"): "write deploy.replicas",
    ("services", "*", "cpus"): "write deploy.resources.limits.cpus",
    ("services", "*", "mem_reservation"): "write deploy.resources.reservations.memory",
    ("services", "*", "pids_limit"): "write deploy.resources.limits.pids",
    ("services", "*", "group_add"): "take it out: a stack can't set it (docker service create --group can)",
    ("services", "*", "develop"): "keep it in a file that only Compose is given",
}


def hint(error: SchemaError, target: Target) -> str:
    """What to write, in a sentence."""
    path = error.path
    general = ("services", "*", *path[2:]) if path[:1] == ("services",) and len(path) > 1 else path
    if target is Target.SWARM and general in _OF_COMPOSE_ONLY:
        return _OF_COMPOSE_ONLY[general]
    if error.unknown:
        return _of_unknown(error)
    if path[-1:] == ("published",):
        return "write the number without quotes; a variable may be in quotes, since what it's replaced by is cast"
    if "duration" in error.wanted:
        return 'write a number and a unit, such as "30s", "1m30s" or "500ms"; there are no days, and no spaces'
    if error.wanted == ("string",):
        unit = "30s" if _is_time(path) else "512M" if path[-1] == "memory" else ""
        return f"write it in quotes{unit and f', with a unit, such as {unit}'}"
    if error.wanted and set(error.wanted) <= {"integer", "number"}:
        return "write the number without quotes"
    if "null (nothing" in error.problem:
        return "write a value, or take the key out"
    return f"write {' or '.join(error.wanted)}" if error.wanted else "mend it"


def _of_unknown(error: SchemaError) -> str:
    close = near(error.path[-1], error.known)
    if close.startswith("did"):
        return f"{close} if not, take it out"
    if len(error.path) == 1:
        return "write it below services: if it's a service, or with x- before it if it's a note; else take it out"
    return "take it out, or write it where it belongs"


def _is_time(path: tuple[str, ...]) -> bool:
    return path[-1] in ("stop_grace_period", "interval", "timeout", "start_period", "delay", "monitor", "window")
