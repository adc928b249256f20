"""A schema's errors in words; of several ways of writing a value, the one that the value is nearest to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_KINDS = {"object": "mapping", "array": "list"}
_LONGEST = 40
TWICE = "has an item twice"

Described = tuple[tuple[str, ...], str, bool, tuple[str, ...], tuple[str, ...]]


def described(error: Any, schema: Mapping[str, Any]) -> list[Described]:
    """Of each problem: path, problem, whether the key isn't allowed, the keys that are, what would be in order."""
    error, kinds = _nearest(error)
    if error.kind.name in ("additionalProperties", "unevaluatedProperties"):
        path = tuple(str(part) for part in error.instance_path)
        known = _known(error, schema)
        strange = [key for key in error.kind.as_dict()["unexpected"] if key not in known]
        return [((*path, key), "isn't a key that's known here", True, known, ()) for key in strange]
    return [_described(error, kinds)]


def _described(error: Any, kinds: tuple[str, ...]) -> Described:
    path = tuple(str(part) for part in error.instance_path)
    kind = error.kind.as_dict()
    match error.kind.name:
        case "type":
            kinds = kinds or _types(kind.get("types") or error.kind.value)
            return path, f"must be {_either(kinds)}, not {shown(error.instance)}", False, (), kinds
        case "format":
            return (
                path,
                f'must be a {kind["format"]} such as "30s" or "1m30s", not {shown(error.instance)}',
                *_NO,
                (kind["format"],),
            )
        case "enum" | "const":
            options = tuple(str(option) for option in kind.get("options") or [kind.get("expected_value")])
            return path, f"must be one of {', '.join(options)}, not {shown(error.instance)}", *_NO, options
        case "required":
            return path, f"lacks the key {_unquoted(kind.get('property'))}", *_NO, ()
        case "uniqueItems":
            return path, TWICE, *_NO, ()
        case "pattern":
            return path, f"has a form that isn't allowed: {shown(error.instance)}", *_NO, ()
        case "oneOf":
            return path, f"fits several ways of writing at once: {shown(error.instance)}", *_NO, ()
        case _:
            return path, f"isn't allowed: {_cut(error.message)}", *_NO, ()


_NO: tuple[bool, tuple[str, ...]] = (False, ())


def _nearest(error: Any) -> tuple[Any, tuple[str, ...]]:
    """The error that tells most: of the way of writing that gets furthest into the value, else of all their types."""
    kinds: tuple[str, ...] = ()
    while contexts := getattr(error.kind, "context", None):
        if type(error.kind).__name__ == "OneOfMultipleValid":
            break
        flat = [each for context in contexts for each in context]
        typed = [each for each in flat if each.kind.name == "type" and each.instance_path == error.instance_path]
        inner = [each for each in flat if each not in typed]
        if not inner:
            kinds = tuple(dict.fromkeys(kind for each in typed for kind in _types(each.kind.as_dict().get("types"))))
            return typed[0], kinds
        error = max(inner, key=lambda each: len(each.instance_path))
    return error, kinds


def _types(value: Any) -> tuple[str, ...]:
    found = [value] if isinstance(value, str) else list(value or ())
    return tuple(_KINDS.get(str(each), str(each)) for each in found)


def _known(error: Any, schema: Mapping[str, Any]) -> tuple[str, ...]:
    part: Any = schema
    for step in error.schema_path[:-1]:
        part = part.get(step, {}) if isinstance(part, dict) else part[step] if isinstance(part, list) else {}
    return tuple(_properties(part, schema))


def _properties(part: Any, schema: Mapping[str, Any]) -> dict[str, None]:
    """The keys that a part of a schema knows, with those of the parts that it's put together from."""
    if not isinstance(part, dict):
        return {}
    if isinstance(reference := part.get("$ref"), str):
        kind, _, name = reference.removeprefix("#/").partition("/")
        return _properties(schema.get(kind, {}).get(name), schema)
    found = dict.fromkeys(part.get("properties") or ())
    for each in part.get("allOf") or ():
        found |= _properties(each, schema)
    return found


def _either(kinds: tuple[str, ...]) -> str:
    named = [f"an {kind}" if kind[:1] in "aeio" else kind if kind == "null" else f"a {kind}" for kind in kinds]
    return " or ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)


def shown(value: Any) -> str:
    """A value as a person would find it in the file, with its kind."""
    match value:
        case None:
            return "null (nothing is written there)"
        case bool():
            return f"the boolean {str(value).lower()}"
        case str():
            return f"the string {_cut(json.dumps(value, ensure_ascii=False))}"
        case int() | float():
            return f"the number {value}"
        case list():
            return "a list"
        case _:
            return "a mapping"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def _unquoted(value: object) -> str:
    return str(value).strip("\"'")
