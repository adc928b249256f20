"""What the traffic clients say of themselves: one, or two where a burst had a child of its own.

Their counts are added up, since the records of both are judged as one; of loads and delays the worse
one counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from swarmtest.events import Event

WORST = (
    "t", "cpu_share", "cpu_share_max", "late_ms_p99", "late_ms_max", "machine_share", "machine_share_max", "processors",
)  # fmt: skip
"""Fields of which the larger value counts."""

FROM_ALL = ("calibrated", "stopped")
"""Words that are missing while one client hasn't said them."""


def read_client(events: Iterable[Event]) -> dict[str, dict[str, Any]]:
    """The last word of each sort; of what must be known of every client only where each said it."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    clients: set[str] = set()
    for event in events:
        if event.kind == "traffic":
            client = str(event.get("client") or "")
            clients.add(client)
            found.setdefault(str(event.get("event")), {})[client] = {"t": event.t, **event.data}
    return {
        name: _together(list(words.values()))
        for name, words in found.items()
        if name not in FROM_ALL or words.keys() == clients
    }


def _together(words: list[Mapping[str, Any]]) -> dict[str, Any]:
    whole = dict(words[0])
    for word in words[1:]:
        for name, value in word.items():
            whole[name] = _joined(name, whole[name], value) if whole.get(name) is not None else value
    return whole


def _joined(name: str, one: Any, other: Any) -> Any:
    """Two clients' values of a field as one."""
    if isinstance(one, bool) or isinstance(other, bool):
        return bool(one and other)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        both = dict(one)
        for key, value in other.items():
            both[key] = _joined(key, both[key], value) if both.get(key) is not None else value
        return both
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return max(one, other) if name in WORST else one + other
    return one
