"""Words and numbers that the rules share."""

from __future__ import annotations

from collections.abc import Iterable


def seconds(value: float) -> str:
    """A time as one writes it: ``10 s``, ``1.6 s``, ``0.5 s``, and from ten minutes on ``10 min``, ``3 h``."""
    if value == float("inf"):
        return "any time"
    for size, unit in ((3600, "h"), (60, "min")):
        if value >= 600 and value % size == 0:
            return f"{value / size:g} {unit}"
    return f"{value:g} s"


def listed(words: Iterable[str], most: int = 5) -> str:
    """Some names in a row: ``a, b and c``; of many the first few, and how many more there are."""
    names = list(words)
    if len(names) > most + 1:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else ""


def shortened(text: str, most: int = 60) -> str:
    """A command as it can stand in a sentence."""
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[: most - 1]}…"
