"""What ``docker stack config`` lets pass and ``docker stack deploy`` refuses, before or while it makes the services.

It's what docker/cli checks when it makes an engine's service of a stack's (``cli/compose/convert``), and what the
engine itself asks of a service; ``docker stack config`` doesn't get that far.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from swarmtest.lint import Certainty, Finding, Severity, Target
from swarmtest.lint.rules import Rule, Stack
from swarmtest.lint.services import LintService
from swarmtest.stack.syntax.interpolation import Unsure

Found = Iterator[tuple[tuple[str, ...], str, str]]

_CHOICES = {
    ("mode",): ("replicated", "global", "replicated-job", "global-job"),
    ("endpoint_mode",): ("vip", "dnsrr"),
    ("update_config", "failure_action"): ("pause", "continue", "rollback"),
    ("rollback_config", "failure_action"): ("pause", "continue", "rollback"),
    ("restart_policy", "condition"): ("none", "on-failure", "any"),
}
_CPUS = re.compile(r"[-+]?[0-9]*\.?[0-9]*(?:[eE][-+]?[0-9]+)?(?:/[0-9]+)?", re.ASCII)
_MOUNTS = ("bind", "volume", "tmpfs", "npipe", "cluster", "image")


def _refused(stack: Stack) -> Iterator[Finding]:
    if stack.document.target is not Target.SWARM:
        return
    tops = {part: _names(stack.document.tree.get(part)) for part in ("networks", "volumes", "secrets", "configs")}
    for service in stack.services:
        for find in (_image, _choices, _health, _cpus, _ports, _mounts):
            for path, effect, fix in find(service):
                yield _finding(service, path, effect, fix)
        for path, effect, fix in _references(service, tops):
            yield _finding(service, path, effect, fix)


def _finding(service: LintService, path: tuple[str, ...], effect: str, fix: str) -> Finding:
    return Finding(
        rule="docker-refuses-deploy",
        severity=Severity.ERROR,
        certainty=Certainty.CERTAIN,
        place=service.place(*path),
        effect=f"Docker will refuse this at the deploy, though docker stack config lets it pass: {effect}",
        fix=fix,
    )


def _names(part: Any) -> frozenset[str]:
    return frozenset(part) if isinstance(part, dict) else frozenset()


def _image(service: LintService) -> Found:
    if not service.image.text and service.image.sure and not service.has("build"):
        yield (
            (),
            f"{service.name} has no image",
            "write image: NAME:TAG; or lint it with the file that it's laid over: -c",
        )


def _choices(service: LintService) -> Found:
    for path, allowed in _CHOICES.items():
        value = service.value("deploy", *path)
        if isinstance(value, str) and value and not isinstance(value, Unsure) and value not in allowed:
            if path == ("endpoint_mode",) and value.lower() in allowed:
                continue  # docker/cli writes it small (cli/compose/convert/service.go)
            yield ("deploy", *path), f"{path[-1]} is {value}", f"write one of {', '.join(allowed)}"


def _health(service: LintService) -> Found:
    body = service.value("healthcheck")
    test = body.get("test") if isinstance(body, dict) else None
    if test and body.get("disable") is True and test != ["NONE"]:
        yield ("healthcheck", "disable"), "a health check can't be disabled and have a test", "keep one of the two"


def _cpus(service: LintService) -> Found:
    for part in ("limits", "reservations"):
        value = service.value("deploy", "resources", part, "cpus")
        if isinstance(value, str) and not isinstance(value, Unsure) and not _CPUS.fullmatch(value):
            path = ("deploy", "resources", part, "cpus")
            yield path, f"{value!r} is no number of processors", 'write a number in quotes, such as "0.5"'


def _ports(service: LintService) -> Found:
    """moby's API wants a port from 1 to 65535, and knows two modes and three protocols."""
    items = service.value("ports")
    for index, item in enumerate(items) if isinstance(items, list) else ():
        if not isinstance(item, dict) or any(isinstance(value, Unsure) for value in item.values()):
            continue
        for key, allowed in (("mode", ("ingress", "host")), ("protocol", ("tcp", "udp", "sctp"))):
            value = item.get(key)
            if isinstance(value, str) and value and value not in allowed:
                yield ("ports", str(index), key), f"the {key} is {value}", f"write one of {', '.join(allowed)}"
        target, published = item.get("target", 0), item.get("published", 0)
        if isinstance(target, int) and not 0 < target < 65536:
            yield ("ports", str(index), "target"), "the port of the container is missing", "write target: PORT"
        if isinstance(published, int) and published > 65535:
            yield ("ports", str(index), "published"), f"there's no port {published}", "write a number up to 65535"


