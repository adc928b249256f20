"""What Docker's own schemas say of a file: every error, each with its path.

The schemas are those that Docker validates with (``NOTICE`` says where they're from). Docker tells the first error
only, and of several ways of writing the one that it thinks nearest; here a person gets them all, in words.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import jsonschema_rs

from swarmtest.lint.schema.wording import TWICE, described
from swarmtest.stack.syntax.building import Path_
from swarmtest.stack.syntax.durations import parse_duration
from swarmtest.stack.syntax.interpolation import Unsure
from swarmtest.stack.syntax.scalars import as_text

LATEST = "3.13"
VERSIONS = tuple(f"3.{minor}" for minor in range(14))
COMPOSE = "compose"
_SAID_ONCE = frozenset(
    ("aliases", "annotations", "args", "additional_contexts", "cap_add", "cap_drop", "configs", "devices", "dns")
).union(
    ("dns_opt", "dns_search", "env_file", "environment", "expose", "labels", "link_local_ips", "links", "ports"),
    ("profiles", "secrets", "sysctls", "tags", "tmpfs", "volumes"),
)
"""Lists of which Compose keeps the last of what's there twice, before it asks its schema (``override/uncity.go``)."""
_NEVER_A_TEXT = frozenset(("mapping", "list", "null"))


@dataclass(frozen=True, slots=True)
class SchemaError:
    """One thing that a schema refuses.

    Attributes:
        path: of the value; of a key that isn't allowed the path of that key.
        problem: what's wrong with it, to be read after its name: ``must be a list, not the string "a"``.
        unknown: whether the key itself isn't allowed.
        known: the keys that are, where that's so.
        wanted: the types or the format that would be in order.
    """

    path: Path_
    problem: str
    unknown: bool = False
    known: tuple[str, ...] = ()
    wanted: tuple[str, ...] = ()


def version_of(tree: Mapping[str, Any]) -> str:
    """The version that docker/cli takes a file for: none and ``3`` are the latest, and 3.10 without quotes is 3.1."""
    written = as_text(tree["version"]) if tree.get("version") is not None else ""
    if "version" in tree and tree["version"] is None:
        written = "<nil>"
    return LATEST if written in ("", "3") else written


def errors_in(tree: Mapping[str, Any], schema: str) -> tuple[SchemaError, ...]:
    """What a schema refuses in a file.

    Arguments:
        schema: one of :data:`VERSIONS`, or :data:`COMPOSE`.
    """
    try:
        found = list(_validator(schema).iter_errors(tree))
    except ValueError:  # it takes plain JSON only: no text that's more than a text, no infinite number
        found = list(_validator(schema).iter_errors(_plain(tree)))
    errors = [SchemaError(*each) for error in found for each in described(error, _definition(schema))]
    if schema == COMPOSE:
        errors = [each for each in errors if each.problem != TWICE or each.path[-1] not in _SAID_ONCE]
    return tuple(error for error in errors if not isinstance(_at(tree, error.path), Unsure) or _whatever_it_is(error))


def _whatever_it_is(error: SchemaError) -> bool:
    """Whether it stands for any text that a variable may have."""
    return error.unknown or (bool(error.wanted) and not set(error.wanted) - _NEVER_A_TEXT)


@cache
def _definition(schema: str) -> dict[str, Any]:
    name = "compose-spec.json" if schema == COMPOSE else f"config_schema_v{schema}.json"
    found: dict[str, Any] = json.loads(files(__name__).joinpath(name).read_bytes())
    return found


@cache
def _validator(schema: str) -> Any:
    if schema == COMPOSE:
        return jsonschema_rs.Draft202012Validator(_definition(schema))
    # of draft 4, but docker/cli's validator takes 3.0 for a whole number, as later drafts do
    newer = {key: value for key, value in _definition(schema).items() if key not in ("$schema", "id")}
    return jsonschema_rs.Draft6Validator(newer, formats={"duration": _is_duration}, validate_formats=True)


def _is_duration(text: str) -> bool:
    try:
        parse_duration(text)
    except ValueError:
        return False
    return True


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, str):
        return str.__str__(value)
    return 0.5 if isinstance(value, float) and not math.isfinite(value) else value


def _at(value: Any, path: Path_) -> Any:
    """What's at a path. What only the deployment will know is an :class:`Unsure`."""
    for part in path:
        if isinstance(value, list):
            value = value[int(part)] if part.isdigit() and int(part) < len(value) else None
        else:
            value = value.get(part) if isinstance(value, dict) else None
    return value
