"""Takes the services out of a document, and never stops at what Docker would refuse."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any

from swarmtest.lint import Target
from swarmtest.lint.document import Document, Unsure
from swarmtest.lint.services import Health, Image, LintService, Mount, Policy, Restart
from swarmtest.stack import DEFAULT_GRACE_SECONDS, DEFAULT_MONITOR_SECONDS, Port
from swarmtest.stack.ports import ports_of
from swarmtest.stack.reader import whole_number
from swarmtest.stack.syntax.durations import parse_duration
from swarmtest.stack.syntax.scalars import as_text
from swarmtest.stack.syntax.shellwords import split
from swarmtest.stack.syntax.volumes import short_mount


def services_of(document: Document) -> Iterator[LintService]:
    """Each service that is a mapping; what isn't one, Docker refuses."""
    services = document.tree.get("services")
    for name, body in services.items() if isinstance(services, dict) else ():
        if isinstance(body, dict):
            yield _service(document, str(name), body)


def _service(document: Document, name: str, body: Mapping[str, Any]) -> LintService:
    deploy = _part(body, "deploy")
    health, disabled = _health(body)
    return LintService(
        name=name,
        document=document,
        body=body,
        image=image_of(body.get("image")),
        mode=_choice(deploy, "mode", ("replicated", "global", "replicated-job", "global-job"), "replicated"),
        replicas=_whole(deploy, "replicas", 1),
        update=_policy(deploy, "update_config"),
        rollback=_policy(deploy, "rollback_config"),
        restart=_restart(body, deploy),
        health=health,
        health_disabled=disabled,
        grace_seconds=_seconds(body, "stop_grace_period", DEFAULT_GRACE_SECONDS),
        stop_signal=_text(body.get("stop_signal")) or None,
        init=body.get("init") in (True, "true"),
        command=_words(body.get("command"), document.target),
        entrypoint=_words(body.get("entrypoint"), document.target),
        environment=_environment(body.get("environment")),
        mounts=tuple(_mounts(body.get("volumes"))),
        ports=tuple(_ports(body.get("ports"))),
        max_replicas_per_node=_whole(_part(deploy, "placement"), "max_replicas_per_node", 0) or None,
    )


def image_of(value: object) -> Image:
    """An image's name, taken apart."""
    text = _text(value) or ""
    rest, _, digest = text.partition("@")
    head, slash, last = rest.rpartition("/")
    name, _, tag = last.partition(":")
    return Image(text, head + slash + name, name, tag, digest, not isinstance(value, Unsure))


def _part(body: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = body.get(key)
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return None if value is None or isinstance(value, (dict, list)) else as_text(value)


def _whole(body: Mapping[str, Any], key: str, default: int) -> int | None:
    value = body.get(key)
    if isinstance(value, float) and isfinite(value):
        return int(value)  # where the schema lets a fraction pass (retries), Docker cuts it off
    return default if value is None else None if isinstance(value, Unsure) else whole_number(value)


def _choice(body: Mapping[str, Any], key: str, allowed: tuple[str, ...], default: str) -> str | None:
    value = body.get(key)
    if value is None or (value == "" and not isinstance(value, Unsure)):
        return default
    return value if value in allowed and not isinstance(value, Unsure) else None


def _seconds(body: Mapping[str, Any], key: str, default: float) -> float | None:
    if key not in body:
        return default
    if isinstance(body[key], Unsure):
        return None
    try:
        return parse_duration(body[key])
    except ValueError:
        return None


def _policy(deploy: Mapping[str, Any], key: str) -> Policy:
    body = _part(deploy, key)
    monitor = _seconds(body, "monitor", DEFAULT_MONITOR_SECONDS)
    return Policy(
        given=bool(body),
        order=_choice(body, "order", ("start-first", "stop-first"), "stop-first"),
        parallelism=_whole(body, "parallelism", 1),
        delay_seconds=_seconds(body, "delay", 0.0),
        monitor_seconds=DEFAULT_MONITOR_SECONDS if monitor == 0 else monitor,
        failure_action=_choice(body, "failure_action", ("pause", "continue", "rollback"), "pause"),
    )


def _restart(body: Mapping[str, Any], deploy: Mapping[str, Any]) -> Restart:
    """``deploy.restart_policy``, else what docker/cli makes of ``restart`` (``cli/compose/convert/service.go``)."""
    part = _part(deploy, "restart_policy")
    if not part and isinstance(body.get("restart"), str):
        name, _, attempts = body["restart"].partition(":")
        made = {"condition": "on-failure"} if name == "on-failure" else {}
        part = {**made, "max_attempts": attempts} if attempts else made
    return Restart(
        given=bool(part),
        condition=_choice(part, "condition", ("any", "on-failure", "none"), "any"),
        delay_seconds=_seconds(part, "delay", 5.0),
        max_attempts=_whole(part, "max_attempts", 0),
        window_seconds=_seconds(part, "window", 0.0),
    )


def _health(body: Mapping[str, Any]) -> tuple[Health | None, bool]:
    if not isinstance(body.get("healthcheck"), dict):
        return None, False
    part = _part(body, "healthcheck")
    test = part.get("test")
    words = ("CMD-SHELL", test) if isinstance(test, str) else tuple(test) if isinstance(test, list) else ()
    if part.get("disable") in (True, "true") or words[:1] == ("NONE",):
        return None, True
    return Health(
        test=tuple(word if isinstance(word, str) else str(word) for word in words),
        interval_seconds=_seconds(part, "interval", 30.0),
        timeout_seconds=_seconds(part, "timeout", 30.0),
        retries=_whole(part, "retries", 3),
        start_period_seconds=_seconds(part, "start_period", 0.0),
    ), False


def _words(value: object, target: Target) -> tuple[str, ...] | None:
    """Docker splits a text as a shell would, but starts no shell."""
    if isinstance(value, list):
        return tuple(word if isinstance(word, str) else as_text(word) for word in value)
    if not isinstance(value, str):
        return None
    try:
        return tuple(split(value, comments=target is Target.SWARM))
    except ValueError:
        return (value,)


def _environment(value: object) -> Mapping[str, str | None]:
    if isinstance(value, dict):
        return {str(key): _text(item) for key, item in value.items()}
    found: dict[str, str | None] = {}
    for item in value if isinstance(value, list) else ():
        name, given, text = str(item).partition("=")
        found[name] = text if given else None
    return found


def _mounts(value: object) -> Iterator[Mount]:
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict):
            kind, read_only = _text(item.get("type")) or "volume", item.get("read_only") in (True, "true")
            yield Mount(kind, _text(item.get("source")) or "", _text(item.get("target")) or "", read_only)
        elif isinstance(item, str):
            yield _short_mount(item)


def _short_mount(text: str) -> Mount:
    found = short_mount(text)
    if found is None:
        return Mount("volume", "", text, read_only=False)
    return Mount(found.kind, found.source, found.target, read_only="ro" in found.options)


def _ports(value: object) -> Iterator[Port]:
    """Of a range on the outside of one port Swarm publishes all; Compose has those to take one from."""
    for item in value if isinstance(value, list) else ():
        if isinstance(item, Unsure):
            continue
        try:
            yield from ports_of(item)
        except ValueError:
            continue