def _mounts(service: LintService) -> Found:
    items = service.value("volumes")
    for index, item in enumerate(items) if isinstance(items, list) else ():
        kind = item.get("type") if isinstance(item, dict) else None
        if not isinstance(kind, str) or isinstance(kind, Unsure):
            continue
        wrong = next((other for other in ("bind", "volume", "tmpfs") if other != kind and item.get(other)), None)
        path = ("volumes", str(index))
        if kind not in _MOUNTS:
            yield path, f"there's no mount of the type {kind}", f"write one of {', '.join(_MOUNTS)}"
        elif wrong and kind in ("bind", "volume", "tmpfs"):
            yield (
                path,
                f"a mount of the type {kind} has no {wrong} options",
                f"take {wrong} out, or write type: {wrong}",
            )
        elif kind == "tmpfs" and item.get("source"):
            yield path, "a tmpfs has no source", "take source out"


def _references(service: LintService, tops: dict[str, frozenset[str]]) -> Found:
    networks = service.value("networks")
    for name in networks if isinstance(networks, (dict, list)) else ():
        if (
            isinstance(name, str)
            and name != "default"
            and not isinstance(name, Unsure)
            and name not in tops["networks"]
        ):
            yield ("networks",), f"there's no network {name} in the file", _under("networks", name)
    for index, mount in enumerate(service.mounts):
        if mount.kind == "volume" and mount.source and mount.source not in tops["volumes"] and _sure(service, index):
            yield (
                ("volumes", str(index)),
                f"there's no volume {mount.source} in the file",
                _under("volumes", mount.source),
            )
    for part in ("secrets", "configs"):
        items = service.value(part)
        for index, item in enumerate(items) if isinstance(items, list) else ():
            source = item.get("source") if isinstance(item, dict) else item
            if type(source) is str and source not in tops[part]:
                yield (part, str(index)), f"there's no {part[:-1]} {source} in the file", _under(part, source)


def _sure(service: LintService, index: int) -> bool:
    items = service.value("volumes")
    if not isinstance(items, list) or index >= len(items):
        return False
    item = items[index]
    return not isinstance(item.get("source") if isinstance(item, dict) else item, Unsure)


def _under(part: str, name: str) -> str:
    new = "" if part in ("configs", "secrets") else f"{name}: {{}}, or "
    return f"write it under the top-level {part}, as {new}{name}: {{external: true}} where it's there already"


def _env_file_not_there(stack: Stack) -> Iterator[Finding]:
    """A file may be put there before the deploy; one that's read from standard input has no folder to look in."""
    folder = stack.document.files[0].parent
    if not stack.document.files[0].is_file():
        return
    for key, name in _files(stack):
        if type(name) is str and name and not name.startswith("~") and not (folder / name).exists():
            yield Finding(
                rule="env-file-not-there",
                severity=Severity.INFO,
                certainty=Certainty.UNKNOWN,
                place=stack.document.place(*key),
                effect=f"{name} isn't there now, and Docker refuses the whole stack without it",
                fix=f"put {name} beside {stack.document.files[0].name} before the deploy, or mend the path",
            )


def _files(stack: Stack) -> Iterator[tuple[tuple[str, ...], Any]]:
    for service in stack.services:
        value = service.value("env_file")
        for item in value if isinstance(value, list) else [value]:
            needed = not isinstance(item, dict) or item.get("required", True) is True
            if needed:
                yield ("services", service.name, "env_file"), item.get("path") if isinstance(item, dict) else item


RULES = (
    Rule("docker-refuses-deploy", "what the deploy refuses, though docker stack config lets it pass", _refused),
    Rule("env-file-not-there", "an env_file that isn't there now", _env_file_not_there),
)
