"""The words of several processes of one client as one: counts are added up, of loads and delays the worst counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from typing import Any

WORST = frozenset(
    ("t", "cpu_share", "cpu_share_max", "late_ms_p99", "late_ms_max", "machine_share", "processors")
)  # fmt: skip
"""Fields of which the largest value counts."""


def together(words: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """All words of one sort as one; a field that one of them lacks is that of the others."""
    return reduce(lambda one, other: {**one, **_joined(one, other)}, words, {})


def _joined(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value if one.get(name) is None else _value(name, one[name], value) for name, value in other.items()}


def _value(name: str, one: Any, other: Any) -> Any:
    match one, other:
        case (_, None):
            return one
        case (bool(), bool()):
            return one and other
        case (int() | float(), int() | float()):
            return max(one, other) if name in WORST else one + other
        case (list(), list()):
            return [*one, *other]
        case (Mapping(), Mapping()):
            return {**one, **_joined(one, other)}
        case _:
            return one
