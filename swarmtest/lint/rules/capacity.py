"""Room for one task more: start-first needs it, and the scheduler waits for it without end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil
from typing import Any

from swarmtest.lint import Certainty, Finding, Severity
from swarmtest.lint.document import Unsure
from swarmtest.lint.rolling import at_once, instances, one_node, start_first
from swarmtest.lint.rules import Rule, Stack
from swarmtest.lint.services import LintService
from swarmtest.stack.reader import whole_number

_UNITS = {"": 1, "b": 1, "k": 2**10, "kb": 2**10, "m": 2**20, "mb": 2**20, "g": 2**30, "gb": 2**30, "t": 2**40}
_LARGE_CPUS, _LARGE_BYTES = 1.0, 2**30
_LEAST_CPUS, _LEAST_BYTES = 0.001, 4 * 2**20


def nodes_needed(service: LintService) -> int | None:
    """How many nodes must be free to take it, for its update to end; None where there's no such limit.

    moby/moby #40797: eligible nodes x limit per node >= replicas + parallelism.
    """
    count, batch, limit = instances(service), at_once(service, service.update), service.max_replicas_per_node
    if not start_first(service) or not count or batch is None or not limit:
        return None
    return ceil((count + batch) / limit)


def _no_spare_slot(stack: Stack) -> Iterator[Finding]:
    """The scheduler counts nodes that are active; drained and paused ones don't."""
    for service in stack.services:
        needed, count, batch = nodes_needed(service), instances(service), at_once(service, service.update)
        if needed is None or needed == 1 or count is None or batch is None:
            continue
        pinned = one_node(service)
        limit = service.max_replicas_per_node
        yield Finding(
            rule="no-spare-slot",
            severity=Severity.ERROR if pinned else Severity.WARNING,
            certainty=Certainty.CERTAIN if pinned else Certainty.UNKNOWN,
            place=service.place("deploy", "placement", "max_replicas_per_node"),
            effect=f"start-first needs eligible nodes x {limit} >= {count} replicas + {batch} = {count + batch}, so"
            f" {needed} active nodes{', and ' + pinned + ' leaves one' if pinned else ''}; with fewer the new task"
            " stays pending, and the update never ends",
            fix=f"see that {needed} active nodes may take it; or write max_replicas_per_node:"
            f" {(limit or 1) + 1}, or order: stop-first",
        )


def _no_spare_resources(stack: Stack) -> Iterator[Finding]:
    """Generic resources, such as graphics processors, are few; of others only large ones are told."""
    for service in stack.services:
        reserved = service.value("deploy", "resources", "reservations")
        if not start_first(service) or not isinstance(reserved, Mapping):
            continue
        rare, large = _generic(reserved), _large(reserved)
        if not rare and not large:
            continue
        count, batch, pinned = instances(service), at_once(service, service.update), one_node(service)
        total = "two on each node" if count is None or batch is None else f"{count + batch} at a time"
        yield Finding(
            rule="no-spare-resources",
            severity=Severity.WARNING if rare or pinned else Severity.INFO,
            certainty=Certainty.UNKNOWN,
            place=service.place("deploy", "resources", "reservations"),
            effect=f"start-first needs room for {total}, each with {' and '.join((*rare, *large))} reserved"
            f"{', on the one node of ' + pinned if pinned else ''}; without room the new task stays pending, and the"
            " update never ends",
            fix="compare with what the nodes have left (docker node inspect, docker node ps); or reserve less, or write"
            " order: stop-first",
        )


def _resources_too_small(stack: Stack) -> Iterator[Finding]:
    """swarmkit ``manager/controlapi/service.go``, ``validateResources``; a number without a unit is bytes."""
    for service in stack.services:
        for kind in ("limits", "reservations") if service.swarm else ():
            part = service.value("deploy", "resources", kind)
            if not isinstance(part, Mapping):
                continue
            memory, cpus = memory_bytes(part.get("memory")), _decimal(part.get("cpus"))
            taken = isinstance(part.get("memory"), str)  # the CLI refuses a plain number
            if taken and memory is not None and 0 < memory < _LEAST_BYTES:
                effect = f"the engine refuses {memory} bytes of memory: 4 MB is the least"
                yield _too_small(service, kind, "memory", effect, f"write a unit, such as {part['memory']}M")
            if cpus is not None and 0 < cpus < _LEAST_CPUS:
                effect = f"the engine refuses {cpus:g} CPUs: 0.001 is the least"
                yield _too_small(service, kind, "cpus", effect, "write 0.001 or more")


def _too_small(service: LintService, kind: str, key: str, effect: str, fix: str) -> Finding:
    place = service.place("deploy", "resources", kind, key)
    return Finding("resources-too-small", Severity.ERROR, Certainty.CERTAIN, place, effect, fix)


def _generic(reserved: Mapping[str, Any]) -> list[str]:
    found = []
    resources = reserved.get("generic_resources")
    for each in resources if isinstance(resources, list) else ():
        body = each.get("discrete_resource_spec") if isinstance(each, Mapping) else None
        if isinstance(body, Mapping):
            found.append(f"{body.get('value', 1)} {body.get('kind', 'resource')}")
    return found


def _large(reserved: Mapping[str, Any]) -> list[str]:
    cpus, memory = _decimal(reserved.get("cpus")), memory_bytes(reserved.get("memory"))
    found = [f"{cpus:g} CPUs"] if cpus and cpus >= _LARGE_CPUS else []
    return [*found, f"{reserved['memory']} of memory"] if memory and memory >= _LARGE_BYTES else found


def _decimal(value: object) -> float | None:
    try:
        return None if value is None or isinstance(value, (bool, Unsure)) else float(str(value))
    except ValueError:
        return None


def memory_bytes(value: object) -> int | None:
    """Bytes of ``512M`` or ``1.5gb``, as Docker counts them: in powers of two; None for what's none."""
    known = value is not None and not isinstance(value, Unsure)
    text = str(value).strip().lower().removesuffix("ib") if known else ""
    number = text.rstrip("bkmgt")
    unit = _UNITS.get(text[len(number) :].strip())
    if unit is None or not number.strip():
        return None
    whole = whole_number(number.strip())
    parsed = float(whole) if whole is not None else _decimal(number.strip())
    return int(parsed * unit) if parsed is not None else None


RULES = (
    Rule("no-spare-slot", "start-first beside max_replicas_per_node: a slot more is needed", _no_spare_slot),
    Rule(
        "no-spare-resources", "start-first beside large reservations: room for one more is needed", _no_spare_resources
    ),
    Rule("resources-too-small", "less memory or processor than the engine takes: refused", _resources_too_small),
)
