"""Log lines as they were meant: a field of a type that the format hasn't got counts as missing.

They are written by other people's programs. Whatever stands in them, it's no reason for judging to break
off, and a number that's written as text is still a number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from swarmtest.events import Event

_LARGEST = 1e15
"""A time or a duration beyond this is none."""


def sound(event: Event) -> Event:
    """The event with each field of a log line as its type says, or null."""
    readers = _FIELDS.get(event.kind)
    if readers is None:
        return event
    data = dict(event.data)
    data.pop("node", None)  # what a program calls its node isn't Swarm's name of it
    data.update({name: read(data[name]) for name, read in readers.items() if name in data})
    return Event(event.t, event.kind, data)


def _text(value: object) -> str | None:
    if type(value) is str:
        return value
    return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else None


def _whole(value: object) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63 else None


def _number(value: object) -> float | None:
    """A number; the last one of a list such as ``0.004, 0.010``, which nginx writes for each of its tries."""
    if isinstance(value, str):
        try:
            value = float(value.replace(":", ",").rsplit(",", 1)[-1])
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if abs(value) < _LARGEST else None


def _yes_or_no(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _texts(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


_FIELDS: dict[str, dict[str, Callable[[object], Any]]] = {
    "record": {"event": _text, "request_id": _text, "instance": _text, "seq": _whole, "status": _whole},
    "proxied": {
        "request_id": _text,
        "server": _text,
        "connected": _yes_or_no,
        "status": _whole,
        "termination": _text,
        "duration_ms": _number,
        "duration_s": _number,
    },
    "names": {"since": _number, "name": _text, "addresses": _texts},
}
