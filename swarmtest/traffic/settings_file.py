"""The file that the child's settings are in: written for it alone, read once, and masked when it has gone.

Used on both sides of the pipe, so it imports nothing but msgspec.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from swarmtest.traffic.settings import TrafficSettings, problems_of

MASKED = "(not kept)"
"""What stands for a header's value in a run's folder."""


def masked(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers for a file that other people see: their names, and no values, as one may be a password."""
    return dict.fromkeys(headers, MASKED)


def mask_settings(settings: TrafficSettings, path: Path) -> None:
    """Writes the settings once more, without what only the child needed to know."""
    kinds = [msgspec.structs.replace(kind, headers=masked(kind.headers)) for kind in settings.kinds]
    write_settings(msgspec.structs.replace(settings, kinds=kinds), path)


def read_settings(path: Path) -> TrafficSettings:
    """The settings in ``path``; raises ``ValueError`` that names every problem."""
    settings = msgspec.json.decode(path.read_bytes(), type=TrafficSettings)
    if found := problems_of(settings):
        raise ValueError("; ".join(found))
    return settings


def write_settings(settings: TrafficSettings, path: Path) -> None:
    """Writes what :func:`read_settings` reads, for its owner alone; raises ``ValueError`` before it writes nonsense."""
    if found := problems_of(settings):
        raise ValueError("; ".join(found))
    path.touch(mode=0o600)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(settings), indent=1) + b"\n")
