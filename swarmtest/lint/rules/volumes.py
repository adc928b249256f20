"""Two processes on one writable volume: what start-first and several replicas make of a database."""

from __future__ import annotations

import re
from collections.abc import Iterator

from swarmtest.lint import Certainty, Edit, Finding, Severity
from swarmtest.lint.document import Unsure
from swarmtest.lint.programs.writers import data_folders, own_data, shared_volumes, shares_well
from swarmtest.lint.rolling import start_first
from swarmtest.lint.rules import Rule, Stack
from swarmtest.lint.services import LintService

_ORDER = ("deploy", "update_config", "order")


def _start_first_single_writer(stack: Stack) -> Iterator[Finding]:
    """Dokploy/dokploy #4550, psviderski/uncloud #151, baserow/baserow #1618, docker-library/postgres #171."""
    for service in stack.services:
        if not start_first(service):
            continue
        mount = next(own_data(service), None)
        if mount is not None:
            yield Finding(
                rule="start-first-single-writer",
                severity=Severity.ERROR,
                certainty=Certainty.LIKELY,
                place=service.place(*_ORDER),
                effect=f"the new {service.image.name} opens {mount.source} at {mount.target} while the old one still"
                " writes there: it fails at the lock and the update with it, or the two damage the data",
                fix="write order: stop-first; a short gap can't be avoided then, so update it apart from its clients",
                edit=Edit(("services", service.name, *_ORDER), "stop-first"),
            )
        elif (base := _sqlite(service)) is not None and next(shared_volumes(service), None):
            yield Finding(
                rule="start-first-single-writer",
                severity=Severity.ERROR,
                certainty=Certainty.LIKELY,
                place=service.place(*_ORDER),
                effect=f"{base} is SQLite on a volume: while old and new run side by side two processes write one file;"
                " one waits for the other's lock and gives up, and a migration runs under the old version",
                fix="write order: stop-first, with the short gap that it has; or move to a database server",
            )


def _start_first_shared_volume(stack: Stack) -> Iterator[Finding]:
    for service in stack.services:
        if not start_first(service) or data_folders(service.image) is not None or shares_well(service.image):
            continue
        mount = next(shared_volumes(service), None)
        if mount is None or _sqlite(service) is not None:
            continue
        yield Finding(
            rule="start-first-shared-volume",
            severity=Severity.WARNING,
            certainty=Certainty.UNKNOWN,
            place=service.place(*_ORDER),
            effect=f"old and new run side by side with the volume {mount.source} at {mount.target}, which both may"
            " write; whether the app bears that can't be seen from here",
            fix="write order: stop-first, if one process has to have it alone; else mount it with :ro, or allow this"
            " with a reason",
        )


def _single_writer_replicated(stack: Stack) -> Iterator[Finding]:
    for service in stack.services:
        mount = next((each for each in own_data(service) if "{{" not in each.source), None)
        if mount is None or service.mode != "replicated" or not service.replicas or service.replicas < 2:
            continue
        what = f"{service.replicas} instances of {service.image.name} write to the volume {mount.source}"
        effect = f"{what} together: all but the first fail at its lock, or they damage the data"
        if service.swarm:
            effect = (
                f"{what} together where they meet on a node, and each other node has one of that name with other data"
            )
        yield Finding(
            rule="single-writer-replicated",
            severity=Severity.WARNING,
            certainty=Certainty.LIKELY,
            place=service.place("deploy", "replicas"),
            effect=effect,
            fix="write replicas: 1; or a service for each member of a cluster of it, each with its own volume",
        )


def _sqlite(service: LintService) -> str | None:
    """The variable that names a SQLite file."""
    for name, value in service.environment.items():
        text = (value or "").lower()
        named = text in ("sqlite", "sqlite3", "better-sqlite3") and ("DB" in name or "DATABASE" in name)
        if named or text.startswith(("sqlite:", "sqlite3:", "jdbc:sqlite:")):
            return name
    return None


_DRIVE = re.compile(r"[A-Za-z]:[/\\\\]")


def _target_relative(stack: Stack) -> Iterator[Finding]:
    """moby ``volume/mounts/linux_parser.go``; docker/cli ``loader/volume.go`` reads one letter as a drive."""
    for service in stack.services:
        written = service.value("volumes")
        items = [(k, item) for k, item in enumerate(written if isinstance(written, list) else ()) if _is_mount(item)]
        for (number, item), mount in zip(items, service.mounts, strict=True):
            target, drive = mount.target, _DRIVE.match(mount.target) is not None
            if isinstance(item.get("target") if isinstance(item, dict) else item, Unsure):
                continue
            if not target or target[0] == "/" or "{{" in target or (mount.source if drive else ":" in target):
                continue
            read = f" (one letter before a colon is read as a drive of Windows: {target[0]} is no volume here)" * drive
            yield Finding(
                rule="mount-target-relative",
                severity=Severity.ERROR,
                certainty=Certainty.LIKELY if drive else Certainty.CERTAIN,
                place=service.place("volumes", str(number)),
                effect=f"{target} is no absolute path{read}: the engine refuses"
                f" {'each task, one after another, and the service never runs' if service.swarm else 'the container'}",
                fix="give the volume a name of two letters or more" if drive else f"write the target as /{target}",
            )


def _is_mount(item: object) -> bool:
    return isinstance(item, (dict, str))


RULES = (
    Rule("mount-target-relative", "a mount whose place in the container is no absolute path", _target_relative),
    Rule(
        "start-first-single-writer",
        "start-first for a database or the like: two processes on one data folder",
        _start_first_single_writer,
    ),
    Rule(
        "start-first-shared-volume",
        "start-first beside a writable volume of an app that isn't known",
        _start_first_shared_volume,
    ),
    Rule("single-writer-replicated", "several replicas of what writes its data alone", _single_writer_replicated),
)
